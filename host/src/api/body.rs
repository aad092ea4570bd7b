//! Reading a request body: size, media type, well-formed JSON.
//!
//! A body that passes is safe to parse: at most 114688 bytes, JSON without NUL characters (PostgreSQL's text cannot
//! hold one). serde_json limits the depth of what is parsed.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::IgnoredAny;

use super::route::Api;
use crate::error::{Error, Kind, Result};

/// The largest body taken.
pub const MAX: usize = 114_688;

/// Reads the whole body.
///
/// # Errors
/// [`Kind::OverLimit`] above [`MAX`]; [`Kind::Invalid`] when the client broke off.
pub async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if declared.is_some_and(|n| n > MAX as u64) {
        return Err(too_large());
    }
    match Limited::new(body, MAX).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(e) if e.downcast_ref::<LengthLimitError>().is_some() => Err(too_large()),
        Err(e) => Err(Error::invalid("The request body could not be read.").with_source(e)),
    }
}

/// The body as JSON text if the API takes it as such: empty where upstream ignores it.
///
/// # Errors
/// [`Kind::UnsupportedMediaType`], or [`Kind::Invalid`] for malformed JSON.
pub fn json(api: Api, headers: &HeaderMap, body: Bytes) -> Result<Bytes> {
    if body.is_empty() {
        return Ok(body);
    }
    let media = headers.get(header::CONTENT_TYPE).map(|v| v.to_str().unwrap_or("?"));
    let media = media.map(|m| m.split(';').next().unwrap_or("").trim().to_ascii_lowercase());
    let known = match media.as_deref() {
        Some("application/json") => true,
        Some("application/vnd.openstack.volume+json") => api == Api::Block,
        Some("application/vnd.openstack.share+json") => api == Api::Share,
        _ => false,
    };
    match api {
        Api::Block if media.is_none() => return Ok(Bytes::new()),
        Api::Block if !known => return Err(Error::new(Kind::UnsupportedMediaType, "Unsupported Content-Type")),
        Api::Share if !known => return Ok(Bytes::new()),
        _ => {}
    }
    if serde_json::from_slice::<IgnoredAny>(&body).is_err() {
        return Err(malformed());
    }
    if has_nul(&body) {
        return Err(Error::invalid("Invalid input: NUL characters are not allowed."));
    }
    Ok(body)
}

/// The one key of an action body.
///
/// # Errors
/// [`Kind::Invalid`] when the body is not an object with exactly one key.
pub fn action_key(body: &[u8]) -> Result<String> {
    let keys: std::collections::HashMap<String, IgnoredAny> = serde_json::from_slice(body).map_err(|_| malformed())?;
    let mut keys = keys.into_keys();
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key),
        _ => Err(malformed()),
    }
}

fn malformed() -> Error {
    Error::invalid("Malformed request body")
}

fn too_large() -> Error {
    Error::over_limit("", format!("Request is too large: its body exceeds {MAX} bytes."))
}

/// Whether well-formed JSON text spells a NUL: `\u0000` after an even number of backslashes.
fn has_nul(json: &[u8]) -> bool {
    let mut escaped = false;
    for (at, byte) in json.iter().enumerate() {
        if escaped {
            if json[at..].starts_with(b"u0000") {
                return true;
            }
            escaped = false;
        } else {
            escaped = *byte == b'\\';
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn typed(media: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(media))])
    }
    fn check(api: Api, headers: &HeaderMap, body: &'static str) -> Result<Bytes, Kind> {
        json(api, headers, Bytes::from_static(body.as_bytes())).map_err(|e| e.kind)
    }

    #[test]
    fn block_takes_json_and_its_own_media_type() {
        for media in ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/vnd.openstack.volume+json"] {
            assert_eq!(check(Api::Block, &typed(media), "{}").unwrap(), "{}", "{media}");
        }
    }
    #[test]
    fn another_media_type_is_refused_by_block_and_ignored_by_share() {
        assert_eq!(check(Api::Block, &typed("text/plain"), "{}"), Err(Kind::UnsupportedMediaType));
        assert_eq!(check(Api::Share, &typed("text/plain"), "{}").unwrap(), "");
    }
    #[test]
    fn an_empty_body_is_never_a_media_type_error() {
        assert_eq!(check(Api::Block, &typed("text/plain"), "").unwrap(), "");
    }
    #[test]
    fn malformed_json_is_invalid() {
        for body in ["{", "{\"a\":}", "[1,]", "{} {}", "nul"] {
            assert_eq!(check(Api::Block, &typed("application/json"), body), Err(Kind::Invalid), "{body}");
        }
    }
    #[test]
    fn a_nul_character_is_invalid_but_its_spelling_is_not() {
        assert_eq!(check(Api::Block, &typed("application/json"), r#"{"a":"x\u0000"}"#), Err(Kind::Invalid));
        assert!(check(Api::Block, &typed("application/json"), r#"{"a":"x\\u0000"}"#).is_ok());
    }
    #[test]
    fn an_action_has_exactly_one_key() {
        assert_eq!(action_key(br#"{"os-extend": {"new_size": 2}}"#).unwrap(), "os-extend");
        for body in ["", "{}", r#"{"a":1,"b":2}"#, "[]", "\"a\""] {
            assert_eq!(action_key(body.as_bytes()).unwrap_err().kind, Kind::Invalid, "{body}");
        }
    }
}
