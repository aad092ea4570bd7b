//! `[notify]`

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Secret, duration};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotifyConfig {
    pub webhook: WebhookConfig,
}

/// `[notify.webhook]`: where events are posted, beside the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookConfig {
    /// Empty: off.
    pub url: String,
    /// What each request is signed with; both ends know it.
    pub secret: Secret,
    /// Which events, such as `volume.create.end` or `share.*`. Empty: all.
    pub events: Vec<String>,
    /// What signs the receiver's certificate, PEM. Empty: the system's roots.
    pub ca_file: PathBuf,
    /// How long the receiver has for its answer.
    #[serde(with = "duration")]
    pub timeout: Duration,
    /// Requests at once; the events of one resource go one after another.
    pub concurrency: usize,
    /// Most events that wait. When there are more, the oldest are dropped, and the receiver is told.
    pub max_backlog: u32,
    /// How long an event waits for a receiver that does not take it.
    #[serde(with = "duration")]
    pub max_age: Duration,
}

impl WebhookConfig {
    pub fn is_on(&self) -> bool {
        !self.url.is_empty()
    }

    /// Whether events of this type are posted.
    pub fn wants(&self, event_type: &str) -> bool {
        self.is_on() && (self.events.is_empty() || self.events.iter().any(|pattern| matches(pattern, event_type)))
    }
}

fn matches(pattern: &str, event_type: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => event_type.starts_with(start),
        None => event_type == pattern,
    }
}

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            secret: Secret::default(),
            events: Vec::new(),
            ca_file: PathBuf::new(),
            timeout: Duration::from_secs(10),
            concurrency: 4,
            max_backlog: 100_000,
            max_age: Duration::from_secs(3 * 24 * 3600),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_chosen_by_name_or_by_their_beginning() {
        let of = |events: &[&str]| WebhookConfig {
            url: "http://receiver".to_owned(),
            events: events.iter().map(|e| (*e).to_owned()).collect(),
            ..WebhookConfig::default()
        };
        assert!(of(&[]).wants("volume.create.end"));
        assert!(of(&["volume.*"]).wants("volume.create.end"));
        assert!(of(&["share.*", "volume.create.end"]).wants("volume.create.end"));
        assert!(!of(&["volume.create"]).wants("volume.create.end"));
        assert!(!of(&["share.*"]).wants("volume.create.end"));
        assert!(!WebhookConfig::default().wants("volume.create.end"), "off");
    }
}
