//! An [`Error`] as the client of each API expects it: status and body.
//!
//! Block and share: one key naming the fault, `code` and `message` inside; 413 adds `Retry-After: 0` (clients take it for
//! an absolute limit because the message says "exceed"); these bodies are closed, so who can act stands in a header. Identity: `{"error": {code, title, message}}`. Sources never
//! leave the process; they are logged here, with the request's span.

use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use super::{reply::Reply, route::Api};
use crate::error::{Error, Kind, chain};

/// Who can do something about a refusal of the block or the share API: `user`, `operator`, `vendor`. The admin API says it in the body.
pub const WHO_CAN_ACT: HeaderName = HeaderName::from_static("x-stowage-who-can-act");

/// The status of a kind of refusal.
pub fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::OverLimit => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Kind::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Kind::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Kind::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The key that block and share faults carry.
pub fn key(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 => "badRequest",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "itemNotFound",
        405 => "badMethod",
        409 => "conflictingRequest",
        413 => "overLimit",
        415 => "badMediaType",
        501 => "notImplemented",
        503 => "serviceUnavailable",
        _ => "computeFault",
    }
}

/// Renders a refusal.
pub fn render(api: Api, error: &Error) -> Reply {
    log(error);
    let status = status(error.kind);
    let message = if error.class.is_empty() { error.message.to_string() } else { format!("{}: {}", error.class, error.message) };
    match api {
        Api::Block | Api::Share if error.kind == Kind::Unauthenticated => unauthenticated(),
        Api::Block | Api::Share => {
            let mut inside = Map::from_iter([("code".to_owned(), json!(status.as_u16())), ("message".to_owned(), json!(message))]);
            let over = error.kind == Kind::OverLimit;
            if over {
                inside.insert("retryAfter".into(), json!("0"));
            }
            let reply = body(status, &json!({ key(status): inside })).header(WHO_CAN_ACT, HeaderValue::from_static(error.remedy.as_str()));
            if over { reply.header(header::RETRY_AFTER, HeaderValue::from_static("0")) } else { reply }
        }
        Api::Identity => body(status, &identity(status, &message)),
        Api::Admin => body(status, &json!({"error": {"code": status.as_u16(), "message": message, "who_can_act": error.remedy}})),
    }
}

/// No valid token, as Keystone's middleware in front of the services says it.
pub fn unauthenticated() -> Reply {
    body(StatusCode::UNAUTHORIZED, &identity(StatusCode::UNAUTHORIZED, "The request you have made requires authentication."))
}

/// No such URL, or not with this method: the router's own answer, which is not a fault of the API.
pub fn no_such_url(api: Api) -> Reply {
    let message = "The resource could not be found.";
    match api {
        Api::Block | Api::Share => body(StatusCode::NOT_FOUND, &json!({"message": message, "code": "404 Not Found", "title": "Not Found"})),
        Api::Identity | Api::Admin => body(StatusCode::NOT_FOUND, &identity(StatusCode::NOT_FOUND, message)),
    }
}

/// Where to get a token, beside a 401.
pub fn www_authenticate(identity_url: &str) -> Option<(HeaderName, HeaderValue)> {
    HeaderValue::from_str(&format!("Keystone uri=\"{identity_url}\"")).ok().map(|v| (header::WWW_AUTHENTICATE, v))
}

fn identity(status: StatusCode, message: &str) -> Value {
    json!({"error": {"code": status.as_u16(), "title": status.canonical_reason().unwrap_or("Error"), "message": message}})
}

fn body(status: StatusCode, value: &Value) -> Reply {
    let headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Reply { status, headers, body: value.to_string().into_bytes() }
}

fn log(error: &Error) {
    if matches!(error.kind, Kind::Internal | Kind::Unavailable | Kind::Timeout) {
        tracing::error!(kind = ?error.kind, chain = %chain(error), "request failed");
    } else {
        tracing::debug!(kind = ?error.kind, chain = %chain(error), "request refused");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Remedy;

    fn rendered(api: Api, error: &Error) -> (u16, Value) {
        let reply = render(api, error);
        (reply.status.as_u16(), serde_json::from_slice(&reply.body).unwrap())
    }

    #[test]
    fn every_kind_has_the_status_and_key_of_upstream() {
        let table = [
            (Kind::Invalid, 400, "badRequest"),
            (Kind::Forbidden, 403, "forbidden"),
            (Kind::NotFound, 404, "itemNotFound"),
            (Kind::Conflict, 409, "conflictingRequest"),
            (Kind::OverLimit, 413, "overLimit"),
            (Kind::PreconditionFailed, 412, "computeFault"),
            (Kind::UnsupportedMediaType, 415, "badMediaType"),
            (Kind::NotAcceptable, 406, "computeFault"),
            (Kind::Unprocessable, 422, "computeFault"),
            (Kind::TooManyRequests, 429, "computeFault"),
            (Kind::Unavailable, 503, "serviceUnavailable"),
            (Kind::Timeout, 504, "computeFault"),
            (Kind::Internal, 500, "computeFault"),
        ];
        for (kind, code, key) in table {
            let (status, body) = rendered(Api::Block, &Error::new(kind, "why"));
            assert_eq!(status, code, "{kind:?}");
            assert_eq!(body[key]["code"], code, "{kind:?}");
            assert_eq!(body[key]["message"], "why", "{kind:?}");
        }
    }
    #[test]
    fn the_class_stands_before_the_message() {
        let (_, body) = rendered(Api::Block, &Error::over_limit("VolumeLimitExceeded", "Maximum number of volumes allowed (1) exceeded"));
        assert_eq!(body["overLimit"]["message"], "VolumeLimitExceeded: Maximum number of volumes allowed (1) exceeded");
    }
    #[test]
    fn over_limit_tells_not_to_wait() {
        let reply = render(Api::Block, &Error::over_limit("", "exceeded"));
        assert!(reply.headers.contains(&(header::RETRY_AFTER, HeaderValue::from_static("0"))));
        assert_eq!(rendered(Api::Block, &Error::over_limit("", "exceeded")).1["overLimit"]["retryAfter"], "0");
    }
    #[test]
    fn who_can_act_stands_in_a_header_where_the_body_is_closed() {
        for remedy in [Remedy::User, Remedy::Operator, Remedy::Vendor] {
            let error = Error { remedy, ..Error::new(Kind::Conflict, "why") };
            for api in [Api::Block, Api::Share] {
                let reply = render(api, &error);
                assert!(reply.headers.contains(&(WHO_CAN_ACT, HeaderValue::from_static(remedy.as_str()))), "{remedy:?}");
            }
            assert_eq!(rendered(Api::Admin, &error).1["error"]["who_can_act"], remedy.as_str());
        }
    }
    #[test]
    fn an_internal_error_shows_nothing_of_its_source() {
        let (status, body) = rendered(Api::Block, &Error::internal("password=hunter2"));
        assert_eq!(status, 500);
        assert!(!body.to_string().contains("hunter2"));
    }
    #[test]
    fn no_token_is_said_as_keystone_middleware_says_it() {
        let (status, body) = rendered(Api::Block, &Error::new(Kind::Unauthenticated, "expired"));
        assert_eq!((status, &body["error"]["title"]), (401, &json!("Unauthorized")));
    }
    #[test]
    fn identity_faults_have_keystones_shape() {
        let (_, body) = rendered(Api::Identity, &Error::not_found("Could not find user: x."));
        assert_eq!(body, json!({"error": {"code": 404, "title": "Not Found", "message": "Could not find user: x."}}));
    }
}
