//! Names on their way into a path or a query. What the node would not take as a name is refused here, so that no id can
//! leave its place in a path (`..`, `/`, `?`).

use stowage_driver_sdk::prelude::*;

/// The node's rule for ids: 1 to 64 of `[A-Za-z0-9_.-]`, not beginning with `.` or `-`. Import files may have 128.
pub fn is_id(text: &str, longest: usize) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !text.is_empty() && text.len() <= longest && !text.starts_with(['.', '-']) && text.chars().all(plain)
}

fn id<'t>(what: &str, text: &'t str) -> Result<&'t str> {
    if is_id(text, 64) { Ok(text) } else { Err(DriverError::invalid(format!("{text:?} cannot be a {what}'s id on a node"))) }
}

pub fn volume(text: &str) -> Result<String> {
    Ok(format!("/v1/volumes/{}", id("volume", text)?))
}

pub fn snapshot(text: &str) -> Result<String> {
    Ok(format!("/v1/snapshots/{}", id("snapshot", text)?))
}

pub fn attachments(of: &str) -> Result<String> {
    Ok(format!("{}/attachments", volume(of)?))
}

/// `initiator` has passed [`initiator`].
pub fn attachment(of: &str, initiator: &str) -> Result<String> {
    Ok(format!("{}/{initiator}", attachments(of)?))
}

pub fn import(name: &str) -> Result<String> {
    if is_id(name, 128) {
        return Ok(format!("/v1/import/{name}"));
    }
    Err(DriverError::invalid(format!("{name:?} cannot be the name of an import file")).for_user("No such volume in the storage."))
}

/// An iSCSI name as the node takes it.
pub fn initiator(name: &str) -> Result<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ':' | '_' | '-');
    let kind = ["iqn.", "eui.", "naa."].iter().any(|k| name.len() > k.len() && name.starts_with(k));
    if kind && name.len() <= 223 && name.chars().all(plain) {
        return Ok(name);
    }
    let why =
        format!("the connector's `initiator` is {name:?}, which is no iSCSI name (iqn., eui. or naa., at most 223 of [A-Za-z0-9.:_-])");
    Err(DriverError::invalid(why).for_user("The connector's initiator is not an iSCSI name."))
}

/// The beginning of a text, in whole characters.
pub fn shortened(text: &str, longest: usize) -> &str {
    let mut end = text.len().min(longest);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A value in a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
