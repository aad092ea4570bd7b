//! Requests to the array: a builder, answers with typed errors, and an API client that logs in and keeps its token.

use std::{rc::Rc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Context,
    bindings::imports::stowage::driver::http as import,
    error::{DriverError, Result},
    options::Opt,
};

pub use import::{BasicCredentials, BodySecret, Credentials, Escape, Header, HeaderCredentials, HttpError, Method, Request, Response};

/// Starts requests. From [`Context::http`].
#[derive(Clone)]
pub struct Http<'c> {
    cx: &'c Context,
    base: String,
    headers: Vec<Header>,
    login: Option<Rc<Login<'c>>>,
}

/// Obtains a token; called when there is none, or when the array no longer takes it.
type ObtainToken<'c> = dyn Fn(&Context) -> Result<String> + 'c;

struct Login<'c> {
    header: String,
    prefix: String,
    obtain: Box<ObtainToken<'c>>,
}

/// Where the token is kept: one for all instances of the back end in this process.
const TOKEN_KEY: &str = "sdk/token";

impl<'c> Http<'c> {
    pub(crate) fn new(cx: &'c Context) -> Self {
        Self { cx, base: String::new(), headers: Vec::new(), login: None }
    }

    /// Paths are appended to `base` from now on.
    #[must_use]
    pub fn at(mut self, base: &str) -> Self {
        base.trim_end_matches('/').clone_into(&mut self.base);
        self
    }

    /// A header of every request.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push(Header { name: name.into(), value: value.into() });
        self
    }

    /// Tells the array whose call this is: `stowage-operation`, `-generation`, `-request-id` and `-verb`. For arrays that
    /// refuse a generation lower than one they have seen, as `stowage node` does.
    #[must_use]
    pub fn identified(self) -> Self {
        let call = &self.cx.call;
        let (operation, generation, request, verb) =
            (call.operation_id.clone(), call.generation.to_string(), call.request_id.clone(), self.cx.verb);
        self.header("stowage-operation", operation)
            .header("stowage-generation", generation)
            .header("stowage-request-id", request)
            .header("stowage-verb", verb)
    }

    /// Sends a token with each request, in `header` after `prefix`. `obtain` logs in; the token is kept in the session, so
    /// that calls share it, and is obtained anew once when the array answers 401.
    #[must_use]
    pub fn with_login(mut self, header: &str, prefix: &str, obtain: impl Fn(&Context) -> Result<String> + 'c) -> Self {
        self.login = Some(Rc::new(Login { header: header.into(), prefix: prefix.into(), obtain: Box::new(obtain) }));
        self
    }

    pub fn get(&self, path: impl AsRef<str>) -> Builder<'c> {
        self.request(Method::Get, path)
    }
    pub fn post(&self, path: impl AsRef<str>) -> Builder<'c> {
        self.request(Method::Post, path)
    }
    pub fn put(&self, path: impl AsRef<str>) -> Builder<'c> {
        self.request(Method::Put, path)
    }
    pub fn patch(&self, path: impl AsRef<str>) -> Builder<'c> {
        self.request(Method::Patch, path)
    }
    pub fn delete(&self, path: impl AsRef<str>) -> Builder<'c> {
        self.request(Method::Delete, path)
    }
    /// A request of any method. `path` follows the base, or is a whole URL where there is none.
    pub fn request(&self, method: Method, path: impl AsRef<str>) -> Builder<'c> {
        let request = Request {
            method,
            url: format!("{}{}", self.base, path.as_ref()),
            headers: self.headers.clone(),
            body: None,
            credentials: None,
            body_secrets: Vec::new(),
            timeout_ms: None,
        };
        Builder { cx: self.cx, request, login: self.login.clone(), failure: None }
    }
}

/// A request being made.
#[must_use = "a request does nothing until it is sent"]
pub struct Builder<'c> {
    cx: &'c Context,
    request: Request,
    login: Option<Rc<Login<'c>>>,
    failure: Option<DriverError>,
}

