//! Which microversion a request speaks.
//!
//! Block: `OpenStack-API-Version: volume 3.NN` (several services may share the header; `latest` is the maximum). Share:
//! `X-OpenStack-Manila-API-Version: 2.NN`, without a keyword for the newest. No header means the oldest. Answers and
//! faults echo the version in use.

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::route::Api;
use crate::error::{Error, Kind};

/// The newest block microversion, 3.71.
pub const BLOCK_MAX: u16 = 71;
/// The newest share microversion, 2.99.
pub const SHARE_MAX: u16 = 99;

const BLOCK_HEADER: HeaderName = HeaderName::from_static("openstack-api-version");
const SHARE_HEADER: HeaderName = HeaderName::from_static("x-openstack-manila-api-version");
const EXPERIMENTAL_HEADER: HeaderName = HeaderName::from_static("x-openstack-manila-api-experimental");

/// What was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spoken {
    pub minor: u16,
    pub experimental: bool,
}

/// A version that cannot be spoken. The answer still echoes it when it was well formed.
#[derive(Debug)]
pub struct Refused {
    pub error: Error,
    pub echo: Option<String>,
}

/// Reads the request's version; identity and admin have none.
///
/// # Errors
/// [`Kind::Invalid`] for bad syntax, [`Kind::NotAcceptable`] for a version out of range.
pub fn negotiate(api: Api, headers: &HeaderMap) -> Result<Spoken, Refused> {
    match api {
        Api::Identity | Api::Admin => Ok(Spoken::default()),
        Api::Block => block(headers).map(|minor| Spoken { minor, experimental: false }),
        Api::Share => share(headers),
    }
}

/// The response headers that tell which version was spoken.
pub fn echo(api: Api, spoken: Spoken) -> Vec<(HeaderName, HeaderValue)> {
    let version = match api {
        Api::Identity | Api::Admin => return Vec::new(),
        Api::Block => format!("3.{}", spoken.minor),
        Api::Share => format!("2.{}", spoken.minor),
    };
    let mut headers = echo_text(api, &version);
    if spoken.experimental {
        headers.push((EXPERIMENTAL_HEADER, HeaderValue::from_static("True")));
    }
    headers
}

/// The headers that tell which version a request asks for, whether it can be spoken or not.
pub fn echo_asked(api: Api, headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    match negotiate(api, headers) {
        Ok(spoken) => echo(api, spoken),
        Err(refused) => refused.echo.map(|text| echo_text(api, &text)).unwrap_or_default(),
    }
}

/// As [`echo`], for a version as the client wrote it.
pub fn echo_text(api: Api, version: &str) -> Vec<(HeaderName, HeaderValue)> {
    let (name, text, vary) = match api {
        Api::Identity | Api::Admin => return Vec::new(),
        Api::Block => (BLOCK_HEADER, format!("volume {version}"), "OpenStack-API-Version"),
        Api::Share => (SHARE_HEADER, version.to_owned(), "X-OpenStack-Manila-API-Version"),
    };
    let mut headers = vec![(header::VARY, HeaderValue::from_static(vary))];
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.push((name, value));
    }
    headers
}

fn block(headers: &HeaderMap) -> Result<u16, Refused> {
    let mut values = headers.get_all(BLOCK_HEADER).iter().peekable();
    if values.peek().is_none() {
        return Ok(0);
    }
    let wanted = values.filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(',')).find(|element| element.contains("volume"));
    let Some(wanted) = wanted else {
        return Err(malformed("The OpenStack-API-Version header names no volume version: send 'volume 3.NN' or leave it out."));
    };
    let mut words = wanted.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("volume"), Some("latest"), None) => Ok(BLOCK_MAX),
        (Some("volume"), Some(version), None) => in_range(version, 3, BLOCK_MAX),
        _ => Err(bad_syntax(wanted.trim())),
    }
}

