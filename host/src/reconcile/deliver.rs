//! The outbox, delivered by one process for all.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{
    error::Result,
    notify::{Sink, outbox},
    store::Store,
};

/// The loop.
pub struct Deliver {
    store: Store,
    sinks: Vec<Arc<dyn Sink>>,
}

impl Deliver {
    pub fn new(store: Store, sinks: Vec<Arc<dyn Sink>>) -> Self {
        Self { store, sinks }
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
            outbox::deliver_due(&self.store, &self.sinks).await?;
            Ok(String::new()) // an event a second is no news
        })
    }
}