impl Builder<'_> {
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.request.headers.push(Header { name: name.into(), value: value.into() });
        self
    }

    /// A JSON body.
    pub fn json(self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(bytes) => self.body("application/json", bytes),
            Err(e) => Self { failure: Some(e.into()), ..self },
        }
    }

    pub fn body(mut self, content_type: &str, bytes: Vec<u8>) -> Self {
        self.request.body = Some(bytes);
        self.header("content-type", content_type)
    }

    /// Basic authentication; the host writes the password, which never enters the driver.
    pub fn basic(mut self, user: impl Into<String>, password: &Opt<String>) -> Self {
        self.request.credentials = Some(Credentials::Basic(BasicCredentials { user: user.into(), password_option: password.name.into() }));
        self
    }

    /// A bearer token from a secret option, written by the host.
    pub fn bearer(mut self, token: &Opt<String>) -> Self {
        self.request.credentials = Some(Credentials::Bearer(token.name.into()));
        self
    }

    /// The host replaces `placeholder`, which stands in the JSON body exactly once, by a secret option's text.
    pub fn secret_in_json(mut self, placeholder: &str, secret: &Opt<String>) -> Self {
        self.request.body_secrets.push(BodySecret {
            placeholder: placeholder.into(),
            secret_option: secret.name.into(),
            escape: Escape::Json,
        });
        self
    }

    /// Less than the call's own deadline, which holds without it.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.request.timeout_ms = Some(u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
        self
    }

    /// Sends it. An answer of any status is a success; [`Answer::ok`] makes errors of statuses.
    pub fn send(self) -> Result<Answer> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let Some(login) = self.login else { return send(self.cx, &self.request) };
        let token = login.token(self.cx, None)?;
        let answer = send(self.cx, &login.sign(&self.request, &token))?;
        if answer.status != 401 {
            return Ok(answer);
        }
        let token = login.token(self.cx, Some(&token))?;
        send(self.cx, &login.sign(&self.request, &token))
    }
}

impl Login<'_> {
    /// The token in use; a new one where there is none or it is `refused`.
    fn token(&self, cx: &Context, refused: Option<&str>) -> Result<String> {
        let kept = cx.session().get::<String>(TOKEN_KEY)?;
        let version = kept.as_ref().map(|k| k.version);
        if let Some(kept) = kept.filter(|k| Some(k.value.as_str()) != refused) {
            return Ok(kept.value);
        }
        let token = (self.obtain)(cx)?;
        if cx.session().swap(TOKEN_KEY, version, &token, None)?.is_none()
            && let Some(theirs) = cx.session().get::<String>(TOKEN_KEY)?
        {
            // Another call logged in meanwhile: one token for all, or arrays that allow few would log each other out.
            return Ok(theirs.value);
        }
        Ok(token)
    }

    fn sign(&self, request: &Request, token: &str) -> Request {
        let mut request = request.clone();
        request.headers.push(Header { name: self.header.clone(), value: format!("{}{token}", self.prefix) });
        request
    }
}

fn send(cx: &Context, request: &Request) -> Result<Answer> {
    let Response { status, headers, body } = cx.host().send(request)?;
    Ok(Answer { status, headers, body })
}

/// What the array answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<Header>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The answer if its status is 2xx, else an error of the kind the status usually means.
    pub fn ok(self) -> Result<Self> {
        if (200..300).contains(&self.status) { Ok(self) } else { Err(self.refusal()) }
    }

    /// Success also when the array does not know the object: what deletes want.
    pub fn ok_or_gone(self) -> Result<()> {
        if matches!(self.status, 404 | 410) { Ok(()) } else { self.ok().map(drop) }
    }

    /// None where the array does not know the object.
    pub fn found(self) -> Result<Option<Self>> {
        if matches!(self.status, 404 | 410) { Ok(None) } else { self.ok().map(Some) }
    }

    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value.as_str())
    }

    /// The error that this status usually means.
    #[must_use]
    pub fn refusal(&self) -> DriverError {
        let said = String::from_utf8_lossy(&self.body[..self.body.len().min(300)]).into_owned();
        let message = format!("the array answered {}: {said}", self.status);
        let error = match self.status {
            400 | 422 => DriverError::invalid(message),
            401 | 403 => DriverError::auth(message),
            404 | 410 => DriverError::not_found(message),
            409 | 423 => DriverError::busy(message),
            405 | 501 => DriverError::unsupported(message),
            408 | 412 | 425 | 429 | 502 | 503 | 504 => DriverError::transient(message),
            507 => DriverError::exhausted(message),
            _ => DriverError::internal(message),
        };
        match self.header("retry-after").and_then(|s| s.parse::<u32>().ok()) {
            Some(seconds) => error.retry_after(seconds.saturating_mul(1_000)),
            None => error,
        }
    }
}
