//! The running configuration, and how a new one takes its place.
//!
//! A reload reads the same source again. Nothing changes unless all of it is good. Sections that cannot change in a running
//! process keep their old values, and the report names them; everything else is published at once: [`Live::get`] sees it,
//! and whoever watches is told.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::{Config, ConfigError, load::Source};

/// The configuration in force. Cheap to clone; all clones see the same.
#[derive(Debug, Clone)]
pub struct Live(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Source,
    current: ArcSwap<Config>,
    changes: watch::Sender<Arc<Config>>,
    /// One reload at a time.
    turn: Mutex<()>,
}

/// What a reload did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reload {
    /// Dotted keys in force now.
    pub changed: Vec<String>,
    /// Dotted keys that differ in the file and need a restart.
    pub needs_restart: Vec<String>,
    pub backends_added: Vec<String>,
    pub backends_changed: Vec<String>,
    pub backends_removed: Vec<String>,
}

/// Keys that a running process cannot change, and all below them.
const FIXED: &[&str] = &[
    "host",
    "state_dir",
    "listen",
    "public_url",
    "database",
    "identity",
    "drivers",
    "log.format",
    "jobs.work",
    "jobs.lease",
    "jobs.concurrency",
    "jobs.poll",
    "jobs.wait",
    "jobs.tombstone_age",
];

/// Whether a running process cannot change this key.
pub(super) fn is_fixed(key: &str) -> bool {
    FIXED.iter().any(|f| key == *f || key.strip_prefix(f).is_some_and(|rest| rest.starts_with('.')))
}

impl Live {
    pub fn new(config: Config, source: Source) -> Self {
        let config = Arc::new(config);
        let (changes, _) = watch::channel(Arc::clone(&config));
        Self(Arc::new(Inner { source, current: ArcSwap::new(config), changes, turn: Mutex::new(()) }))
    }

    /// The configuration in force now. Take it once per use, so that one decision sees one configuration.
    pub fn get(&self) -> Arc<Config> {
        self.0.current.load_full()
    }

    /// Told of every change.
    pub fn subscribe(&self) -> watch::Receiver<Arc<Config>> {
        self.0.changes.subscribe()
    }

    pub fn source(&self) -> &Source {
        &self.0.source
    }

    /// Reads the source again and puts what may change into force.
    ///
    /// # Errors
    /// [`ConfigError`]; then the old configuration stays.
    pub fn reload(&self) -> Result<Reload, ConfigError> {
        let _turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.source.file.is_none() {
            return Ok(Reload::default());
        }
        Ok(self.publish(self.0.source.load()?))
    }

    /// Puts `wanted` into force as far as a running process can.
    pub fn replace(&self, wanted: Config) -> Reload {
        let _turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.publish(wanted)
    }

    fn publish(&self, wanted: Config) -> Reload {
        let old = self.get();
        let mut report = compare(&old, &wanted);
        let new = Arc::new(keep_fixed(&old, wanted));
        if *new == *old {
            report.changed.clear();
            return report;
        }
        self.0.current.store(Arc::clone(&new));
        self.0.changes.send_replace(new);
        report
    }
}

/// `wanted`, with the values of the keys in [`FIXED`] taken from `old`.
fn keep_fixed(old: &Config, wanted: Config) -> Config {
    let mut new = wanted;
    new.host.clone_from(&old.host);
    new.state_dir.clone_from(&old.state_dir);
    new.listen = old.listen.clone();
    new.public_url = old.public_url.clone();
    new.database = old.database.clone();
    new.identity = old.identity.clone();
    new.drivers = old.drivers.clone();
    new.log.format = old.log.format;
    new.jobs.work = old.jobs.work;
    new.jobs.lease = old.jobs.lease;
    new.jobs.concurrency = old.jobs.concurrency;
    new.jobs.poll = old.jobs.poll;
    new.jobs.wait = old.jobs.wait;
    new.jobs.tombstone_age = old.jobs.tombstone_age;
    new
}

fn compare(old: &Config, new: &Config) -> Reload {
    let mut report = Reload::default();
    let (before, after) = (leaves(old), leaves(new));
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for key in keys {
        if before.get(key) != after.get(key) {
            if is_fixed(key) { &mut report.needs_restart } else { &mut report.changed }.push(key.clone());
        }
    }
    // what a serialized secret hides
    let password = "identity.keystone.password";
    if old.identity.keystone.password != new.identity.keystone.password && !report.needs_restart.iter().any(|k| k.starts_with(password)) {
        report.needs_restart.push(password.to_owned());
    }
    if old.database.url != new.database.url && !report.needs_restart.iter().any(|k| k == "database.url") {
        report.needs_restart.push("database.url".to_owned());
    }
    let secret = "notify.webhook.secret";
    if old.notify.webhook.secret != new.notify.webhook.secret && !report.changed.iter().any(|k| k.starts_with(secret)) {
        report.changed.push(secret.to_owned());
    }
    let find = |config: &Config, name: &str| config.backends.iter().find(|b| b.name == name).cloned();
    for backend in &new.backends {
        match find(old, &backend.name) {
            None => report.backends_added.push(backend.name.clone()),
            Some(was) if was != *backend => report.backends_changed.push(backend.name.clone()),
            Some(_) => {}
        }
    }
    report.backends_removed = old.backends.iter().filter(|b| find(new, &b.name).is_none()).map(|b| b.name.clone()).collect();
    report
}

/// Dotted keys with their values; back ends are compared apart.
pub(super) fn leaves(config: &Config) -> BTreeMap<String, Value> {
    fn walk(prefix: &str, value: Value, into: &mut BTreeMap<String, Value>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                    walk(&path, value, into);
                }
            }
            leaf => {
                into.insert(prefix.to_owned(), leaf);
            }
        }
    }
    let mut all = BTreeMap::new();
    if let Ok(Value::Object(mut members)) = serde_json::to_value(config) {
        members.remove("backend");
        walk("", Value::Object(members), &mut all);
    }
    all
}
