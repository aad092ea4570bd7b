//! `http`: requests to the array, through one client per back end.
//!
//! The host keeps connections, roots of trust and secrets; [`egress`](crate::driver::egress) decides who may be spoken to,
//! at every hop. Invariants: nothing is sent once the call's lease is gone or its deadline has passed; a secret stands
//! only in the bytes that go out, never in guest memory, a log or an error text, and never follows a redirect to another
//! authority; no environment proxy, no cookie store, no automatic decompression, so no answer is larger than its limit.
//! Failures tell apart what was certainly not sent from what may have been carried out.

use std::{sync::Arc, time::Duration};

use base64::Engine as _;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use tokio::time::Instant;
use url::Url;

use super::secrets::Secrets;
use crate::{
    driver::egress::{self, AllowList, CheckedResolver, Lookup, SystemLookup},
    error::chain,
    jobs::Lease,
};

const MAX_REDIRECTS: usize = 5;
const MAX_URL: usize = 8 * 1024;
const MAX_HEADERS: usize = 100;
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Sizes and times of one back end's requests.
#[derive(Debug, Clone)]
pub struct HttpLimits {
    pub connect_timeout: Duration,
    pub request_bytes: usize,
    pub response_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(10), request_bytes: 8 << 20, response_bytes: 16 << 20 }
    }
}

/// A request as a driver asks for it.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    pub credentials: Option<Credentials>,
    pub body_secrets: Vec<BodySecret>,
    pub timeout: Option<Duration>,
}

impl Request {
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self { method, url: url.into(), headers: Vec::new(), body: None, credentials: None, body_secrets: Vec::new(), timeout: None }
    }
}

/// A header that the host writes from a secret.
#[derive(Debug, Clone)]
pub enum Credentials {
    Basic { user: String, password_option: String },
    Bearer(String),
    Header { name: String, prefix: String, secret_option: String },
}

/// A place in the body that the host writes a secret into.
#[derive(Debug, Clone)]
pub struct BodySecret {
    pub placeholder: String,
    pub secret_option: String,
    pub escape: Escape,
}

/// How a secret is written into a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    None,
    Json,
    Form,
    Xml,
}

/// The array's answer; any status.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("not sent: {0}")]
    Denied(String),
    #[error("not a request: {0}")]
    Invalid(String),
    #[error("not reached: {0}")]
    Unreachable(String),
    #[error("TLS: {0}")]
    Tls(String),
    #[error("no answer in time")]
    Timeout,
    #[error("the connection broke: {0}")]
    Interrupted(String),
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
    #[error("this process no longer owns the work")]
    NotOwner,
}

