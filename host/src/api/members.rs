//! Reading a JSON body member by member, with upstream's refusals: `Invalid input for field/attribute X. Value: V. reason`.
//!
//! Every reader refuses what does not fit with 400 naming the member; unknown members are refused only where the
//! microversion says so.

use serde_json::{Map, Value};

use crate::{
    api::request::ApiRequest,
    domain::{metadata, size, text},
    error::{Error, Result},
};

/// An object in the body, and where it stands.
#[derive(Debug)]
pub struct Members<'a> {
    path: &'a str,
    map: &'a Map<String, Value>,
}

/// The body as an object.
pub fn object(req: &ApiRequest) -> Result<Map<String, Value>> {
    match req.json::<Value>()? {
        Value::Object(map) => Ok(map),
        other => Err(refused("body", &other, "is not of type 'object'")),
    }
}

/// The object under `key`, which the body must have.
pub fn member<'a>(body: &'a Map<String, Value>, key: &'a str) -> Result<Members<'a>> {
    match body.get(key) {
        Some(Value::Object(map)) => Ok(Members { path: key, map }),
        Some(other) => Err(refused(key, other, "is not of type 'object'")),
        None => Err(Error::invalid(format!("Invalid input received: '{key}' is a required property"))),
    }
}

/// As [`member`]; no other key may stand beside it.
pub fn sole_member<'a>(body: &'a Map<String, Value>, key: &'a str, also: &[&str]) -> Result<Members<'a>> {
    let found = member(body, key)?;
    deny_unknown(body, &[&[key], also].concat())?;
    Ok(found)
}

/// The boolean under `key`, which alone stands under `action`, which alone is the body.
pub fn sole_flag(req: &ApiRequest, action: &str, key: &str) -> Result<bool> {
    let body = object(req)?;
    let members = sole_member(&body, action, &[])?;
    members.deny_unknown(&[key])?;
    members.boolean(key)?.ok_or_else(|| members.refuse(key, "is required"))
}

/// Refuses keys that are not among `known`.
pub fn deny_unknown(map: &Map<String, Value>, known: &[&str]) -> Result<()> {
    match map.keys().find(|k| !known.contains(&k.as_str())) {
        Some(key) => Err(Error::invalid(format!("Additional properties are not allowed ({key:.80?} was unexpected)"))),
        None => Ok(()),
    }
}

fn refused(field: &str, value: &Value, why: &str) -> Error {
    let mut shown: String = value.to_string().chars().take(120).collect();
    if shown.len() < value.to_string().len() {
        shown.push_str("...");
    }
    Error::invalid(format!("Invalid input for field/attribute {field}. Value: {shown}. {shown} {why}"))
}

impl<'a> Members<'a> {
    /// Refuses members that are not among `known`.
    pub fn deny_unknown(&self, known: &[&str]) -> Result<()> {
        deny_unknown(self.map, known)
    }
    pub fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }
    /// Every member.
    pub fn iter(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.map.iter()
    }
    /// The member as it is.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key)
    }
    /// A refusal of this member.
    pub fn refuse(&self, key: &str, why: &str) -> Error {
        refused(key, self.map.get(key).unwrap_or(&Value::Null), why)
    }
    /// Any text; none when absent or null.
    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(s)) if s.contains('\0') => Err(self.refuse(key, "contains a character that cannot be stored")),
            Some(Value::String(s)) => Ok(Some(s)),
            Some(other) => Err(refused(key, other, "is not of type 'string', 'null'")),
        }
    }
    /// A trimmed text of at most 255 characters; none when absent or null.
    pub fn bounded(&self, key: &str) -> Result<Option<String>> {
        self.text(key)?.map(|t| text::bounded(key, t).map_err(|e| self.refuse(key, &e.to_string()))).transpose()
    }
    /// The outer option: whether the member is there; the inner: null or a trimmed text of at most 255 characters.
    pub fn changed(&self, key: &str) -> Result<Option<Option<String>>> {
        if self.has(key) { Ok(Some(self.bounded(key)?)) } else { Ok(None) }
    }
    /// A boolean, or one of the words that mean one; none when absent or null.
    pub fn boolean(&self, key: &str) -> Result<Option<bool>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(b)) => Ok(Some(*b)),
            Some(Value::String(s)) => truth(s).map(Some).ok_or_else(|| self.refuse(key, "is not a boolean")),
            Some(other) => Err(refused(key, other, "is not of type 'boolean', 'string'")),
        }
    }
    /// A size in GiB: an integer or its digits; none when absent or null.
    pub fn size(&self, key: &str) -> Result<Option<i64>> {
        let why = "must be an integer from 1 to 2147483647";
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(n)) => n.as_i64().filter(|n| size::fits(*n)).map(Some).ok_or_else(|| self.refuse(key, why)),
            Some(Value::String(s)) => size::parse(s).map(Some).ok_or_else(|| self.refuse(key, why)),
            Some(other) => Err(refused(key, other, "is not of type 'integer', 'string'")),
        }
    }
    /// A UUID as text; none when absent or null.
    pub fn uuid(&self, key: &str) -> Result<Option<&'a str>> {
        match self.text(key)? {
            Some(t) if !is_uuid(t) => Err(self.refuse(key, "is not a 'uuid'")),
            other => Ok(other),
        }
    }
    /// Every member as a metadata pair.
    pub fn pairs(&self) -> Result<Vec<(String, String)>> {
        pairs(self.path, self.map)
    }
    /// Metadata pairs; none when absent, empty when null.
    pub fn metadata(&self, key: &str) -> Result<Option<Vec<(String, String)>>> {
        match self.map.get(key) {
            None => Ok(None),
            Some(Value::Null) => Ok(Some(Vec::new())),
            Some(Value::Object(map)) => pairs(key, map).map(Some),
            Some(other) => Err(refused(key, other, "is not of type 'object'")),
        }
    }
}

