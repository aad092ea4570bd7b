use http::StatusCode;

use crate::{
    api::{
        block::body::{deny_unknown, sole_member},
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
    deny_unknown(&body, &["host"])?;
    let host = body.get("host").and_then(|h| h.as_str()).filter(|h| fits(h)).ok_or_else(no_host)?;
    ensure(&req.app, &req.ctx, host, Manner::Strict).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

/// `{"ensure_shares": {"host": "host@backend"}}`
pub async fn patient(req: ApiRequest) -> Result<Reply> {
    let body = object(&req)?;
    let members = sole_member(&body, "ensure_shares", &[])?;
    members.deny_unknown(&["host"])?;
    let host = members.text("host")?.filter(|h| fits(h)).ok_or_else(no_host)?;
    ensure(&req.app, &req.ctx, host, Manner::Patient).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

fn fits(host: &str) -> bool {
    !host.is_empty() && host.chars().count() <= 255 && !host.contains('\0')
}

fn no_host() -> Error {
    Error::invalid("Invalid input for field/attribute host. host@backend, a text of 1 to 255 characters, is needed.")
}
