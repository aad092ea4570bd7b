//! The webhook's queue, posted by one process for all.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{
    config::{Live, WebhookConfig},
    error::{Error, Result, chain},
    notify::webhook::{self, Sender},
    store::Store,
    telemetry::health::{Health, Status},
};

/// What health and the loop are called.
pub const NAME: &str = "webhook";

/// The loop.
pub struct Webhook {
    store: Store,
    config: Live,
    health: Health,
    /// Made for the configuration that it holds.
    sender: Mutex<Option<Arc<Sender>>>,
}

impl Webhook {
    pub fn new(store: Store, config: Live, health: Health) -> Self {
        Self { store, config, health, sender: Mutex::new(None) }
    }

    /// The sender for the configuration in force. A changed one is tried at once, whatever the pause.
    async fn sender(&self, wanted: &WebhookConfig, host: &str) -> Result<Arc<Sender>> {
        let had = self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(sender) = &had
            && sender.config() == wanted
        {
            return Ok(Arc::clone(sender));
        }
        let made = Arc::new(Sender::new(wanted, host).map_err(|e| Error::internal(chain(&e)))?);
        if had.is_some() {
            let mut tx = self.store.begin().await?;
            tx.webhook_pause(0).await?;
            tx.webhook_all_due().await?;
            tx.commit().await?;
        }
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&made));
        Ok(made)
    }

    async fn post(&self) -> Result<String> {
        let config = self.config.get();
        let wanted = &config.notify.webhook;
        let (waiting, dropped) = webhook::trim(&self.store, wanted).await?;
        metrics::gauge!("stowage_webhook_waiting").set(waiting as f64);
        if dropped > 0 {
            tracing::error!(dropped, "events that the webhook did not take were dropped");
        }
        if !wanted.is_on() {
            self.health.forget(NAME);
            return Ok(String::new()); // what waits is kept for as long as it may: it may be on again soon
        }
        let sender = self.sender(wanted, &config.host).await.inspect_err(|e| self.troubled(waiting, &e.to_string()))?;
        let round = webhook::round(&self.store, &sender).await?;
        match round.trouble {
            None => self.health.ok(NAME),
            Some(why) => self.troubled(waiting, &why),
        }
        Ok(String::new())
    }

    fn troubled(&self, waiting: i64, why: &str) {
        self.health.set(NAME, Status::Degraded, format!("{why}; {waiting} events wait"));
    }
}

impl Reconciler for Webhook {
    fn name(&self) -> &'static str {
        NAME
    }

    fn every(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn is_duty(&self) -> bool {
        true
    }

    fn holds_duty(&self) -> Duration {
        webhook::longest_round(&self.config.get().notify.webhook)
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(self.post())
    }
}
