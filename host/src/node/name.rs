//! The names callers give: checked once, here; everything that becomes a path, a target name or a parameter of tgt is one of
//! these types. A value of such a type holds no separator, no space, no control or shell character, and cannot climb out of a
//! folder.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::refusal::{Refusal, Result};

/// The id of a volume or a snapshot: 1 to 64 of `[A-Za-z0-9_.-]`, not beginning with `.` or `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId(String);

/// An iSCSI name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Initiator(String);

/// A file's name in the import folder: an id of up to 128 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ImportName(String);

fn plain(text: &str, longest: usize) -> bool {
    let bytes = text.as_bytes();
    (1..=longest).contains(&bytes.len())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
        && !matches!(bytes.first(), Some(b'.' | b'-'))
}

/// The start of a text from outside, fit for a message: short, and without control characters.
pub fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if text.chars().nth(40).is_some() {
        short.push_str("...");
    }
    short
}

/// A message that may hold text from outside, on one line of a log.
pub fn one_line(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut line = String::new();
    for c in text.chars().take(400) {
        if breaks(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// `length` hexadecimal digits that stand for a text.
pub fn digest(text: &str, length: usize) -> String {
    let mut digits = hex::encode(Sha256::digest(text.as_bytes()));
    digits.truncate(length);
    digits
}

impl ObjectId {
    /// # Errors
    /// `invalid`.
    pub fn parse(text: &str) -> Result<Self> {
        if plain(text, 64) {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal::invalid(format!("an id is 1 to 64 of [A-Za-z0-9_.-] and begins with none of .-: {}", shown(text))))
    }

    /// As it appears in a target's name, where only `[a-z0-9.-]` can stand: itself, or a digest of itself.
    pub fn in_target_name(&self) -> String {
        let itself = self.0.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'));
        if itself { self.0.clone() } else { format!("x.{}", digest(&self.0, 32)) }
    }

    /// 32 hexadecimal digits: the SCSI serial number of the volume. A UUID as it is usually written is its
    /// own; other ways to write it are other ids.
    pub fn serial(&self) -> String {
        let uuid = uuid::Uuid::try_parse(&self.0).ok().filter(|u| u.hyphenated().to_string() == self.0);
        uuid.map_or_else(|| digest(&self.0, 32), |u| u.simple().to_string())
    }
}

impl Initiator {
    /// # Errors
    /// `invalid`.
    pub fn parse(text: &str) -> Result<Self> {
        let kind = ["iqn.", "eui.", "naa."].iter().any(|p| text.len() > p.len() && text.starts_with(p));
        let rest = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'_' | b'-'));
        if kind && rest && text.len() <= 223 {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal::invalid(format!(
            "an initiator is an iSCSI name (iqn., eui. or naa., then [A-Za-z0-9.:_-], at most 223 bytes): {}",
            shown(text)
        )))
    }
}

impl ImportName {
    /// # Errors
    /// `invalid`.
    pub fn parse(text: &str) -> Result<Self> {
        if plain(text, 128) {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal::invalid(format!("an import file's name is 1 to 128 of [A-Za-z0-9_.-] and begins with none of .-: {}", shown(text))))
    }

    /// Under which name a released volume's data lies.
    pub fn of_released(id: &ObjectId) -> Self {
        Self(format!("{id}.raw"))
    }
}

macro_rules! text_type {
    ($name:ident) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
        impl TryFrom<String> for $name {
            type Error = Refusal;
            fn try_from(text: String) -> Result<Self> {
                Self::parse(&text)
            }
        }
    };
}
text_type!(ObjectId);
text_type!(Initiator);
text_type!(ImportName);

/// How volumes reach their initiators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A target holds one volume.
    #[default]
    TargetPerVolume,
    /// A target holds all volumes attached to one initiator.
    TargetPerInitiator,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Rw,
    Ro,
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: [&str; 17] = [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        "a\nb",
        "a\0b",
        "a b",
        "$(id)",
        "a;b",
        "a,path=b",
        "-rf",
        ".hidden",
        "a=b",
        "ä",
        "a%2fb",
    ];

    #[test]
    fn an_id_is_refused_when_it_could_be_more_than_a_name() {
        for text in HOSTILE.into_iter().chain([&*"a".repeat(65)]) {
            assert!(ObjectId::parse(text).is_err(), "{text:?}");
            assert!(serde_json::from_value::<ObjectId>(text.into()).is_err(), "{text:?}");
        }
        for text in ["7a3e8f7e-3f0e-4d55-9d5c-1f8a54a0c1b2", "v1", "A_b.c-d", &"a".repeat(64)] {
            assert_eq!(ObjectId::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn an_initiator_is_an_iscsi_name() {
        for text in
            HOSTILE.into_iter().chain(["iqn.", "iqn.a/b", "iqn.a b", "ALL", "10.0.0.1", "iqn.a,b", &format!("iqn.{}", "a".repeat(220))])
        {
            assert!(Initiator::parse(text).is_err(), "{text:?}");
        }
        for text in ["iqn.2004-10.com.example:host-a", "eui.02004567A425678D", "naa.52004567BA64678D"] {
            assert!(Initiator::parse(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn an_import_name_is_one_folder_entry() {
        for text in HOSTILE {
            assert!(ImportName::parse(text).is_err(), "{text:?}");
        }
        assert!(ImportName::parse("disk-1.raw").is_ok());
    }

    #[test]
    fn two_ids_never_share_a_target_name_or_a_serial() {
        let uuid = "7a3e8f7e-3f0e-4d55-9d5c-1f8a54a0c1b2";
        let (upper, bare) = (uuid.to_uppercase(), uuid.replace('-', ""));
        let ids = ["a_b", "a.b", "a-b", "A-b", "A_b", uuid, &upper, &bare].map(|t| ObjectId::parse(t).unwrap());
        let unique = |f: fn(&ObjectId) -> String| ids.iter().map(f).collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!(unique(ObjectId::in_target_name), ids.len());
        assert_eq!(unique(ObjectId::serial), ids.len());
        assert_eq!(ObjectId::parse(uuid).unwrap().serial(), bare);
    }

    #[test]
    fn a_message_shows_no_control_characters_and_not_much() {
        assert_eq!(shown("a\nb"), "a\\nb");
        assert_eq!(one_line("`a\nb\u{1b}[2J\u{2028}` \"ä\""), "`a\\nb\\u{1b}[2J\\u{2028}` \"ä\"");
        assert_eq!(one_line(&"x".repeat(500)).len(), 400);
        assert_eq!(shown(&"x".repeat(500)).len(), 43);
    }
}