/// Why a back end has no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no certificate can be read from the CA file")]
    Roots(#[source] Option<reqwest::Error>),
    #[error("TLS cannot be set up")]
    Build(#[source] reqwest::Error),
}

/// One back end's way out.
pub struct HttpClient {
    /// None: the back end has no grant, so that no client need exist.
    client: Option<reqwest::Client>,
    list: Arc<AllowList>,
    secrets: Arc<Secrets>,
    limits: HttpLimits,
}

impl HttpClient {
    /// Builds the client of a back end. `ca_pem` replaces the system's roots when given.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn new(list: AllowList, secrets: Arc<Secrets>, ca_pem: Option<&[u8]>, limits: HttpLimits) -> Result<Self, ClientError> {
        Self::with_lookup(list, secrets, ca_pem, limits, Arc::new(SystemLookup))
    }

    /// As [`new`](Self::new), with a resolver of the caller's.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_lookup(
        list: AllowList,
        secrets: Arc<Secrets>,
        ca_pem: Option<&[u8]>,
        limits: HttpLimits,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, ClientError> {
        let list = Arc::new(list);
        if list.is_empty() {
            return Ok(Self { client: None, list, secrets, limits });
        }
        let mut builder = reqwest::Client::builder()
            .no_proxy()
            .referer(false)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits.connect_timeout)
            .pool_max_idle_per_host(16)
            .pool_idle_timeout(Duration::from_secs(30))
            .user_agent(concat!("stowage/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(CheckedResolver::new(list.clone(), lookup));
        if let Some(pem) = ca_pem {
            let roots = reqwest::Certificate::from_pem_bundle(pem).map_err(|e| ClientError::Roots(Some(e)))?;
            if roots.is_empty() {
                return Err(ClientError::Roots(None)); // it would trust nobody, and say so only at the first request
            }
            builder = builder.tls_certs_only(roots);
        }
        Ok(Self { client: Some(builder.build().map_err(ClientError::Build)?), list, secrets, limits })
    }

    /// Sends one request and follows its redirects.
    ///
    /// # Errors
    /// [`HttpError`]; an answer of any status is none.
    pub async fn send(&self, request: Request, deadline: Instant, lease: &Lease) -> Result<Response, HttpError> {
        if lease.is_cancelled() {
            return Err(HttpError::NotOwner);
        }
        let mut until = deadline;
        if let Some(timeout) = request.timeout {
            until = until.min(Instant::now() + timeout);
        }
        if until <= Instant::now() {
            return Err(HttpError::Timeout);
        }
        tokio::select! {
            biased;
            () = lease.cancelled() => Err(HttpError::NotOwner),
            answer = tokio::time::timeout_at(until, self.follow(request, lease)) => answer.unwrap_or(Err(HttpError::Timeout)),
        }
    }

    async fn follow(&self, request: Request, lease: &Lease) -> Result<Response, HttpError> {
        let Some(client) = &self.client else {
            return Err(HttpError::Denied("the back end's `grants.http` lists nothing".to_owned()));
        };
        if request.url.len() > MAX_URL {
            return Err(HttpError::Invalid(format!("the URL is longer than {MAX_URL} bytes")));
        }
        let mut url = self.check(&request.url)?;
        let mut method = request.method.clone();
        let mut headers = self.headers(&request)?;
        let mut body = self.body(&request)?;
        for hop in 0..=MAX_REDIRECTS {
            if lease.is_cancelled() {
                return Err(HttpError::NotOwner);
            }
            let response =
                self.once(client, method.clone(), url.clone(), headers.clone(), body.clone()).await.map_err(|e| after_hop(e, hop))?;
            let Some(location) = redirect_of(&response) else { return self.read(response).await };
            let next = url.join(&location).map_err(|e| HttpError::Denied(format!("a redirect to what is no URL: {e}")))?;
            let next = self.check(next.as_str()).map_err(|e| match e {
                HttpError::Denied(why) => HttpError::Denied(format!("redirected: {why}")),
                other => HttpError::Denied(format!("redirected: {other}")),
            })?;
            if !keeps_body(response.status()) && method != Method::GET && method != Method::HEAD {
                method = Method::GET;
                body = None;
                for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::CONTENT_LANGUAGE] {
                    headers.remove(name);
                }
            }
            if next.origin() != url.origin() {
                if next.scheme() == "http" && url.scheme() == "https" {
                    return Err(HttpError::Denied("redirected from https to http".to_owned()));
                }
                if body.is_some() && !request.body_secrets.is_empty() {
                    return Err(HttpError::Denied("redirected to another authority with a secret in the body".to_owned()));
                }
                drop_credentials(&mut headers, &request);
            }
            url = next;
        }
        Err(HttpError::Denied(format!("more than {MAX_REDIRECTS} redirects")))
    }

    fn check(&self, url: &str) -> Result<Url, HttpError> {
        self.list.check(url).map_err(|e| match e {
            egress::Refused::BadUrl(_) => HttpError::Invalid(e.to_string()),
            _ => HttpError::Denied(e.to_string()),
        })
    }

    async fn once(
        &self,
        client: &reqwest::Client,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Option<Bytes>,
    ) -> Result<reqwest::Response, HttpError> {
        let peer = url.authority().rsplit('@').next().unwrap_or_default().to_owned();
        let mut builder = client.request(method, url).headers(headers);
        if let Some(body) = body {
            builder = builder.body(body);
        }
        builder.send().await.map_err(|e| match error_of(e) {
            // the one thing an operator needs to know of a connection that was refused
            HttpError::Unreachable(why) => HttpError::Unreachable(format!("{peer}: {why}")),
            other => other,
        })
    }

    fn headers(&self, request: &Request) -> Result<HeaderMap, HttpError> {
        if request.headers.len() > MAX_HEADERS {
            return Err(HttpError::Invalid(format!("more than {MAX_HEADERS} headers")));
        }
        if request.headers.iter().map(|(n, v)| n.len() + v.len()).sum::<usize>() > MAX_HEADER_BYTES {
            return Err(HttpError::Invalid(format!("more than {MAX_HEADER_BYTES} bytes of headers")));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HttpError::Invalid("a header's name is not one".to_owned()))?;
            if is_hosts_own(&name) {
                return Err(HttpError::Invalid(format!("the header `{name}` is the host's")));
            }
            let value =
                HeaderValue::from_str(value).map_err(|_| HttpError::Invalid(format!("the value of the header `{name}` is not one")))?;
            headers.append(name, value);
        }
        if let Some(credentials) = &request.credentials {
            let (name, value) = self.credential(credentials)?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    fn credential(&self, credentials: &Credentials) -> Result<(HeaderName, HeaderValue), HttpError> {
        let (name, text) = match credentials {
            Credentials::Basic { user, password_option } => {
                if user.contains(':') {
                    return Err(HttpError::Invalid("a user name of basic credentials holds no colon".to_owned()));
                }
                let pair = format!("{user}:{}", self.secret(password_option)?);
                (header::AUTHORIZATION, format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)))
            }
            Credentials::Bearer(option) => (header::AUTHORIZATION, format!("Bearer {}", self.secret(option)?)),
            Credentials::Header { name, prefix, secret_option } => {
                let name =
                    HeaderName::from_bytes(name.as_bytes()).map_err(|_| HttpError::Invalid("a header's name is not one".to_owned()))?;
                if is_hosts_own(&name) {
                    return Err(HttpError::Invalid(format!("the header `{name}` is the host's")));
                }
                (name, format!("{prefix}{}", self.secret(secret_option)?))
            }
        };
        let mut value = HeaderValue::from_str(&text).map_err(|_| HttpError::Invalid("the secret cannot stand in a header".to_owned()))?;
        value.set_sensitive(true);
        Ok((name, value))
    }

    fn body(&self, request: &Request) -> Result<Option<Bytes>, HttpError> {
        let Some(body) = &request.body else {
            return if request.body_secrets.is_empty() {
                Ok(None)
            } else {
                Err(HttpError::Invalid("a secret for a body that is not there".to_owned()))
            };
        };
        let mut body = body.clone();
        for place in &request.body_secrets {
            let secret = place.escape.apply(self.secret(&place.secret_option)?);
            body = replace_once(&body, place.placeholder.as_bytes(), secret.as_bytes()).ok_or_else(|| {
                HttpError::Invalid(format!("the placeholder of `{}` must stand in the body exactly once", place.secret_option))
            })?;
        }
        if body.len() > self.limits.request_bytes {
            return Err(HttpError::Invalid(format!("the body is larger than {} bytes", self.limits.request_bytes)));
        }
        Ok(Some(Bytes::from(body)))
    }

    fn secret(&self, option: &str) -> Result<&str, HttpError> {
        self.secrets.get(option).ok_or_else(|| HttpError::Invalid(format!("the option `{option}` is not a secret that is set")))
    }

    /// Reads the answer's body up to the limit.
    async fn read(&self, mut response: reqwest::Response) -> Result<Response, HttpError> {
        let limit = self.limits.response_bytes;
        let too_large = || HttpError::TooLarge(u64::try_from(limit).unwrap_or(u64::MAX));
        if response.content_length().is_some_and(|n| n > u64::try_from(limit).unwrap_or(u64::MAX)) {
            return Err(too_large());
        }
        let headers =
            response.headers().iter().map(|(n, v)| (n.as_str().to_owned(), String::from_utf8_lossy(v.as_bytes()).into_owned())).collect();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(error_of)? {
            if body.len() + chunk.len() > limit {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status: response.status().as_u16(), headers, body })
    }
}

