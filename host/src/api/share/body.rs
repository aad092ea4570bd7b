//! What bodies of the share API have in common.

use serde_json::{Map, Value};

pub use crate::api::members::{Members, is_uuid, member, object, only_the_urls_key, required, truth};
use crate::{
    api::{
        members::{not_the_urls_key, too_many_keys},
        request::ApiRequest,
    },
    domain::metadata::check_of_share,
    error::{Error, Kind, Result},
    service::share_metadata::check_count,
};

/// From here on `os-` is dropped.
pub const WITHOUT_OS_SINCE: u16 = 7;
/// Until here names begin with `os-`.
pub const WITH_OS_UNTIL: u16 = 6;

/// The body as an object; one that is not, or does not have `key`, cannot be processed: 422.
pub fn entity(req: &ApiRequest, key: &str) -> Result<Map<String, Value>> {
    let missing =
        || Error::new(Kind::Unprocessable, format!("Unable to process the contained instructions: '{key}' is needed in the body."));
    if req.body.is_empty() {
        return Err(missing());
    }
    let body = object(req)?;
    if body.get(key).is_some_and(Value::is_object) { Ok(body) } else { Err(missing()) }
}

/// What an action is about, whatever it is called in this version.
pub fn action(body: &Map<String, Value>) -> Result<Members<'_>> {
    let key = body.keys().next().ok_or_else(malformed)?;
    member(body, key)
}

/// The pairs under `metadata`, which the body must have.
pub fn metadata(body: &Map<String, Value>) -> Result<Vec<(String, String)>> {
    match body.get("metadata") {
        Some(Value::Object(map)) => pairs(map),
        _ => Err(malformed()),
    }
}

/// The pairs under `metadata` of what is to be made; none when it is not there.
pub fn given_metadata(members: &Members<'_>) -> Result<Vec<(String, String)>> {
    match members.get("metadata") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(map)) => pairs(map),
        Some(_) => Err(members.refuse("metadata", "is not of type 'object'")),
    }
}

/// A boolean, or a word that means one; none when it is not there.
pub fn given_truth(members: &Members<'_>, key: &str) -> Result<Option<bool>> {
    match members.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Bool(b)) => return Ok(Some(*b)),
        Some(Value::String(word)) => truth(word),
        Some(_) => None,
    }
    .map(Some)
    .ok_or_else(|| Error::invalid(format!("{key} has a non-boolean value.")))
}

/// The pairs of a metadata object, checked.
pub fn pairs(map: &Map<String, Value>) -> Result<Vec<(String, String)>> {
    check_count(map.len())?;
    map.iter()
        .map(|(key, value)| {
            let Value::String(text) = value else {
                return Err(Error::invalid(format!("The metadata of {key:.60} is not of type 'string'.")));
            };
            check_of_share(key, text).map_err(|e| Error::invalid(e.to_string()))?;
            Ok((key.clone(), text.clone()))
        })
        .collect()
}

/// The one pair of a body, whose key is the URL's.
pub fn one_pair(req: &ApiRequest) -> Result<Vec<(String, String)>> {
    let pairs = metadata(&object(req)?)?;
    if !pairs.iter().any(|(key, _)| key == req.param("key")) {
        return Err(not_the_urls_key());
    }
    if pairs.len() > 1 {
        return Err(too_many_keys());
    }
    Ok(pairs)
}

/// The text under `key`, else what stands under its older name; an empty one is none.
pub fn bounded_or_older(members: &Members<'_>, key: &str, older: &str) -> Result<Option<String>> {
    let of = |key: &str| Ok::<_, Error>(members.bounded(key)?.filter(|t| !t.is_empty()));
    Ok(of(key)?.or(of(older)?))
}

/// A whole number, or its digits.
pub fn gib(members: &Members<'_>, key: &str, missing: &'static str) -> Result<i64> {
    members.size(key)?.ok_or_else(|| Error::invalid(missing))
}

pub fn malformed() -> Error {
    Error::invalid("Malformed request body")
}
