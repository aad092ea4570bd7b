//! `config`: a back end's own options as its driver sees them, checked against what the driver described.
//!
//! A secret is seen by name only; its text needs the operator's `reveal_secrets`. A check finds every fault at once, and
//! each says which key it means and what to write instead.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::{Map, Value};

use super::secrets::Secrets;

/// A value as a driver reads it.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfigValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Texts(Vec<String>),
}

/// What kind of value an option takes.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionKind {
    Text,
    Secret,
    Integer { least: i64, most: i64 },
    Number,
    Boolean,
    Choice(Vec<String>),
    Url,
    Texts,
}

/// In words, for `stowage driver check`.
impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Secret => f.write_str("secret"),
            Self::Integer { least: i64::MIN, most: i64::MAX } => f.write_str("integer"),
            Self::Integer { least, most: i64::MAX } => write!(f, "integer, at least {least}"),
            Self::Integer { least: i64::MIN, most } => write!(f, "integer, at most {most}"),
            Self::Integer { least, most } => write!(f, "integer from {least} to {most}"),
            Self::Number => f.write_str("number"),
            Self::Boolean => f.write_str("true or false"),
            Self::Choice(of) => write!(f, "one of {}", of.join(", ")),
            Self::Url => f.write_str("URL"),
            Self::Texts => f.write_str("list of texts"),
        }
    }
}

/// One option as a driver describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionSpec {
    pub name: String,
    pub kind: OptionKind,
    pub required: bool,
    pub default: Option<String>,
    pub help: String,
}

/// Why a secret's text is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevealError {
    Unset,
    Denied,
}

/// The checked options of one back end.
#[derive(Debug, Clone)]
pub struct ConfigView {
    backend: String,
    values: BTreeMap<String, ConfigValue>,
    secrets: Arc<Secrets>,
    reveal: bool,
}

impl ConfigView {
    /// Nothing set: for calls that see no configuration.
    pub fn empty(backend: impl Into<String>) -> Self {
        Self { backend: backend.into(), values: BTreeMap::new(), secrets: Arc::default(), reveal: false }
    }

    /// Checks a back end's options.
    ///
    /// # Errors
    /// One sentence for each fault.
    pub fn check(
        backend: impl Into<String>,
        specs: &[OptionSpec],
        options: &Map<String, Value>,
        secrets: Arc<Secrets>,
        reveal: bool,
    ) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        let mut values = BTreeMap::new();
        for key in options.keys() {
            if !specs.iter().any(|s| &s.name == key) {
                let known: Vec<&str> = specs.iter().map(|s| s.name.as_str()).collect();
                faults.push(format!("unknown option `{key}`; the driver knows: {}", known.join(", ")));
            }
        }
        for spec in specs {
            match value_of(spec, options, &secrets) {
                Ok(Some(value)) => {
                    values.insert(spec.name.clone(), value);
                }
                Ok(None) => {}
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(Self { backend: backend.into(), values, secrets, reveal }) } else { Err(faults) }
    }

    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// None: not set and without default, or a secret.
    pub fn get(&self, name: &str) -> Option<&ConfigValue> {
        self.values.get(name)
    }

    /// A secret's text, where the operator granted it.
    ///
    /// # Errors
    /// [`RevealError`].
    pub fn reveal(&self, name: &str) -> Result<&str, RevealError> {
        let secret = self.secrets.get(name).ok_or(RevealError::Unset)?;
        if self.reveal { Ok(secret) } else { Err(RevealError::Denied) }
    }
}

fn value_of(spec: &OptionSpec, options: &Map<String, Value>, secrets: &Secrets) -> Result<Option<ConfigValue>, String> {
    let name = &spec.name;
    if spec.kind == OptionKind::Secret {
        if options.contains_key(name) {
            return Err(format!("`{name}` is a secret: write it under `secrets`, not under `options`"));
        }
        return if spec.required && !secrets.contains(name) {
            Err(format!("the secret `{name}` is required: {}", spec.help))
        } else {
            Ok(None)
        };
    }
    match (options.get(name), &spec.default) {
        (Some(value), _) => typed(spec, value).map(Some),
        (None, Some(text)) => parsed(spec, text).map(Some),
        (None, None) if spec.required => Err(format!("the option `{name}` is required: {}", spec.help)),
        (None, None) => Ok(None),
    }
}

