//! An HTTP server that receives events, and misbehaves as it is told.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use stowage::config::{Secret, WebhookConfig};
use tokio::{net::TcpListener, task::JoinHandle};

/// What both ends know.
pub const SECRET: &str = "a secret of the tests";

/// One request.
#[derive(Debug, Clone)]
pub struct Got {
    pub headers: HeaderMap,
    pub body: String,
    pub event: Value,
    /// What it was answered.
    pub taken: bool,
}

impl Got {
    pub fn id(&self) -> &str {
        self.event["id"].as_str().unwrap()
    }
    pub fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }
    /// The resource's id.
    pub fn of(&self) -> &str {
        self.event["subject"].as_str().unwrap().split_once('/').unwrap().1
    }
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no header {name}")).to_str().unwrap()
    }
}

/// What it does with an event.
#[derive(Debug, Clone)]
pub enum Answer {
    Take,
    /// Answers this status.
    Status(u16),
    /// With `Retry-After`, in seconds.
    Busy(u64),
    /// Never answers.
    Hang,
    /// Sends it elsewhere.
    Redirect(String),
}

type Decide = Box<dyn FnMut(&Value) -> Answer + Send>;

struct Inner {
    got: Vec<Got>,
    decide: Decide,
}

/// A receiver on a port of its own. It can be ended and started again there; what it got stays.
pub struct Receiver {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    serving: Option<JoinHandle<()>>,
}

impl Receiver {
    /// Takes everything.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Mutex::new(Inner { got: Vec::new(), decide: Box::new(|_| Answer::Take) }));
        let mut receiver = Self { address, inner, serving: None };
        receiver.serve(listener);
        receiver
    }

    fn serve(&mut self, listener: TcpListener) {
        let app = Router::new().fallback(receive).with_state(Arc::clone(&self.inner));
        self.serving = Some(tokio::spawn(async move { axum::serve(listener, app).await.unwrap() }));
    }

    /// From now on it decides so.
    pub fn answer(&self, decide: impl FnMut(&Value) -> Answer + Send + 'static) {
        self.lock().decide = Box::new(decide);
    }

    /// Nobody listens there any more.
    pub async fn end(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
            let _ = serving.await;
        }
    }

    /// It is back where it was.
    pub async fn start_again(&mut self) {
        let address = self.address;
        let listener = crate::wait::until("the port to be free", || async move { TcpListener::bind(address).await.ok() }).await;
        self.serve(listener);
    }

    pub fn url(&self) -> String {
        format!("http://{}/events", self.address)
    }

    /// How to post to it.
    pub fn config(&self) -> WebhookConfig {
        WebhookConfig { url: self.url(), secret: Secret::literal(SECRET), timeout: Duration::from_secs(5), ..WebhookConfig::default() }
    }

    pub fn got(&self) -> Vec<Got> {
        self.lock().got.clone()
    }

    /// The types of the events of a resource that it took, in the order they came.
    pub fn taken(&self, resource: &str) -> Vec<String> {
        self.lock().got.iter().filter(|g| g.taken && g.of() == resource).map(|g| g.kind().to_owned()).collect()
    }

    /// Waits until it took an event of this type of a resource; all it took of it.
    pub async fn until_taken(&self, resource: &str, kind: &str) -> Vec<String> {
        crate::wait::until(&format!("{kind} to be received"), || async {
            let taken = self.taken(resource);
            taken.iter().any(|k| k == kind).then_some(taken)
        })
        .await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
    }
}

async fn receive(State(inner): State<Arc<Mutex<Inner>>>, request: Request) -> Response {
    if request.method() == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    let headers = request.headers().clone();
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let event: Value = serde_json::from_str(&body).unwrap();
    let answer = {
        let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = (inner.decide)(&event);
        inner.got.push(Got { headers, body, event, taken: matches!(answer, Answer::Take) });
        answer
    };
    match answer {
        Answer::Take => StatusCode::ACCEPTED.into_response(),
        Answer::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Answer::Busy(seconds) => (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", seconds.to_string())]).into_response(),
        Answer::Redirect(to) => (StatusCode::TEMPORARY_REDIRECT, [("location", to)]).into_response(),
        Answer::Hang => std::future::pending().await,
    }
}
