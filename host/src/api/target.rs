//! Takes a URL apart: API root, project segment, decoded segments, query.

use std::borrow::Cow;

use http::{HeaderMap, Uri, header};
use percent_encoding::percent_decode_str;

use super::route::Api;

/// A request's URL, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Below the API's root if `below_root`, else from the listener's root. Decoded.
    pub segments: Vec<String>,
    pub below_root: bool,
    /// The project segment, if the URL had one.
    pub project: Option<String>,
}

/// None for a path that is not UTF-8 once decoded, or holds a NUL: no resource has such a name.
pub fn path(api: Api, uri: &Uri) -> Option<Target> {
    let mut segments = uri.path().split('/').skip(1).map(decode).collect::<Option<Vec<String>>>()?;
    let below_root = strip_root(&mut segments, api.root());
    if api == Api::Identity && segments.len() > 1 {
        // Keystone takes a slash at the end for nothing; Cinder and Manila do not
        segments.pop_if(|last| last.is_empty());
    }
    let mut project = None;
    if below_root && api.has_project_segment() {
        if segments.len() > 1 && is_project(&segments[0]) {
            project = Some(segments.remove(0));
        }
        strip_json_suffix(&mut segments);
    }
    Some(Target { segments, below_root, project })
}

/// Query pairs, `+` and `%` decoded. None when a pair holds a NUL or is not UTF-8.
pub fn query(uri: &Uri) -> Option<Vec<(String, String)>> {
    let Some(raw) = uri.query() else { return Some(Vec::new()) };
    raw.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn pair(raw: &str) -> Option<(String, String)> {
    let (key, value) = raw.split_once('=').unwrap_or((raw, ""));
    let plain = |s: &str| -> Cow<'_, str> { if s.contains('+') { s.replace('+', " ").into() } else { s.to_owned().into() } };
    Some((decode(&plain(key))?, decode(&plain(value))?))
}

/// Scheme and host as the client wrote them, or as the operator configured them.
pub fn host_url(public: Option<&str>, uri: &Uri, headers: &HeaderMap) -> String {
    if let Some(public) = public {
        return public.trim_end_matches('/').to_owned();
    }
    let fits =
        |h: &&str| !h.is_empty() && h.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']' | b'_'));
    let header = headers.get(header::HOST).and_then(|v| v.to_str().ok());
    let host = uri.authority().map(http::uri::Authority::as_str).or(header).filter(fits).unwrap_or("localhost");
    format!("{}://{host}", uri.scheme_str().unwrap_or("http"))
}

fn decode(raw: &str) -> Option<String> {
    let text = percent_decode_str(raw).decode_utf8().ok()?;
    (!text.contains('\0')).then(|| text.into_owned())
}

fn strip_root(segments: &mut Vec<String>, root: &str) -> bool {
    let parts: Vec<&str> = root.split('/').collect();
    let found = segments.len() >= parts.len() && parts.iter().zip(&*segments).all(|(a, b)| a == b);
    if found {
        segments.drain(..parts.len());
    }
    found
}

/// Upstream's default `project_id_regex`.
fn is_project(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

fn strip_json_suffix(segments: &mut [String]) {
    if let Some(last) = segments.last_mut()
        && let Some(stem) = last.strip_suffix(".json")
        && !stem.is_empty()
    {
        *last = stem.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path_text: &str) -> Target {
        path(Api::Block, &path_text.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_project_segment_is_optional() {
        let with = at("/v3/0123456789abcdef0123456789abcdef/volumes");
        assert_eq!((with.segments, with.project.as_deref()), (vec!["volumes".to_owned()], Some("0123456789abcdef0123456789abcdef")));
        let without = at("/v3/volumes/feed");
        assert_eq!((without.segments.len(), without.project), (2, None));
    }
    #[test]
    fn a_first_segment_that_is_not_hex_is_no_project() {
        assert_eq!(at("/v3/types/default").project, None);
    }
    #[test]
    fn only_identity_takes_a_slash_at_the_end_for_nothing() {
        assert_eq!(path(Api::Identity, &"/v3/users/".parse().unwrap()).unwrap().segments, ["users"]);
        assert_eq!(at("/v3/volumes/").segments, ["volumes", ""]);
    }
    #[test]
    fn the_json_suffix_is_dropped() {
        assert_eq!(at("/v3/volumes.json").segments, ["volumes"]);
        assert_eq!(at("/v3/volumes/.json").segments, ["volumes", ".json"]);
    }
    #[test]
    fn segments_are_decoded_after_they_were_split() {
        assert_eq!(at("/v3/capabilities/host%40be%23pool%2Fx").segments, ["capabilities", "host@be#pool/x"]);
    }
    #[test]
    fn undecodable_paths_are_nobodys() {
        for bad in ["/v3/volumes/%ff", "/v3/volumes/a%00b"] {
            assert_eq!(path(Api::Block, &bad.parse().unwrap()), None, "{bad}");
        }
    }
    #[test]
    fn query_pairs_keep_their_order_and_may_repeat() {
        let pairs = query(&"/x?a=1&b=%7B%27k%27%3A+1%7D&a=2&flag".parse().unwrap()).unwrap();
        let expected = [("a", "1"), ("b", "{'k': 1}"), ("a", "2"), ("flag", "")];
        assert_eq!(pairs, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }
    #[test]
    fn a_forged_host_header_does_not_reach_links() {
        let headers = HeaderMap::from_iter([(header::HOST, http::HeaderValue::from_static("evil\"><x"))]);
        assert_eq!(host_url(None, &"/".parse().unwrap(), &headers), "http://localhost");
    }
}
