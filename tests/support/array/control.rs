//! The test's hand on an array, whether it is a task or a process.

use std::{collections::BTreeMap, time::Duration};

use anyhow::ensure;
use reqwest::{Client, Method};
use serde::{Serialize, de::DeserializeOwned};

use super::{Call, Fault, Object};

#[derive(Debug, Clone)]
pub struct Control {
    pub url: String,
    client: Client,
}

/// Objects by kind and id.
pub type Objects = BTreeMap<String, BTreeMap<String, Object>>;

impl Control {
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), client: Client::new() }
    }

    /// Every object call so far, in the order in which they were done.
    pub async fn calls(&self) -> anyhow::Result<Vec<Call>> {
        self.read("calls").await
    }

    /// Calls that changed something, or tried to.
    pub async fn changes(&self) -> anyhow::Result<Vec<Call>> {
        Ok(self.calls().await?.into_iter().filter(|c| c.method != "GET").collect())
    }

    /// What the array holds now.
    pub async fn objects(&self) -> anyhow::Result<Objects> {
        self.read("objects").await
    }

    /// The ids of one kind.
    pub async fn ids(&self, kind: &str) -> anyhow::Result<Vec<String>> {
        Ok(self.objects().await?.remove(kind).unwrap_or_default().into_keys().collect())
    }

    /// The array loses every object of a kind, by no call of the driver's.
    pub async fn lose(&self, kind: &str) -> anyhow::Result<()> {
        self.send::<()>(Method::DELETE, &format!("objects/{kind}"), None).await
    }

    /// Disturbs the next matching calls.
    pub async fn fault(&self, fault: Fault) -> anyhow::Result<()> {
        self.send(Method::POST, "faults", Some(&fault)).await
    }

    pub async fn clear_faults(&self) -> anyhow::Result<()> {
        self.send::<()>(Method::DELETE, "faults", None).await
    }

    /// Waits until `count` calls are held by [`Action::HoldCall`](super::Action::HoldCall) or [`Action::HoldAnswer`](super::Action::HoldAnswer).
    pub async fn wait_held(&self, count: usize, within: Duration) -> anyhow::Result<()> {
        let path = format!("held?at_least={count}&milliseconds={}", within.as_millis());
        self.send::<()>(Method::GET, &path, None).await
    }

    /// Lets every held call go on.
    pub async fn release(&self) -> anyhow::Result<()> {
        self.send::<()>(Method::POST, "release", None).await
    }

    /// Forgets every log-in: the next call of each driver is answered 401.
    pub async fn expire_sessions(&self) -> anyhow::Result<()> {
        self.send::<()>(Method::POST, "expire-sessions", None).await
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        Ok(self.client.get(format!("{}/control/{path}", self.url)).send().await?.error_for_status()?.json().await?)
    }

    async fn send<T: Serialize>(&self, method: Method, path: &str, body: Option<&T>) -> anyhow::Result<()> {
        let mut request = self.client.request(method, format!("{}/control/{path}", self.url));
        if let Some(body) = body {
            request = request.json(body);
        }
        let status = request.send().await?.status();
        ensure!(status.is_success(), "the array's control answered {status} to {path}");
        Ok(())
    }
}