/// Headers that frame the message or choose the server: a driver must not contradict the URL that was checked.
fn is_hosts_own(name: &HeaderName) -> bool {
    const NAMES: [HeaderName; 9] = [
        header::HOST,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::TE,
        header::TRAILER,
        header::UPGRADE,
        header::PROXY_AUTHORIZATION,
        header::EXPECT,
    ];
    NAMES.contains(name) || matches!(name.as_str(), "keep-alive" | "proxy-connection" | "http2-settings")
}

fn redirect_of(response: &reqwest::Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    response.headers().get(header::LOCATION).and_then(|l| l.to_str().ok()).map(str::to_owned)
}

/// 307 and 308 repeat the request as it was.
fn keeps_body(status: StatusCode) -> bool {
    matches!(status.as_u16(), 307 | 308)
}

fn drop_credentials(headers: &mut HeaderMap, request: &Request) {
    headers.remove(header::AUTHORIZATION);
    headers.remove(header::COOKIE);
    if let Some(Credentials::Header { name, .. }) = &request.credentials {
        headers.remove(name.as_str());
    }
}

/// After a first hop "certainly not sent" is no longer true.
fn after_hop(error: HttpError, hop: usize) -> HttpError {
    match error {
        HttpError::Unreachable(why) | HttpError::Tls(why) if hop > 0 => HttpError::Interrupted(format!("after a redirect: {why}")),
        other => other,
    }
}