/// The pairs of a metadata object, checked.
pub fn pairs(field: &str, map: &Map<String, Value>) -> Result<Vec<(String, String)>> {
    map.iter()
        .map(|(key, value)| {
            let Value::String(text) = value else { return Err(refused(field, value, "is not of type 'string'")) };
            metadata::check(key, text).map_err(|e| Error::invalid(e.to_string()))?;
            Ok((key.clone(), text.clone()))
        })
        .collect()
}

/// A member that has to be there: a text of 1 to 255 characters that is not blank.
///
/// # Errors
/// 400.
pub fn required<'a>(body: &'a Map<String, Value>, key: &str) -> Result<&'a str> {
    match body.get(key) {
        Some(Value::String(s)) if !s.trim().is_empty() && s.chars().count() <= 255 && !s.contains('\0') => Ok(s),
        Some(_) => Err(Error::invalid(format!("Invalid input for field/attribute {key}. A text of 1 to 255 characters is needed."))),
        None => Err(Error::invalid(format!("Missing required element '{key}' in request body."))),
    }
}

/// A text of at most 255 characters; none when absent or null.
///
/// # Errors
/// 400.
pub fn nullable<'a>(body: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(s)) if s.chars().count() <= 255 && !s.contains('\0') => Ok(Some(s)),
        Some(Value::String(_)) => {
            Err(Error::invalid(format!("Invalid input for field/attribute {key}. A text of at most 255 characters is needed.")))
        }
        Some(other) => Err(refused(key, other, "is not of type 'string', 'null'")),
    }
}

/// The pairs under `metadata`, which alone is the body.
pub fn sole_metadata(req: &ApiRequest) -> Result<Vec<(String, String)>> {
    let body = object(req)?;
    deny_unknown(&body, &["metadata"])?;
    match body.get("metadata") {
        Some(Value::Object(map)) => pairs("metadata", map),
        _ => Err(Error::invalid("Invalid input for field/attribute metadata. An object of texts is needed.")),
    }
}

/// The one pair under `meta`, which alone is the body; its key is the URL's.
pub fn sole_pair(req: &ApiRequest) -> Result<(String, String)> {
    let body = object(req)?;
    let members = sole_member(&body, "meta", &[])?;
    if !members.has(req.param("key")) {
        return Err(not_the_urls_key());
    }
    match <[_; 1]>::try_from(members.pairs()?) {
        Ok([pair]) => Ok(pair),
        Err(_) => Err(too_many_keys()),
    }
}

/// Refuses an object that has anything but the URL's key.
pub fn only_the_urls_key(map: &Map<String, Value>, key: &str) -> Result<()> {
    match map.len() {
        _ if !map.contains_key(key) => Err(not_the_urls_key()),
        1 => Ok(()),
        _ => Err(too_many_keys()),
    }
}

pub fn not_the_urls_key() -> Error {
    Error::invalid("Request body and URI mismatch")
}

pub fn too_many_keys() -> Error {
    Error::invalid("Request body contains too many items")
}

/// The words upstream takes for true and false; none for any other.
pub fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "1" | "t" | "true" | "on" | "y" | "yes" => Some(true),
        "0" | "f" | "false" | "off" | "n" | "no" => Some(false),
        _ => None,
    }
}

/// A UUID in any spelling that clients use: with or without dashes.
pub fn is_uuid(text: &str) -> bool {
    uuid::Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(value: Value, check: impl Fn(&Members)) {
        let Value::Object(body) = json!({ "volume": value }) else { unreachable!() };
        check(&member(&body, "volume").unwrap());
    }

    #[test]
    fn a_size_is_an_integer_or_its_digits() {
        with(json!({"a": 1, "b": "20", "c": null}), |m| {
            assert_eq!(
                (m.size("a").unwrap(), m.size("b").unwrap(), m.size("c").unwrap(), m.size("d").unwrap()),
                (Some(1), Some(20), None, None)
            );
        });
        for bad in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!("ten"),
            json!(""),
            json!(true),
            json!([1]),
            json!(1e30),
            json!(9_223_372_036_854_775_807_u64),
        ] {
            with(json!({ "size": bad }), |m| {
                let e = m.size("size").unwrap_err();
                assert!(e.message.starts_with("Invalid input for field/attribute size."), "{e}");
            });
        }
    }

    #[test]
    fn booleans_may_be_words() {
        with(json!({"a": true, "b": "False", "c": "on", "d": "maybe", "e": 1}), |m| {
            assert_eq!((m.boolean("a").unwrap(), m.boolean("b").unwrap(), m.boolean("c").unwrap()), (Some(true), Some(false), Some(true)));
            assert!(m.boolean("d").is_err() && m.boolean("e").is_err());
        });
    }

    #[test]
    fn a_huge_value_is_cut_in_the_refusal() {
        with(json!({"name": ["x".repeat(100_000)]}), |m| assert!(m.bounded("name").unwrap_err().message.len() < 1000));
    }

    #[test]
    fn a_change_tells_absent_from_null() {
        with(json!({"name": null, "description": " d "}), |m| {
            assert_eq!(m.changed("name").unwrap(), Some(None));
            assert_eq!(m.changed("description").unwrap(), Some(Some("d".into())));
            assert_eq!(m.changed("other").unwrap(), None);
        });
    }

    #[test]
    fn unknown_members_are_named() {
        let Value::Object(body) = json!({"volume": {}, "x": 1}) else { unreachable!() };
        assert!(sole_member(&body, "volume", &[]).unwrap_err().message.contains("\"x\""));
        assert!(sole_member(&body, "volume", &["x"]).is_ok());
    }
}
