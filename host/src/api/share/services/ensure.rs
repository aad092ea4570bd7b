use http::StatusCode;
use serde_json::{Map, Value};

use crate::{
    api::{
        members::{deny_unknown, sole_member},
        reply::Reply,
        request::ApiRequest,
        share::body::object,
    },
    error::{Error, Result},
    service::share_service::ensure::{Manner, ensure},
};

/// `{"host": "host@backend"}`
pub async fn strict(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    start(&req, &host(&body)?, Manner::Strict).await
}

/// `{"host": "host@backend"}`, as released clients send it; or the same under `ensure_shares`, as upstream's server takes it.
pub async fn patient(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let host = if body.contains_key("ensure_shares") {
        let members = sole_member(&body, "ensure_shares", &[])?;
        members.deny_unknown(&["host"])?;
        members.text("host")?.filter(|h| fits(h)).ok_or_else(no_host)?.to_owned()
    } else {
        host(&body)?
    };
    start(&req, &host, Manner::Patient).await
}

async fn start(req: &ApiRequest, host: &str, manner: Manner) -> Result<Reply> {
    ensure(&req.app, &req.ctx, host, manner).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn host(body: &Map<String, Value>) -> Result<String> {
    deny_unknown(body, &["host"])?;
    Ok(body.get("host").and_then(Value::as_str).filter(|h| fits(h)).ok_or_else(no_host)?.to_owned())
}

fn fits(host: &str) -> bool {
    !host.is_empty() && host.chars().count() <= 255 && !host.contains('\0')
}

fn no_host() -> Error {
    Error::invalid("Invalid input for field/attribute host. host@backend, a text of 1 to 255 characters, is needed.")
}
