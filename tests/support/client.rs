//! A client of one API: a token, a microversion, JSON.

use std::fmt;

use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use stowage::api::route::Api;

use crate::{record, wait};

/// Cheap to clone; the `with_` methods give a changed copy.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    api: Api,
    /// `http://127.0.0.1:PORT`
    host: String,
    /// `/v3`, `/v3/PROJECT`, ...
    root: String,
    token: Option<String>,
    /// `3.44`
    version: Option<String>,
    headers: Vec<(String, String)>,
    pub project_id: String,
    pub user_id: String,
}

/// What came back.
#[derive(Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
    request: String,
}

impl Client {
    pub fn new(api: Api, host: String) -> Self {
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let root = match api {
            Api::Identity | Api::Block => "/v3",
            Api::Share => "/v2",
            Api::Admin => "/stowage/v1",
        };
        Self {
            http,
            api,
            host,
            root: root.into(),
            token: None,
            version: None,
            headers: Vec::new(),
            project_id: String::new(),
            user_id: String::new(),
        }
    }
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }
    #[must_use]
    pub fn with_ids(mut self, project_id: impl Into<String>, user_id: impl Into<String>) -> Self {
        self.project_id = project_id.into();
        self.user_id = user_id.into();
        self
    }
    /// A microversion such as `3.44`, sent with every request.
    #[must_use]
    pub fn at(&self, version: &str) -> Self {
        Self { version: Some(version.to_owned()), ..self.clone() }
    }
    #[must_use]
    pub fn with_header(&self, name: &str, value: &str) -> Self {
        let mut copy = self.clone();
        copy.headers.push((name.to_owned(), value.to_owned()));
        copy
    }
    /// Paths count from here: `/v3`. Use `""` for the listener's root, `/v3/PROJECT` for URLs with the project segment.
    #[must_use]
    pub fn rooted_at(&self, root: &str) -> Self {
        Self { root: root.to_owned(), ..self.clone() }
    }
    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }
    pub fn url(&self, path: &str) -> String {
        format!("{}{}{path}", self.host, self.root)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// JSON, or no body.
    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        self.try_send(method, path, body).await.unwrap_or_else(|e| panic!("no answer: {e:?}"))
    }
    /// For services that may be dead.
    ///
    /// # Errors
    /// No connection, or one that broke.
    pub async fn try_send(&self, method: Method, path: &str, body: Option<Value>) -> Result<Answer, reqwest::Error> {
        let body = body.map(|b| b.to_string().into_bytes());
        self.try_send_raw(method, path, body.as_ref().map(|_| "application/json"), body.clone().unwrap_or_default()).await
    }
    /// Any bytes, for what no well-behaved client sends.
    pub async fn send_raw(&self, method: Method, path: &str, content_type: Option<&str>, body: Vec<u8>) -> Answer {
        self.try_send_raw(method, path, content_type, body).await.unwrap_or_else(|e| panic!("no answer: {e:?}"))
    }

    async fn try_send_raw(&self, method: Method, path: &str, content_type: Option<&str>, body: Vec<u8>) -> Result<Answer, reqwest::Error> {
        let request = format!("{method} {}", self.url(path));
        let mut call = self.http.request(method.clone(), self.url(path)).header("accept", "application/json");
        if let Some(token) = &self.token {
            call = call.header("x-auth-token", token);
        }
        if let Some(version) = &self.version {
            call = match self.api {
                Api::Share => call.header("x-openstack-manila-api-version", version),
                _ => call.header("openstack-api-version", format!("volume {version}")),
            };
        }
        for (name, value) in &self.headers {
            call = call.header(name, value);
        }
        if let Some(kind) = content_type {
            call = call.header("content-type", kind).body(body.clone());
        }
        let response = call.send().await?;
        record::note(&record::Sent {
            api: self.api,
            method: &method,
            url: &self.url(path),
            minor: self.version.as_deref().and_then(|v| v.rsplit_once('.')?.1.parse().ok()).unwrap_or(0),
            body: &body,
            status: response.status().as_u16(),
        });
        Ok(Answer { status: response.status(), headers: response.headers().clone(), text: response.text().await?, request })
    }

    /// Shows `path` until `fits` says yes of its body.
    ///
    /// # Panics
    /// After [`wait::PATIENCE`], with the last answer.
    pub async fn until(&self, path: &str, fits: impl Fn(&Answer) -> bool) -> Answer {
        let last = std::sync::Mutex::new(None);
        let what = format!("{} to become what the test expects", self.url(path));
        let waited = wait::until(&what, || async {
            let answer = self.get(path).await;
            let done = fits(&answer);
            *last.lock().unwrap() = Some(answer.clone());
            done.then_some(answer)
        });
        tokio::select! {
            answer = waited => answer,
            () = tokio::time::sleep(wait::PATIENCE - std::time::Duration::from_secs(1)) => panic!("{what}; last: {:?}", last.lock().unwrap()),
        }
    }
    /// Shows a volume until it has `status`.
    ///
    /// # Panics
    /// After [`wait::PATIENCE`], or at once when it ends in an error that was not asked for.
    pub async fn volume_until(&self, id: &str, status: &str) -> Value {
        let answer = self
            .until(&format!("/volumes/{id}"), |a| {
                let found = a.body()["volume"]["status"].as_str().unwrap_or_default().to_owned();
                assert!(found == status || !found.starts_with("error"), "the volume is {found}, not {status}: {a:?}");
                found == status
            })
            .await;
        answer.body()["volume"].clone()
    }
    /// Shows a share until it has `status`.
    ///
    /// # Panics
    /// After [`wait::PATIENCE`], or at once when it ends in an error that was not asked for.
    pub async fn share_until(&self, id: &str, status: &str) -> Value {
        let answer = self
            .until(&format!("/shares/{id}"), |a| {
                let found = a.body()["share"]["status"].as_str().unwrap_or_default().to_owned();
                assert!(found == status || !found.contains("error"), "the share is {found}, not {status}: {a:?}");
                found == status
            })
            .await;
        answer.body()["share"].clone()
    }
    /// Shows `path` until it is 404.
    pub async fn until_gone(&self, path: &str) {
        self.until(path, |a| a.status == StatusCode::NOT_FOUND).await;
    }
}

impl Answer {
    /// The body as JSON; null when there is none.
    ///
    /// # Panics
    /// When it is something else.
    pub fn body(&self) -> Value {
        if self.text.is_empty() { Value::Null } else { serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {self:?}")) }
    }
    /// The body, if the status is the one expected.
    ///
    /// # Panics
    /// With the whole answer if it is not.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        self.body()
    }
    /// The sentence of a fault of any API.
    #[track_caller]
    pub fn fault(&self, status: u16) -> String {
        let body = self.expect(status);
        let inner = body.as_object().and_then(|o| o.values().next()).cloned().unwrap_or_default();
        inner["message"].as_str().unwrap_or_else(|| panic!("no fault: {self:?}")).to_owned()
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.text.chars().take(2000).collect();
        write!(f, "{} -> {} {:?}\n{shown}", self.request, self.status, self.headers)
    }
}
