//! The outbox, delivered by one process for all.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;

use super::{Reconciler, Reconcilers, webhook};
use crate::{
    config::Live,
    error::Result,
    notify::{Sink, outbox},
    store::Store,
};

/// The loop.
pub struct Deliver {
    store: Store,
    sinks: Vec<Arc<dyn Sink>>,
    /// What the webhook wants, and its loop.
    webhook: Option<(Live, Reconcilers)>,
}

impl Deliver {
    pub fn new(store: Store, sinks: Vec<Arc<dyn Sink>>) -> Self {
        Self { store, sinks, webhook: None }
    }

    /// It also queues what the webhook of this configuration wants, and wakes its loop among `loops`.
    #[must_use]
    pub fn with_webhook(self, config: Live, loops: Reconcilers) -> Self {
        Self { webhook: Some((config, loops)), ..self }
    }
}

impl Reconciler for Deliver {
    fn name(&self) -> &'static str {
        "outbox"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn is_duty(&self) -> bool {
        true
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let config = self.webhook.as_ref().map(|(config, _)| config.get());
            let delivered = outbox::deliver_to(&self.store, &self.sinks, config.as_ref().map(|c| &c.notify.webhook)).await?;
            if let Some((_, loops)) = self.webhook.as_ref().filter(|_| delivered > 0) {
                loops.kick(webhook::NAME);
            }
            Ok(String::new()) // an event a second is no news
        })
    }
}