fn error_of(error: reqwest::Error) -> HttpError {
    if let Some(refused) = egress::refusal(&error) {
        return HttpError::Denied(refused.to_string());
    }
    let error = error.without_url();
    let text = chain(&error);
    if error.is_builder() {
        return HttpError::Invalid(text);
    }
    if error.is_connect() {
        return if is_tls(&error) { HttpError::Tls(text) } else { HttpError::Unreachable(text) };
    }
    if error.is_timeout() { HttpError::Timeout } else { HttpError::Interrupted(text) }
}

/// The TLS layer reports what it does not accept as invalid data, wrapped in further IO errors.
fn is_tls(error: &dyn std::error::Error) -> bool {
    fn invalid_data(io: &std::io::Error) -> bool {
        io.kind() == std::io::ErrorKind::InvalidData || io.get_ref().and_then(|inner| inner.downcast_ref()).is_some_and(invalid_data)
    }
    let mut next = error.source();
    while let Some(e) = next {
        if e.downcast_ref().is_some_and(invalid_data) {
            return true;
        }
        next = e.source();
    }
    false
}

/// Replaces the one occurrence of `from`; none when it stands there never or more than once.
fn replace_once(body: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    if from.is_empty() {
        return None;
    }
    let mut places = body.windows(from.len()).enumerate().filter(|(_, w)| *w == from).map(|(at, _)| at);
    let at = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let mut out = Vec::with_capacity(body.len() + to.len());
    out.extend_from_slice(body.get(..at)?);
    out.extend_from_slice(to);
    out.extend_from_slice(body.get(at + from.len()..)?);
    Some(out)
}

impl Escape {
    fn apply(self, secret: &str) -> String {
        match self {
            Self::None => secret.to_owned(),
            Self::Json => {
                let quoted = serde_json::Value::from(secret).to_string();
                quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
            }
            Self::Form => url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
            Self::Xml => {
                secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
            }
        }
    }
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
