//! The outbox, delivered by one process for all.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use super::Reconciler;
use crate::{
    app::App,
    error::Result,
    notify::{Sink, outbox},
};

/// The loop.
pub struct Deliver {
    sinks: Vec<Arc<dyn Sink>>,
}

impl Deliver {
    pub fn new(sinks: Vec<Arc<dyn Sink>>) -> Self {
        Self { sinks }
    }
}

#[async_trait]
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

    async fn run(&self, app: &Arc<App>) -> Result<String> {
        outbox::deliver_due(&app.store, &self.sinks).await?;
        Ok(String::new()) // an event a second is no news
    }
}