fn typed(spec: &OptionSpec, value: &Value) -> Result<ConfigValue, String> {
    let found = match (&spec.kind, value) {
        (OptionKind::Text, Value::String(s)) => Some(ConfigValue::Text(s.clone())),
        (OptionKind::Integer { least, most }, Value::Number(n)) => {
            n.as_i64().filter(|n| (least..=most).contains(&n)).map(ConfigValue::Integer)
        }
        (OptionKind::Number, Value::Number(n)) => n.as_f64().map(ConfigValue::Number),
        (OptionKind::Boolean, Value::Bool(b)) => Some(ConfigValue::Boolean(*b)),
        (OptionKind::Choice(of), Value::String(s)) => of.contains(s).then(|| ConfigValue::Text(s.clone())),
        (OptionKind::Url, Value::String(s)) => is_base_url(s).then(|| ConfigValue::Text(s.clone())),
        (OptionKind::Texts, Value::Array(items)) => {
            items.iter().map(|i| i.as_str().map(str::to_owned)).collect::<Option<_>>().map(ConfigValue::Texts)
        }
        _ => None,
    };
    found.ok_or_else(|| format!("the option `{}` must be {}", spec.name, wanted(&spec.kind)))
}

/// A default as it would be written in the file.
fn parsed(spec: &OptionSpec, text: &str) -> Result<ConfigValue, String> {
    let value = match &spec.kind {
        OptionKind::Text | OptionKind::Choice(_) | OptionKind::Url | OptionKind::Secret => Value::String(text.to_owned()),
        OptionKind::Integer { .. } | OptionKind::Number | OptionKind::Boolean | OptionKind::Texts => {
            serde_json::from_str(text).unwrap_or(Value::Null)
        }
    };
    typed(spec, &value).map_err(|e| format!("the driver's own default is wrong: {e}"))
}

fn wanted(kind: &OptionKind) -> String {
    match kind {
        OptionKind::Text => "a text".to_owned(),
        OptionKind::Secret => "a secret".to_owned(),
        OptionKind::Integer { least, most } => format!("a whole number from {least} to {most}"),
        OptionKind::Number => "a number".to_owned(),
        OptionKind::Boolean => "true or false".to_owned(),
        OptionKind::Choice(of) => format!("one of {}", of.join(", ")),
        OptionKind::Url => "http:// or https://, a host and an optional port".to_owned(),
        OptionKind::Texts => "a list of texts".to_owned(),
    }
}

/// Scheme, host and optional port, and nothing that could carry a credential.
fn is_base_url(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|u| {
        matches!(u.scheme(), "http" | "https")
            && u.username().is_empty()
            && u.password().is_none()
            && u.query().is_none()
            && u.fragment().is_none()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(name: &str, kind: OptionKind) -> OptionSpec {
        OptionSpec { name: name.to_owned(), kind, required: false, default: None, help: "Say it.".to_owned() }
    }

    fn check(specs: &[OptionSpec], options: Value) -> Result<ConfigView, Vec<String>> {
        let secrets = Secrets::from_iter([("password".to_owned(), "hunter22".to_owned())]);
        ConfigView::check("fast1", specs, options.as_object().unwrap(), Arc::new(secrets), false)
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let specs = [
            OptionSpec { required: true, ..spec("url", OptionKind::Url) },
            spec("retries", OptionKind::Integer { least: 0, most: 9 }),
            spec("mode", OptionKind::Choice(vec!["a".to_owned(), "b".to_owned()])),
        ];
        let faults = check(&specs, json!({"retries": 10, "mode": "c", "colour": 1})).unwrap_err();
        assert_eq!(
            faults,
            [
                "unknown option `colour`; the driver knows: url, retries, mode",
                "the option `url` is required: Say it.",
                "the option `retries` must be a whole number from 0 to 9",
                "the option `mode` must be one of a, b",
            ]
        );
    }

    #[test]
    fn values_are_typed_and_defaults_fill_in() {
        let specs = [
            spec("url", OptionKind::Url),
            spec("list", OptionKind::Texts),
            OptionSpec { default: Some("7".to_owned()), ..spec("retries", OptionKind::Integer { least: 0, most: 9 }) },
            OptionSpec { default: Some("true".to_owned()), ..spec("on", OptionKind::Boolean) },
        ];
        let view = check(&specs, json!({"url": "https://array.example:8443", "list": ["a", "b"]})).unwrap();
        assert_eq!(view.get("retries"), Some(&ConfigValue::Integer(7)));
        assert_eq!(view.get("on"), Some(&ConfigValue::Boolean(true)));
        assert_eq!(view.get("list"), Some(&ConfigValue::Texts(vec!["a".to_owned(), "b".to_owned()])));
        assert_eq!(view.get("nothing"), None);
    }

    #[test]
    fn a_secret_is_neither_an_option_nor_readable_without_the_grant() {
        let specs = [OptionSpec { required: true, ..spec("password", OptionKind::Secret) }];
        assert_eq!(
            check(&specs, json!({"password": "x"})).unwrap_err(),
            ["`password` is a secret: write it under `secrets`, not under `options`"]
        );
        let view = check(&specs, json!({})).unwrap();
        assert_eq!(view.get("password"), None);
        assert_eq!(view.reveal("password"), Err(RevealError::Denied));
        assert_eq!(view.reveal("other"), Err(RevealError::Unset));
        assert!(!format!("{view:?}").contains("hunter22"));
    }
}
