//! Where a driver may send its requests.
//!
//! Rules: only a listed `host:port` is dialled; a loopback, link-local, multicast, unspecified or metadata address only
//! when that very address and port stand in the list (private ranges are where storage arrays live, so they pass); a
//! name's addresses are checked by the resolver that the connection itself uses, so the address that was checked is the
//! one dialled and a second answer from the name server changes nothing; every redirect starts again from here.
//! A refusal names the authority and the rule, never the path or a header.

use std::{
    collections::BTreeSet,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
};

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;
use url::{Host, Url};

/// A host as it stands in the allow-list or in a URL, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Destination {
    Address(IpAddr),
    /// Lower case, punycode, no trailing dot.
    Name(String),
}

/// One `host:port`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Authority {
    pub host: Destination,
    pub port: u16,
}

/// Why an allow-list entry is not one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadAuthority {
    #[error("`{0}` has no usable port: write `host:port`, for example `array.example:443`")]
    Port(String),
    #[error("`{0}` is a URL: write only its `host:port`")]
    Url(String),
    #[error("`{0}` is a pattern: list each `host:port` by itself")]
    Pattern(String),
    #[error("`{0}` is not a host name or an IP address in its usual form (IPv6 in brackets: `[2001:db8::7]:443`)")]
    Host(String),
}

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("the URL cannot be read: {0}")]
    BadUrl(String),
    #[error("only http and https are served, not `{0}`")]
    Scheme(String),
    #[error("a URL with a user name or a password is refused: send credentials as headers, by the names of secrets")]
    UserInfo,
    #[error("{0} is not in the back end's `allow` list")]
    NotListed(Authority),
    #[error("{host} leads to {address}, {what}: list `{address}` itself with the port if that is meant")]
    Restricted { host: String, address: IpAddr, what: &'static str },
    #[error("{0} has no address")]
    NoAddress(String),
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Destination::Address(IpAddr::V6(a)) => write!(f, "[{a}]:{}", self.port),
            Destination::Address(a) => write!(f, "{a}:{}", self.port),
            Destination::Name(n) => write!(f, "{n}:{}", self.port),
        }
    }
}

impl FromStr for Authority {
    type Err = BadAuthority;

    /// Parses an allow-list entry, `host:port` or `host` for port 443. Odd spellings of addresses (decimal, octal, hexadecimal) are refused rather than guessed.
    fn from_str(text: &str) -> Result<Self, BadAuthority> {
        let owned = || text.to_owned();
        if text.contains("://") || text.contains('@') {
            return Err(BadAuthority::Url(owned()));
        }
        if text.contains('*') || text.contains('/') {
            return Err(BadAuthority::Pattern(owned()));
        }
        let (host, port) = split_port(text).ok_or_else(|| BadAuthority::Port(owned()))?;
        if let Some(inner) = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| BadAuthority::Host(owned()))?;
            return Ok(Self { host: Destination::Address(IpAddr::V6(address).to_canonical()), port });
        }
        if let Ok(address) = host.parse::<Ipv4Addr>() {
            return Ok(Self { host: Destination::Address(IpAddr::V4(address)), port });
        }
        match Host::parse(host) {
            Ok(Host::Domain(name)) => Ok(Self { host: Destination::Name(plain_name(&name)), port }),
            _ => Err(BadAuthority::Host(owned())),
        }
    }
}

/// Host and port; without a port it is that of https.
fn split_port(text: &str) -> Option<(&str, u16)> {
    let host_only = (text.starts_with('[') && text.ends_with(']')) || !text.contains(':');
    if host_only {
        return Some((text, 443));
    }
    let (host, port) = text.rsplit_once(':')?;
    Some((host, port.parse().ok().filter(|p| *p != 0)?))
}

