//! `[listen]` and `[public_url]`: where the four services listen, and how clients reach them.

use std::{fmt, net::SocketAddr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::duration;

/// `[listen]`. An empty address turns a service off in this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListenConfig {
    /// Identity (Keystone v3 subset), `identity.mode = "builtin"` only.
    pub identity: Bind,
    /// Block storage (Cinder v3).
    pub block: Bind,
    /// Shared file systems (Manila v2).
    pub share: Bind,
    /// `/stowage/v1`, `/healthz`, `/metrics`.
    pub admin: Bind,
    /// Longest time a connection may take to send a request's headers, or stand idle between two requests.
    #[serde(with = "duration")]
    pub header_timeout: Duration,
    /// Most open connections a service has; more wait in the kernel's queue.
    pub max_connections: usize,
    /// How long requests and jobs in flight may go on after SIGTERM.
    #[serde(with = "duration")]
    pub shutdown_grace: Duration,
}

impl Default for ListenConfig {
    fn default() -> Self {
        Self {
            identity: Bind::loopback(5000),
            block: Bind::loopback(8776),
            share: Bind::loopback(8786),
            admin: Bind::loopback(8790),
            header_timeout: Duration::from_secs(60),
            max_connections: 4096,
            shutdown_grace: Duration::from_secs(30),
        }
    }
}

/// `[public_url]`. Scheme, host and port that the catalog tells clients; empty: `http://` and the address listened on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PublicUrlConfig {
    pub identity: String,
    pub block: String,
    pub share: String,
    pub admin: String,
}

/// An address to listen on, or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bind(pub Option<SocketAddr>);

impl Bind {
    pub const OFF: Self = Self(None);

    pub fn loopback(port: u16) -> Self {
        Self(Some(SocketAddr::from(([127, 0, 0, 1], port))))
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |a| a.fmt(f))
    }
}

impl Serialize for Bind {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bind {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        if text.is_empty() {
            return Ok(Self::OFF);
        }
        let bad = |_| {
            de::Error::custom(format!(
                "{text:?} is no address to listen on: write IP:PORT such as \"127.0.0.1:8776\" or \"[::]:8776\", or \"\" to turn the service off"
            ))
        };
        text.parse().map(|a| Self(Some(a))).map_err(bad)
    }
}
