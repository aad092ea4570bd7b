//! Tokens of the built-in identity that have expired are deleted. They are refused from the moment they expire, whether their
//! rows are still there or not.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use futures::future::BoxFuture;

use super::Reconciler;
use crate::{app::App, error::Result};

/// The loop.
pub struct ForgetTokens {
    app: Weak<App>,
}

impl ForgetTokens {
    pub fn new(app: &Arc<App>) -> Self {
        Self { app: Arc::downgrade(app) }
    }
}

impl Reconciler for ForgetTokens {
    fn name(&self) -> &'static str {
        "forget-tokens"
    }

    fn every(&self) -> Duration {
        Duration::from_secs(300)
    }

    fn is_duty(&self) -> bool {
        true
    }

    fn run<'a>(&'a self) -> BoxFuture<'a, Result<String>> {
        Box::pin(async move {
            let Some(identity) = self.app.upgrade().and_then(|app| app.identity.clone()) else { return Ok(String::new()) };
            let mut gone = 0;
            loop {
                let batch = identity.purge_expired().await?;
                gone += batch;
                if batch == 0 {
                    break;
                }
            }
            Ok(if gone == 0 { String::new() } else { format!("{gone} expired tokens deleted") })
        })
    }
}