fn plain_name(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// The listed authorities of one back end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(BTreeSet<Authority>);

impl FromIterator<Authority> for AllowList {
    fn from_iter<I: IntoIterator<Item = Authority>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl AllowList {
    /// Parses the entries of a configuration.
    ///
    /// # Errors
    /// The first entry that is not a `host:port`.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, BadAuthority> {
        entries.iter().map(|e| e.as_ref().parse()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Only what both lists hold.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        self.0.intersection(&other.0).cloned().collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Authority> {
        self.0.iter()
    }

    /// Checks a URL, and returns it in the form to be dialled: without a trailing dot, an IPv4-mapped address as IPv4, no
    /// fragment. The URL parser has already turned decimal, octal and hexadecimal hosts into addresses.
    ///
    /// # Errors
    /// [`Refused`], except for what only the resolver can see.
    pub fn check(&self, url: &str) -> Result<Url, Refused> {
        let mut url = Url::parse(url).map_err(|e| Refused::BadUrl(e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::UserInfo);
        }
        url.set_fragment(None);
        let port = url.port_or_known_default().ok_or_else(|| Refused::BadUrl("no port".to_owned()))?;
        let host = match url.host() {
            Some(Host::Domain(name)) => Destination::Name(plain_name(name)),
            Some(Host::Ipv4(a)) => Destination::Address(IpAddr::V4(a)),
            Some(Host::Ipv6(a)) => Destination::Address(IpAddr::V6(a).to_canonical()),
            None => return Err(Refused::BadUrl("no host".to_owned())),
        };
        let authority = Authority { host, port };
        if !self.0.contains(&authority) {
            return Err(Refused::NotListed(authority));
        }
        let canonical = match &authority.host {
            Destination::Address(a) => url.set_ip_host(*a).is_ok(),
            Destination::Name(n) => url.set_host(Some(n)).is_ok(),
        };
        if canonical { Ok(url) } else { Err(Refused::BadUrl("no host".to_owned())) }
    }

    /// Checks one address that a listed name resolved to. The resolver does not know the port, so a restricted address
    /// passes only when it is listed with every port that the name is listed with.
    ///
    /// # Errors
    /// [`Refused::Restricted`].
    pub fn check_resolved(&self, name: &str, address: IpAddr) -> Result<(), Refused> {
        let address = address.to_canonical();
        let Some(what) = restricted(address) else { return Ok(()) };
        let name = plain_name(name);
        let mut ports = self.0.iter().filter(|a| a.host == Destination::Name(name.clone())).map(|a| a.port).peekable();
        let literal = |port| self.0.contains(&Authority { host: Destination::Address(address), port });
        if ports.peek().is_some() && ports.all(literal) { Ok(()) } else { Err(Refused::Restricted { host: name, address, what }) }
    }
}

/// What kind of address this is, if a name must not lead there.
pub(super) fn restricted(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(a) => restricted_v4(a),
        IpAddr::V6(a) => restricted_v6(a),
    }
}

fn restricted_v4(a: Ipv4Addr) -> Option<&'static str> {
    const METADATA: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
    if a.is_loopback() {
        Some("a loopback address")
    } else if a.is_link_local() {
        Some("a link-local address")
    } else if a.octets()[0] == 0 {
        Some("an unspecified address")
    } else if a.is_multicast() || a.octets()[0] >= 240 {
        Some("a multicast, reserved or broadcast address")
    } else if METADATA.contains(&a) {
        Some("a cloud's metadata address")
    } else {
        None
    }
}

fn restricted_v6(a: Ipv6Addr) -> Option<&'static str> {
    let s = a.segments();
    if a.is_loopback() {
        return Some("a loopback address");
    }
    if a.is_unspecified() {
        return Some("an unspecified address");
    }
    if a.is_multicast() {
        return Some("a multicast address");
    }
    if s[0] & 0xffc0 == 0xfe80 {
        return Some("a link-local address");
    }
    if s == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] {
        return Some("a cloud's metadata address");
    }
    let v4 = |hi: u16, lo: u16| restricted_v4(Ipv4Addr::from((u32::from(hi) << 16) | u32::from(lo)));
    match s {
        // an IPv4 address in disguise: IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64, 6to4
        [0, 0, 0, 0, 0, 0 | 0xffff, hi, lo]
        | [0, 0, 0, 0, 0xffff, 0, hi, lo]
        | [0x64, 0xff9b, 0, 0, 0, 0, hi, lo]
        | [0x2002, hi, lo, ..] => v4(hi, lo),
        _ => None,
    }
}

/// Turns a name into addresses. A seam for tests; the system's resolver serves.
pub trait Lookup: Send + Sync {
    fn lookup<'a>(&'a self, name: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup<'a>(&'a self, name: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|a| a.ip()).collect()) })
    }
}

/// The resolver a back end's HTTP client connects through: what it returns has been checked.
pub struct CheckedResolver {
    list: Arc<AllowList>,
    lookup: Arc<dyn Lookup>,
}

impl CheckedResolver {
    pub fn new(list: Arc<AllowList>, lookup: Arc<dyn Lookup>) -> Self {
        Self { list, lookup }
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (list, lookup, name) = (self.list.clone(), self.lookup.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let found = lookup.lookup(&name).await?;
            let mut refused = None;
            let mut good = Vec::with_capacity(found.len());
            for address in found {
                match list.check_resolved(&name, address) {
                    Ok(()) => good.push(SocketAddr::new(address.to_canonical(), 0)),
                    Err(e) => refused = Some(e),
                }
            }
            if good.is_empty() {
                return Err(refused.unwrap_or(Refused::NoAddress(name)).into());
            }
            Ok(Box::new(good.into_iter()) as Addrs)
        })
    }
}

/// The egress rule inside an HTTP client's error, if that is what stopped it.
pub fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<Refused> {
    let mut next = Some(error);
    while let Some(e) = next {
        if let Some(refused) = e.downcast_ref::<Refused>() {
            return Some(refused.clone());
        }
        next = e.source();
    }
    None
}

#[cfg(test)]
#[path = "egress_tests.rs"]
mod tests;
