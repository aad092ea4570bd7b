//! Rules that no single value's type can express. Each finding points at the value it is about.

use std::{collections::HashMap, ops::Range, time::Duration};

use toml::de::{DeTable, DeValue};

use super::{BackendConfig, Config, Finding, IdentityMode};

/// A step on the way to a value: a key, or an index of an array.
#[derive(Debug, Clone, Copy)]
enum Step {
    Key(&'static str),
    Index(usize),
}
use Step::{Index, Key};

struct Check<'a> {
    text: &'a str,
    findings: Vec<Finding>,
}

/// Every rule that `config` breaks.
pub(super) fn check(text: &str, config: &Config) -> Vec<Finding> {
    let mut check = Check { text, findings: Vec::new() };
    check.host(config);
    check.listeners(config);
    check.identity(config);
    check.limits(config);
    for (n, backend) in config.backends.iter().enumerate() {
        check.backend(n, backend, config);
    }
    check.findings
}

impl Check<'_> {
    fn refuse(&mut self, path: &[Step], message: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(Finding::at(self.text, locate(self.text, path), message, remedy));
    }

    fn host(&mut self, config: &Config) {
        if !plain_name(&config.host) {
            self.refuse(
                &[Key("host")],
                format!("host {:?} cannot stand in host@backend#pool", config.host),
                "use letters, digits, '.', '_' and '-'",
            );
        }
    }

    fn listeners(&mut self, config: &Config) {
        let listen = &config.listen;
        let all = [("identity", listen.identity), ("block", listen.block), ("share", listen.share), ("admin", listen.admin)];
        let mut taken = HashMap::new();
        for (name, bind) in all {
            let Some(address) = bind.0 else { continue };
            if let Some(other) = taken.insert(address, name).filter(|_| address.port() != 0) {
                self.refuse(
                    &[Key("listen"), Key(name)],
                    format!("{address} is also where {other} listens"),
                    "give each service a port of its own, or \"\" to turn it off",
                );
            }
        }
        let urls = &config.public_url;
        for (name, url) in [("identity", &urls.identity), ("block", &urls.block), ("share", &urls.share), ("admin", &urls.admin)] {
            if !url.is_empty() && !is_base_url(url) {
                self.refuse(
                    &[Key("public_url"), Key(name)],
                    format!("{url:?} is no http(s) URL"),
                    "write scheme, host and port, such as \"https://cloud.example.org:8776\"",
                );
            }
        }
    }

    fn identity(&mut self, config: &Config) {
        let identity = &config.identity;
        if identity.mode == IdentityMode::Keystone {
            let keystone = &identity.keystone;
            if keystone.url.is_empty() {
                self.refuse(&[Key("identity"), Key("mode")], "mode \"keystone\" needs to know the Keystone", "set identity.keystone.url");
            } else if !is_base_url(&keystone.url) {
                self.refuse(
                    &[Key("identity"), Key("keystone"), Key("url")],
                    format!("{:?} is no http(s) URL", keystone.url),
                    "write it like \"https://keystone.example.org/v3\"",
                );
            }
            if keystone.username.is_empty() || !keystone.password.is_set() {
                self.refuse(
                    &[Key("identity"), Key("mode")],
                    "mode \"keystone\" needs a service user",
                    "set identity.keystone.username and password",
                );
            }
        }
        if identity.keystone.cache_ttl > Duration::from_secs(300) {
            self.refuse(
                &[Key("identity"), Key("keystone"), Key("cache_ttl")],
                "a revoked token would be believed too long",
                "use at most \"5m\"",
            );
        }
        if identity.token_ttl < Duration::from_secs(1) {
            self.refuse(&[Key("identity"), Key("token_ttl")], "tokens would be expired when they arrive", "use \"1s\" or more");
        }
        let argon2 = &identity.argon2;
        let built = argon2::Params::new(argon2.memory_kib, argon2.iterations, argon2.parallelism, None);
        if let Err(e) = built {
            self.refuse(
                &[Key("identity"), Key("argon2")],
                format!("argon2 refuses these parameters: {e}"),
                "memory_kib must be at least 8 times parallelism",
            );
        }
        if argon2.concurrency == 0 {
            self.refuse(&[Key("identity"), Key("argon2"), Key("concurrency")], "no password could ever be checked", "use 1 or more");
        }
    }

    fn limits(&mut self, config: &Config) {
        if config.jobs.lease < Duration::from_secs(1) {
            self.refuse(&[Key("jobs"), Key("lease")], "the lease is too short to be renewed", "use \"1s\" or more");
        }
        if config.jobs.concurrency == 0 {
            self.refuse(&[Key("jobs"), Key("concurrency")], "no job could ever run", "use 1 or more, or jobs.work = false");
        }
        if config.database.max_connections < 2 {
            self.refuse(&[Key("database"), Key("max_connections")], "one connection is not enough", "use 2 or more");
        }
        if config.block.osapi_max_limit == 0 {
            self.refuse(&[Key("block"), Key("osapi_max_limit")], "lists would always be empty", "use 1 or more");
        }
        if config.listen.max_connections == 0 {
            self.refuse(&[Key("listen"), Key("max_connections")], "nobody could connect", "use 1 or more");
        }
        if config.scheduler.reserved_percentage > 100 {
            self.refuse(&[Key("scheduler"), Key("reserved_percentage")], "more than all cannot be reserved", "use 0 to 100");
        }
        if config.scheduler.max_over_subscription_ratio < 1.0 {
            self.refuse(
                &[Key("scheduler"), Key("max_over_subscription_ratio")],
                "a ratio below 1 would leave room unused",
                "use 1.0 or more",
            );
        }
        if let Err(e) = config.log.level.parse::<tracing_subscriber::EnvFilter>() {
            self.refuse(
                &[Key("log"), Key("level")],
                format!("{:?} is no log level: {e}", config.log.level),
                "use error, warn, info, debug or trace",
            );
        }
    }

    fn backend(&mut self, n: usize, backend: &BackendConfig, config: &Config) {
        let at = |key| [Key("backend"), Index(n), Key(key)];
        if !plain_name(&backend.name) {
            self.refuse(
                &at("name"),
                format!("back end name {:?} cannot stand in host@backend#pool", backend.name),
                "use letters, digits, '.', '_' and '-'",
            );
        } else if config.backends.iter().take(n).any(|b| b.name == backend.name) {
            self.refuse(&at("name"), format!("there are two back ends {:?}", backend.name), "give each a name of its own");
        }
        if !plain_name(&backend.driver) {
            self.refuse(
                &at("driver"),
                format!("{:?} is no driver name", backend.driver),
                "name the driver's file in the plugin folder, without \".wasm\"",
            );
        }
        for authority in &backend.grants.http {
            if !is_authority(authority) {
                self.refuse(
                    &[Key("backend"), Index(n), Key("grants"), Key("http")],
                    format!("{authority:?} is no host:port"),
                    "write \"array.example.org:443\", without scheme or path",
                );
            }
        }
        let grants = &backend.grants;
        if grants.memory_mib == 0 || grants.memory_mib > 4096 {
            self.refuse(
                &[Key("backend"), Index(n), Key("grants"), Key("memory_mib")],
                "a driver instance has between 1 MiB and 4 GiB",
                "use 1 to 4096",
            );
        }
        if grants.concurrency == 0 || grants.call_timeout.is_zero() {
            self.refuse(
                &[Key("backend"), Index(n), Key("grants")],
                "the driver could never be called",
                "set concurrency and call_timeout above zero, or enabled = false",
            );
        }
    }
}

fn plain_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn is_base_url(text: &str) -> bool {
    url::Url::parse(text)
        .is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host() && u.query().is_none() && u.username().is_empty())
}

fn is_authority(text: &str) -> bool {
    http::uri::Authority::try_from(text).is_ok_and(|a| !a.host().is_empty() && !text.contains('@'))
}

/// The place of the value, or of its nearest ancestor that stands in the file.
fn locate(text: &str, path: &[Step]) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut span = None;
    let mut at: Option<&DeValue<'_>> = None;
    for step in path {
        let next = match (step, at) {
            (Key(k), None) => table.get_ref().get(*k),
            (Key(k), Some(DeValue::Table(t))) => t.get(*k),
            (Index(n), Some(DeValue::Array(a))) => a.get(*n),
            _ => None,
        };
        let Some(next) = next else { break };
        span = Some(next.span());
        at = Some(next.get_ref());
    }
    span
}
