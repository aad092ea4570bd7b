//! Tokens of a real Keystone.
//!
//! A token is sent to Keystone once and its answer believed for at most five minutes (less if configured so). The service
//! user's own token is fetched when it is needed and again when Keystone refuses it; requests that need it at the same time
//! share one log-in and its outcome. When Keystone cannot be asked, or does not answer within the configured time in all,
//! the request gets 503: never access, and never 401, which would make clients throw a good token away.

mod wire;

use std::{fs, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use moka::future::Cache;
use reqwest::{Certificate, StatusCode};
use sha2::{Digest, Sha256};

use crate::{
    api::auth::TokenSource,
    clock::{self, Micros},
    config::KeystoneConfig,
    context::Principal,
    error::{Error, Kind, Result},
};

/// The longest an answer is believed.
const TTL_MAX: Duration = Duration::from_secs(300);
/// The largest answer read; a catalog in a token makes some tens of kilobytes.
const ANSWER_MAX: usize = 4 * 1024 * 1024;

/// Asks a Keystone what tokens stand for.
pub struct Keystone {
    http: reqwest::Client,
    config: KeystoneConfig,
    /// Answers by the token's digest: the token itself is not kept.
    known: Cache<[u8; 32], Arc<Known>>,
    own_token: Cache<(), String>,
}

struct Known {
    principal: Principal,
    expires_at: Micros,
}

/// Why Keystone could not be asked; for the log.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("no answer from Keystone")]
    Unreachable(#[source] reqwest::Error),
    #[error("no answer from Keystone within {0:?}")]
    TooSlow(Duration),
    #[error("Keystone answered {0}")]
    Status(StatusCode),
    #[error("Keystone's answer is not what a Keystone answers")]
    Nonsense(#[source] serde_json::Error),
    #[error("Keystone's answer is larger than {ANSWER_MAX} bytes")]
    TooLarge,
    #[error("Keystone did not accept Stowage's own user ({0}): check identity.keystone in the configuration")]
    OwnLogin(StatusCode),
    #[error("Stowage's own log-in failed")]
    Shared(#[source] Arc<Trouble>),
}

/// Why the validator could not be made.
#[derive(Debug, thiserror::Error)]
pub enum KeystoneError {
    #[error("identity.keystone.ca_file {path} cannot be read")]
    CaFile {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("identity.keystone: the HTTP client could not be made")]
    Client(#[source] reqwest::Error),
}

impl Keystone {
    /// # Errors
    /// [`KeystoneError`] for a certificate file that is not one.
    pub fn new(config: &KeystoneConfig) -> Result<Self, KeystoneError> {
        let mut http = reqwest::Client::builder().timeout(config.timeout).redirect(reqwest::redirect::Policy::none());
        if !config.ca_file.as_os_str().is_empty() {
            let pem =
                fs::read(&config.ca_file).map_err(|source| KeystoneError::CaFile { path: config.ca_file.display().to_string(), source })?;
            for certificate in Certificate::from_pem_bundle(&pem).map_err(KeystoneError::Client)? {
                http = http.add_root_certificate(certificate);
            }
        }
        Ok(Self {
            http: http.build().map_err(KeystoneError::Client)?,
            known: Cache::builder().max_capacity(100_000).time_to_live(config.cache_ttl.min(TTL_MAX)).build(),
            config: config.clone(),
            own_token: Cache::builder().max_capacity(1).build(),
        })
    }

    fn url(&self, path: &str) -> String {
        let base = self.config.url.trim_end_matches('/');
        let base = base.strip_suffix("/v3").unwrap_or(base);
        format!("{base}/v3{path}")
    }

    async fn ask(&self, token: &str) -> Result<Arc<Known>> {
        // a second round with a fresh token of our own, should Keystone have forgotten ours
        for _ in 0..2 {
            let own = self.own_token().await.map_err(unavailable)?;
            let request = self.http.get(self.url("/auth/tokens?nocatalog")).header("x-auth-token", &own).header("x-subject-token", token);
            let answer = request.send().await.map_err(|e| unavailable(Trouble::Unreachable(e)))?;
            match answer.status() {
                StatusCode::OK => return self.read(answer).await,
                StatusCode::NOT_FOUND => return Err(refused()),
                StatusCode::UNAUTHORIZED => self.forget_own_token(&own).await,
                other => return Err(unavailable(Trouble::Status(other))),
            }
        }
        Err(unavailable(Trouble::OwnLogin(StatusCode::UNAUTHORIZED)))
    }

    async fn read(&self, answer: reqwest::Response) -> Result<Arc<Known>> {
        let body = limited(answer).await.map_err(unavailable)?;
        let body: wire::Answer = serde_json::from_slice(&body).map_err(|e| unavailable(Trouble::Nonsense(e)))?;
        let expires_at = body.token.expires_at().ok_or_else(refused)?;
        Ok(Arc::new(Known { principal: body.token.principal(), expires_at }))
    }

    async fn own_token(&self) -> Result<String, Trouble> {
        self.own_token.try_get_with((), self.log_in()).await.map_err(Trouble::Shared)
    }

    async fn log_in(&self) -> Result<String, Trouble> {
        let login = wire::login(&self.config);
        let answer = self.http.post(self.url("/auth/tokens?nocatalog")).json(&login).send().await.map_err(Trouble::Unreachable)?;
        let token = answer.headers().get("x-subject-token").and_then(|v| v.to_str().ok()).map(str::to_owned);
        match token {
            Some(token) if answer.status() == StatusCode::CREATED => Ok(token),
            _ => Err(Trouble::OwnLogin(answer.status())),
        }
    }

    /// The next request logs in again, unless another one has done so meanwhile.
    async fn forget_own_token(&self, token: &str) {
        if self.own_token.get(&()).await.as_deref() == Some(token) {
            self.own_token.invalidate(&()).await;
        }
    }
}

impl TokenSource for Keystone {
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal>> {
        Box::pin(async move {
            let digest: [u8; 32] = Sha256::digest(token.as_bytes()).into();
            // one limit over all that it takes: waiting for others' questions, the log-in, the question itself
            let asking = tokio::time::timeout(self.config.timeout, self.known.try_get_with(digest, self.ask(token)));
            let known = asking.await.map_err(|_| unavailable(Trouble::TooSlow(self.config.timeout)))?;
            let known = known.map_err(|e| Error::new(e.kind, e.message.clone()).with_source(e))?;
            if known.expires_at <= clock::now() {
                return Err(refused());
            }
            Ok(known.principal.clone())
        })
    }
}

async fn limited(mut answer: reqwest::Response) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(Trouble::Unreachable)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(Trouble::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn refused() -> Error {
    Error::new(Kind::Unauthenticated, "The request you have made requires authentication.")
}

fn unavailable(why: Trouble) -> Error {
    Error::new(Kind::Unavailable, "The Keystone service is temporarily unavailable.").with_source(why)
}

/// Microseconds of an ISO 8601 text with a zone.
fn micros(text: &str) -> Option<Micros> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(at.as_microsecond())
}
