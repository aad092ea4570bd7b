//! One event, one request. Anything but 2xx in time is a refusal; redirects are not followed.

use std::{fs, time::Duration};

use reqwest::{Certificate, StatusCode, header};

use super::{cloud_event, sign::Key};
use crate::{clock, config::WebhookConfig, error::chain, notify::Event};

/// How much of an answer is read, so that the connection can be used again.
const ANSWER_MAX: usize = 64 * 1024;

/// Why the receiver did not take an event. It is sent again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    pub reason: String,
    /// The wait that it asked for.
    pub retry_after: Option<Duration>,
}

/// Why nothing can be sent with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    #[error("notify.webhook.ca_file {path} cannot be read")]
    CaFile {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("notify.webhook: the HTTP client could not be made")]
    Client(#[source] reqwest::Error),
}

/// Posts to the configured receiver.
pub struct Sender {
    http: reqwest::Client,
    key: Key,
    config: WebhookConfig,
    source: String,
}

impl Sender {
    /// `host` names the cluster.
    ///
    /// # Errors
    /// [`SenderError`] for a certificate file that is not one.
    pub fn new(config: &WebhookConfig, host: &str) -> Result<Self, SenderError> {
        let mut http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(config.timeout)
            .user_agent(concat!("stowage/", env!("CARGO_PKG_VERSION")));
        if !config.ca_file.as_os_str().is_empty() {
            let path = config.ca_file.display().to_string();
            let pem = fs::read(&config.ca_file).map_err(|source| SenderError::CaFile { path, source })?;
            http = http.tls_certs_only(Certificate::from_pem_bundle(&pem).map_err(SenderError::Client)?);
        }
        Ok(Self {
            http: http.build().map_err(SenderError::Client)?,
            key: Key::new(config.secret.expose()),
            config: config.clone(),
            source: format!("/stowage/{host}"),
        })
    }

    pub fn config(&self) -> &WebhookConfig {
        &self.config
    }

    pub(super) fn concurrency(&self) -> usize {
        self.config.concurrency.max(1)
    }

    /// Posts one event.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn post(&self, event: &Event) -> Result<(), Refusal> {
        let body = cloud_event::render(event, &self.source);
        let timestamp = (clock::now() / 1_000_000).to_string();
        let request = self
            .http
            .post(&self.config.url)
            .header(header::CONTENT_TYPE, cloud_event::MEDIA_TYPE)
            .header("webhook-id", &event.id)
            .header("webhook-timestamp", &timestamp)
            .header("webhook-signature", self.key.sign(&event.id, &timestamp, &body));
        let mut answer = request.body(body).send().await.map_err(|e| unreachable(&e))?;
        let status = answer.status();
        let retry_after = wait_asked_for(&answer);
        let mut read = 0;
        while let Ok(Some(some)) = answer.chunk().await {
            read += some.len();
            if read > ANSWER_MAX {
                break;
            }
        }
        if status.is_success() { Ok(()) } else { Err(Refusal { reason: format!("the receiver answered {status}"), retry_after }) }
    }

    /// Whether somebody answers there. Tells no event.
    ///
    /// # Errors
    /// [`Refusal`].
    pub async fn knock(&self) -> Result<StatusCode, Refusal> {
        // how CloudEvents asks a receiver whether it wants events
        let request = self.http.request(reqwest::Method::OPTIONS, &self.config.url).header("WebHook-Request-Origin", "stowage");
        request.send().await.map(|answer| answer.status()).map_err(|e| unreachable(&e))
    }
}

fn unreachable(e: &reqwest::Error) -> Refusal {
    let reason = if e.is_timeout() {
        "the receiver did not answer in time".to_owned()
    } else {
        format!("the receiver cannot be reached: {}", innermost(e))
    };
    Refusal { reason, retry_after: None }
}

/// Without the URL, which may hold what only the receiver should know.
fn innermost(e: &reqwest::Error) -> String {
    match std::error::Error::source(e) {
        Some(source) => chain(source),
        None => "the request failed".to_owned(),
    }
}

/// `Retry-After` in seconds, of answers that may carry it.
fn wait_asked_for(answer: &reqwest::Response) -> Option<Duration> {
    if !matches!(answer.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    answer.headers().get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
