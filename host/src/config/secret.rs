//! A secret, read from where the configuration says when it is loaded.
//!
//! Its value is in memory only: `Debug` and `Serialize` show where it came from, never what it is.

use std::{fmt, fs, path::PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `{ file = "/run/secrets/array" }`, `{ env = "ARRAY_PASSWORD" }`, or for trials `{ value = "..." }`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret {
    source: Source,
    value: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Source {
    #[default]
    None,
    File(PathBuf),
    Env(String),
    Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    file: Option<PathBuf>,
    #[serde(default)]
    env: Option<String>,
    #[serde(default)]
    value: Option<String>,
}

impl Secret {
    pub fn literal(value: impl Into<String>) -> Self {
        Self { source: Source::Value, value: value.into() }
    }
    /// The value. Goes into a request to a back end, and nowhere else.
    pub fn expose(&self) -> &str {
        &self.value
    }
    pub fn is_set(&self) -> bool {
        self.source != Source::None
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::None => f.write_str("Secret(none)"),
            Source::File(p) => write!(f, "Secret(file {})", p.display()),
            Source::Env(name) => write!(f, "Secret(env {name})"),
            Source::Value => f.write_str("Secret(***)"),
        }
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.source {
            Source::None => s.collect_map([("file", "")]),
            Source::File(p) => s.collect_map([("file", p)]),
            Source::Env(name) => s.collect_map([("env", name)]),
            Source::Value => s.collect_map([("value", "***")]),
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Form)
    }
}

const FORM: &str = "a secret is exactly one of { file = \"...\" }, { env = \"...\" } or { value = \"...\" }";

/// Takes a table only; the error for anything else must not repeat it.
struct Form;

impl<'de> de::Visitor<'de> for Form {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FORM)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Secret, E> {
        Err(E::custom(FORM))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Secret, A::Error> {
        resolve(Raw::deserialize(de::value::MapAccessDeserializer::new(map))?).map_err(de::Error::custom)
    }
}

fn resolve(raw: Raw) -> Result<Secret, String> {
    match raw {
        Raw { file: Some(p), env: None, value: None } if p.as_os_str().is_empty() => Ok(Secret::default()),
        Raw { file: Some(path), env: None, value: None } => {
            let text = fs::read_to_string(&path).map_err(|e| format!("the secret's file {} cannot be read: {e}", path.display()))?;
            Ok(Secret { value: text.trim_end_matches(['\r', '\n']).to_owned(), source: Source::File(path) })
        }
        Raw { file: None, env: Some(name), value: None } => {
            let value = std::env::var(&name).map_err(|_| format!("the secret's environment variable {name} is not set"))?;
            Ok(Secret { value, source: Source::Env(name) })
        }
        Raw { file: None, env: None, value: Some(value) } => Ok(Secret { value, source: Source::Value }),
        _ => Err(FORM.to_owned()),
    }
}