fn share(headers: &HeaderMap) -> Result<Spoken, Refused> {
    let experimental = headers
        .get(EXPERIMENTAL_HEADER)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|v| matches!(v.trim().to_ascii_lowercase().as_str(), "true" | "t" | "1" | "yes" | "y" | "on"));
    let minor = match headers.get(SHARE_HEADER) {
        None => 0,
        Some(value) => in_range(value.to_str().unwrap_or("?").trim(), 2, SHARE_MAX)?,
    };
    Ok(Spoken { minor, experimental })
}

fn in_range(text: &str, major: u32, max: u16) -> Result<u16, Refused> {
    let Some((found_major, minor)) = parse(text) else { return Err(bad_syntax(text)) };
    match u16::try_from(minor) {
        Ok(minor) if found_major == major && minor <= max => Ok(minor),
        _ => Err(Refused {
            error: Error::new(
                Kind::NotAcceptable,
                format!("Version {text} is not supported by the API. Minimum is {major}.0 and maximum is {major}.{max}."),
            ),
            echo: Some(text.to_owned()),
        }),
    }
}

/// `3.44` -> (3, 44). No sign, no leading zeros.
fn parse(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    let number =
        |s: &str| (!s.is_empty() && s.len() <= 9 && s.bytes().all(|b| b.is_ascii_digit())).then(|| s.parse::<u32>().ok()).flatten();
    let canonical = !major.starts_with('0') && (minor == "0" || !minor.starts_with('0'));
    if canonical { Some((number(major)?, number(minor)?)) } else { None }
}

fn bad_syntax(text: &str) -> Refused {
    malformed(format!("API Version String {text} is of invalid format. Must be of format MajorNum.MinorNum."))
}

fn malformed(message: impl Into<std::borrow::Cow<'static, str>>) -> Refused {
    Refused { error: Error::invalid(message), echo: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))])
    }
    fn block_minor(value: &'static str) -> Result<u16, Kind> {
        negotiate(Api::Block, &asked("openstack-api-version", value)).map(|s| s.minor).map_err(|r| r.error.kind)
    }
    fn share_minor(value: &'static str) -> Result<u16, Kind> {
        negotiate(Api::Share, &asked("x-openstack-manila-api-version", value)).map(|s| s.minor).map_err(|r| r.error.kind)
    }

    #[test]
    fn no_header_is_the_oldest_version() {
        assert_eq!(negotiate(Api::Block, &HeaderMap::new()).unwrap().minor, 0);
        assert_eq!(negotiate(Api::Share, &HeaderMap::new()).unwrap().minor, 0);
    }
    #[test]
    fn the_block_header_may_name_other_services_beside_volume() {
        assert_eq!(block_minor("volume 3.44"), Ok(44));
        assert_eq!(block_minor("compute 2.1, volume 3.27"), Ok(27));
    }
    #[test]
    fn latest_is_the_maximum_for_block_and_refused_for_share() {
        assert_eq!(block_minor("volume latest"), Ok(71));
        assert_eq!(share_minor("latest"), Err(Kind::Invalid));
    }
    #[test]
    fn bad_syntax_is_invalid() {
        for value in ["volume 3.x", "volume 3", "volume", "volume 3.1 4", "volume 3.01", "volume -3.1", "compute 2.1", "", "volume 3."] {
            assert_eq!(block_minor(value), Err(Kind::Invalid), "{value}");
        }
    }
    #[test]
    fn a_well_formed_version_out_of_range_is_not_acceptable_and_echoed() {
        for value in ["volume 3.72", "volume 2.1", "volume 3.99999", "volume 4.0"] {
            assert_eq!(block_minor(value), Err(Kind::NotAcceptable), "{value}");
        }
        assert_eq!(share_minor("2.100"), Err(Kind::NotAcceptable));
        let refused = negotiate(Api::Block, &asked("openstack-api-version", "volume 3.999")).unwrap_err();
        assert_eq!(refused.echo.as_deref(), Some("3.999"));
    }
    #[test]
    fn the_experimental_header_is_a_true_word() {
        assert!(negotiate(Api::Share, &asked("x-openstack-manila-api-experimental", "True")).unwrap().experimental);
        assert!(!negotiate(Api::Share, &asked("x-openstack-manila-api-experimental", "False")).unwrap().experimental);
    }
}
