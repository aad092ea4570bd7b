//! Tokens to callers.
//!
//! Two sources: the built-in identity (`service::identity`) and a real Keystone (`keystone`). Both cache; neither ever
//! turns a failure of its own into access: what cannot be checked is 503.

use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName};

use crate::{
    context::Principal,
    error::{Error, Kind, Result},
};

const TOKEN: HeaderName = HeaderName::from_static("x-auth-token");
const STORAGE_TOKEN: HeaderName = HeaderName::from_static("x-storage-token");
const SERVICE_TOKEN: HeaderName = HeaderName::from_static("x-service-token");

/// The longest token worth looking at; Keystone's own are below 300 bytes.
const TOKEN_MAX: usize = 16 * 1024;

/// Who can tell what a token stands for.
pub trait TokenSource: Send + Sync {
    /// The token's owner and scope as of now.
    ///
    /// # Errors
    /// [`Kind::Unauthenticated`] for a token that is unknown, expired or revoked; [`Kind::Unavailable`] when nobody can say.
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal>>;
}

/// The owner of a request.
#[derive(Debug)]
pub struct Caller {
    pub principal: Principal,
    /// A second, valid token with the role `service` came along.
    pub service_token: bool,
}

/// Reads and checks the tokens of a request.
///
/// # Errors
/// [`Kind::Unauthenticated`] without a valid token, or with an invalid service token.
pub async fn caller(source: &dyn TokenSource, headers: &HeaderMap) -> Result<Caller> {
    let Some(token) = token(headers, &TOKEN).or_else(|| token(headers, &STORAGE_TOKEN)) else {
        return Err(Error::new(Kind::Unauthenticated, "The request you have made requires authentication."));
    };
    let principal = source.validate(token).await?;
    let service_token = match token_of_service(headers) {
        Some(token) => source.validate(token).await?.roles.iter().any(|r| r == "service"),
        None => false,
    };
    Ok(Caller { principal, service_token })
}

/// The token of the request itself, for operations on it.
pub fn own_token(headers: &HeaderMap) -> Option<&str> {
    token(headers, &TOKEN)
}

fn token_of_service(headers: &HeaderMap) -> Option<&str> {
    token(headers, &SERVICE_TOKEN)
}

fn token<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let token = headers.get(name)?.to_str().ok()?.trim();
    (!token.is_empty() && token.len() <= TOKEN_MAX).then_some(token)
}
