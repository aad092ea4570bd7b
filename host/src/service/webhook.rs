//! How the webhook does, for operators.

use serde::Serialize;

use crate::{
    app::App,
    clock::{self, Micros},
    error::Result,
};

/// The webhook as an operator sees it.
#[derive(Debug, Clone, Serialize)]
pub struct WebhookView {
    /// `off`, `ok`, `paused`.
    pub state: &'static str,
    /// Without its query, where receivers put what only they should know.
    pub url: String,
    /// Events that it has not taken yet.
    pub waiting: i64,
    /// Of these, those that it refused at least once. Each holds back what came later of its resource.
    pub refused: i64,
    #[serde(serialize_with = "clock::as_utc_or_null")]
    pub oldest_at: Option<Micros>,
    #[serde(serialize_with = "clock::as_utc_or_null")]
    pub paused_until: Option<Micros>,
    /// Why nothing is delivered; empty while all goes well.
    pub reason: String,
    pub delivered: i64,
    #[serde(serialize_with = "clock::as_utc_or_null")]
    pub delivered_at: Option<Micros>,
    /// Events that were dropped: too old, or too many waited.
    pub lost: i64,
}

/// # Errors
/// Of the store.
pub async fn show(app: &App) -> Result<WebhookView> {
    let config = app.config.get();
    let webhook = &config.notify.webhook;
    let (state, waiting) = (app.store.webhook_state().await?, app.store.webhook_waiting(0).await?);
    let paused_until = Some(state.paused_until).filter(|until| *until > clock::now());
    Ok(WebhookView {
        state: if !webhook.is_on() {
            "off"
        } else if paused_until.is_some() {
            "paused"
        } else {
            "ok"
        },
        url: webhook.url.split('?').next().unwrap_or_default().to_owned(),
        waiting: waiting.waiting,
        refused: waiting.refused,
        oldest_at: waiting.oldest_at,
        paused_until,
        reason: state.reason,
        delivered: state.delivered,
        delivered_at: state.delivered_at,
        lost: state.lost,
    })
}
