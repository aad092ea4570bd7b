//! Rules that no single value's type can express. Each finding points at the value it is about.

mod network;

use std::{collections::HashMap, ops::Range, time::Duration};

use toml::de::{DeTable, DeValue};

use super::{
    BackendConfig, CatalogService, Config, Finding, IdentityMode, QuotaConfig, ShareConfig, UNLIMITED, WebhookConfig, duration, filters,
};
use crate::{driver::portals::Portal, scheduler::formula::Formula, wasm::engine::MAX_MEMORY};

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
    check.ranges(config);
    check.quota(&config.quota);
    check.limits(config);
    check.network(&config.network);
    check.webhook(&config.notify.webhook);
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
        for (n, service) in identity.services.iter().enumerate() {
            if !is_base_url(&service.url) {
                self.refuse(
                    &[Key("identity"), Key("service"), Index(n), Key("url")],
                    format!("{:?} is no http(s) URL", service.url),
                    "write it as clients shall see it, such as \"http://network.example.org:9696\"",
                );
            }
            let ours = CatalogService::OURS.contains(&service.kind.as_str());
            if ours || service.kind.is_empty() || identity.services[..n].iter().any(|other| other.kind == service.kind) {
                self.refuse(
                    &[Key("identity"), Key("service"), Index(n), Key("type")],
                    format!("the catalog has a service of the type {:?} already, or the type is empty", service.kind),
                    "give each service a type of its own, such as \"network\"",
                );
            }
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
    }

    /// Durations and numbers outside of what makes sense, by the same few words.
    fn ranges(&mut self, config: &Config) {
        let Config { listen, database, identity, jobs, scheduler, block, share, copy, drivers, .. } = config;
        let (second, minute, hour, year) = (ms(1000), ms(60_000), ms(3_600_000), ms(365 * 86_400_000));
        for (section, key, value, min, max) in [
            ("listen", "header_timeout", listen.header_timeout, ms(100), hour),
            ("listen", "shutdown_grace", listen.shutdown_grace, Duration::ZERO, hour),
            ("database", "acquire_timeout", database.acquire_timeout, ms(100), hour),
            ("identity", "token_ttl", identity.token_ttl, second, year),
            ("identity", "failed_login_window", identity.failed_login_window, second, year),
            ("jobs", "lease", jobs.lease, second, hour),
            ("jobs", "poll", jobs.poll, ms(10), hour),
            ("jobs", "max_age", jobs.max_age, second, year),
            ("jobs", "wait", jobs.wait, ms(100), hour),
            ("jobs", "tombstone_age", jobs.tombstone_age, minute, year * 10),
            ("scheduler", "report_interval", scheduler.report_interval, ms(100), year),
            ("scheduler", "explain_age", scheduler.explain_age, second, year * 10),
            ("share", "soft_deleted_share_retention", share.soft_deleted_share_retention, Duration::ZERO, year * 10),
            ("share", "unused_share_server_cleanup_interval", share.unused_share_server_cleanup_interval, Duration::ZERO, year),
            ("copy", "stall", copy.stall, ms(100), hour * 24),
            ("copy", "max_age", copy.max_age, minute, year),
            ("drivers", "settle", drivers.settle, ms(10), minute),
        ] {
            self.duration(&[Key(section), Key(key)], value, min, max);
        }
        let keystone = &identity.keystone;
        self.duration(&[Key("identity"), Key("keystone"), Key("timeout")], keystone.timeout, ms(100), minute * 5);
        for (section, key, value, min, max) in [
            ("listen", "max_connections", listen.max_connections as u64, 1, 1_000_000),
            ("database", "max_connections", u64::from(database.max_connections), 2, 10_000),
            ("jobs", "concurrency", jobs.concurrency as u64, 1, 10_000),
            ("scheduler", "reserved_percentage", u64::from(scheduler.reserved_percentage), 0, 100),
            ("scheduler", "max_attempts", u64::from(scheduler.max_attempts), 1, 100),
            ("block", "osapi_max_limit", u64::from(block.osapi_max_limit), 1, 10_000),
            ("share", "osapi_max_limit", u64::from(share.osapi_max_limit), 1, 10_000),
            ("copy", "bandwidth_mib", u64::from(copy.bandwidth_mib), 0, 1 << 20),
            ("copy", "concurrency", copy.concurrency as u64, 1, 1000),
            ("drivers", "max_instances", u64::from(drivers.max_instances), 1, 4096),
        ] {
            self.number(&[Key(section), Key(key)], value, min, max);
        }
        let argon2 = &identity.argon2;
        for (key, value, max) in [
            ("memory_kib", u64::from(argon2.memory_kib), 4 << 20),
            ("iterations", u64::from(argon2.iterations), 1000),
            ("concurrency", argon2.concurrency as u64, 1024),
        ] {
            self.number(&[Key("identity"), Key("argon2"), Key(key)], value, 1, max);
        }
    }

    fn duration(&mut self, path: &[Step], value: Duration, min: Duration, max: Duration) {
        if value < min || value > max {
            let (value, min, max) = (duration::text(value), duration::text(min), duration::text(max));
            self.refuse(path, format!("{value:?} is outside of what makes sense here"), format!("use {min:?} to {max:?}"));
        }
    }

    fn number(&mut self, path: &[Step], value: u64, min: u64, max: u64) {
        if value < min || value > max {
            self.refuse(path, format!("{value} is outside of what makes sense here"), format!("use {min} to {max}"));
        }
    }

    fn quota(&mut self, quota: &QuotaConfig) {
        for (key, limit) in [
            ("volumes", quota.volumes),
            ("snapshots", quota.snapshots),
            ("gigabytes", quota.gigabytes),
            ("per_volume_gigabytes", quota.per_volume_gigabytes),
            ("backups", quota.backups),
            ("backup_gigabytes", quota.backup_gigabytes),
            ("groups", quota.groups),
        ] {
            if limit < -1 {
                self.refuse(&[Key("quota"), Key(key)], format!("{limit} is no limit"), "use 0 or more, or -1 for no limit");
            }
        }
        let share = &quota.share;
        for (key, limit) in [
            ("shares", share.shares),
            ("gigabytes", share.gigabytes),
            ("per_share_gigabytes", share.per_share_gigabytes),
            ("snapshots", share.snapshots),
            ("snapshot_gigabytes", share.snapshot_gigabytes),
            ("share_networks", share.share_networks),
            ("share_groups", share.share_groups),
            ("share_group_snapshots", share.share_group_snapshots),
            ("share_replicas", share.share_replicas),
            ("replica_gigabytes", share.replica_gigabytes),
            ("backups", share.backups),
            ("backup_gigabytes", share.backup_gigabytes),
            ("encryption_keys", share.encryption_keys),
        ] {
            if limit < -1 {
                self.refuse(&[Key("quota"), Key("share"), Key(key)], format!("{limit} is no limit"), "use 0 or more, or -1 for no limit");
            }
        }
    }

    fn limits(&mut self, config: &Config) {
        let ratio = config.scheduler.max_over_subscription_ratio;
        if !(1.0..=1_000_000.0).contains(&ratio) {
            self.refuse(
                &[Key("scheduler"), Key("max_over_subscription_ratio")],
                format!("{ratio} is no ratio of virtual to physical capacity"),
                "use 1.0 (nothing is over-subscribed) or more",
            );
        }
        let scheduler = &config.scheduler;
        for (key, weight) in [
            ("capacity_weight", scheduler.capacity_weight),
            ("allocated_capacity_weight", scheduler.allocated_capacity_weight),
            ("volume_number_weight", scheduler.volume_number_weight),
            ("goodness_weight", scheduler.goodness_weight),
        ] {
            if !weight.is_finite() {
                self.refuse(&[Key("scheduler"), Key(key)], "no pool could be weighed with it", "use a number such as 1.0 or -1.0");
            }
        }
        if config.identity.region.is_empty() {
            self.refuse(
                &[Key("identity"), Key("region")],
                "endpoints without a region are found by no client",
                "use a name such as \"RegionOne\"",
            );
        }
        if config.block.default_availability_zone.is_empty() {
            self.refuse(&[Key("block"), Key("default_availability_zone")], "a volume must be in some zone", "use a name such as \"nova\"");
        }
        for resource in config.block.resource_filters.keys() {
            if !filters::DEFAULT.iter().any(|(known, _)| known == resource) {
                let known: Vec<&str> = filters::DEFAULT.iter().map(|(r, _)| *r).collect();
                self.refuse(
                    &[Key("block"), Key("resource_filters")],
                    format!("there is no list of {resource:?}"),
                    format!("use one of {}", known.join(", ")),
                );
            }
        }
        for (n, protocol) in config.share.enabled_share_protocols.iter().enumerate() {
            if !ShareConfig::PROTOCOLS.iter().any(|p| p.eq_ignore_ascii_case(protocol)) {
                self.refuse(
                    &[Key("share"), Key("enabled_share_protocols"), Index(n)],
                    format!("there is no share protocol {protocol:?}"),
                    format!("use some of {}", ShareConfig::PROTOCOLS.join(", ")),
                );
            }
        }
        if let Err(e) = config.log.level.parse::<tracing_subscriber::EnvFilter>() {
            self.refuse(
                &[Key("log"), Key("level")],
                format!("{:?} is no log level: {e}", config.log.level),
                "use error, warn, info, debug or trace",
            );
        }
    }

    fn webhook(&mut self, webhook: &WebhookConfig) {
        let at = |key| [Key("notify"), Key("webhook"), Key(key)];
        if webhook.is_on() {
            if !is_receiver(&webhook.url) {
                // not repeated: it may have a password in it
                self.refuse(
                    &at("url"),
                    "this is no http(s) URL, or has a user in it",
                    "write it like \"https://events.example.org/stowage\"",
                );
            }
            if webhook.secret.expose().is_empty() {
                let why = "a receiver could not tell our events from anybody's";
                self.refuse(&at("url"), why, "set notify.webhook.secret, which the receiver knows, too");
            }
        }
        for (n, pattern) in webhook.events.iter().enumerate() {
            let plain = pattern.strip_suffix('*').unwrap_or(pattern);
            if pattern.is_empty() || !plain.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c)) {
                self.refuse(
                    &[Key("notify"), Key("webhook"), Key("events"), Index(n)],
                    format!("{pattern:?} is no event, and no beginning of some"),
                    "write \"volume.create.end\", or \"volume.*\" for all that begin so",
                );
            }
        }
        self.duration(&at("timeout"), webhook.timeout, ms(100), ms(60_000));
        self.duration(&at("max_age"), webhook.max_age, ms(60_000), ms(365 * 86_400_000));
        self.number(&at("concurrency"), webhook.concurrency as u64, 1, 100);
        self.number(&at("max_backlog"), u64::from(webhook.max_backlog), 1, 10_000_000);
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
        for (key, function) in [("filter_function", &backend.filter_function), ("goodness_function", &backend.goodness_function)] {
            if function.is_empty() {
                continue;
            }
            if let Err(e) = Formula::parse(function) {
                self.refuse(
                    &at(key),
                    format!("the function cannot be read: {e}"),
                    "write it like \"stats.free_capacity_gb >= volume.size * 2\"",
                );
            }
        }
        for (key, limit) in
            [("max_shares_per_share_server", backend.max_shares_per_share_server), ("max_share_server_size", backend.max_share_server_size)]
        {
            if limit < 1 && limit != UNLIMITED {
                self.refuse(&at(key), format!("a share server cannot be limited to {limit}"), "write 1 or more, or -1 for no limit");
            }
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
        for portal in backend.grants.portals.iter().filter(|p| p.parse::<Portal>().is_err()) {
            self.refuse(
                &[Key("backend"), Index(n), Key("grants"), Key("portals")],
                format!("{portal:?} is no portal"),
                "write \"192.0.2.7:3260\", or a network like \"192.0.2.0/24\"",
            );
        }
        let grants = &backend.grants;
        let at = |key| [Key("backend"), Index(n), Key("grants"), Key(key)];
        self.number(&at("memory_mib"), u64::from(grants.memory_mib), 1, MAX_MEMORY as u64 >> 20);
        self.number(&at("concurrency"), grants.concurrency as u64, 1, 10_000);
        self.number(&at("kv_mib"), u64::from(grants.kv_mib), 0, 1 << 20);
        self.duration(&at("call_timeout"), grants.call_timeout, ms(10), ms(86_400_000));
    }
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn plain_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

fn is_base_url(text: &str) -> bool {
    url::Url::parse(text)
        .is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host() && u.query().is_none() && u.username().is_empty())
}

/// May have a query: some receivers know their senders by it.
fn is_receiver(text: &str) -> bool {
    url::Url::parse(text)
        .is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host() && u.username().is_empty() && u.password().is_none())
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
