//! Time as the store keeps it: microseconds since the Unix epoch, in a `BIGINT` on both databases.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds since the Unix epoch.
pub type Micros = i64;

/// The wall clock. Leases compare the *database's* clock instead (`store::dialect`).
pub fn now() -> Micros {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}

/// A duration in microseconds, saturating.
pub fn micros(d: Duration) -> Micros {
    i64::try_from(d.as_micros()).unwrap_or(i64::MAX)
}

/// `2026-08-21T12:00:00.000000Z`: how our own API, health and the log tell a time.
pub fn utc_text(at: Micros) -> String {
    format!("{}Z", api_text(at))
}

/// For `#[serde(serialize_with)]`: a time as [`utc_text`].
///
/// # Errors
/// The serializer's.
pub fn as_utc<S: serde::Serializer>(at: &Micros, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&utc_text(*at))
}

/// As [`as_utc`], null for none.
///
/// # Errors
/// The serializer's.
pub fn as_utc_or_null<S: serde::Serializer>(at: &Option<Micros>, s: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => as_utc(at, s),
        None => s.serialize_none(),
    }
}

/// `2026-08-21T12:00:00.000000`: the OpenStack APIs' form, microseconds and no zone.
pub fn api_text(at: Micros) -> String {
    jiff::Timestamp::from_microsecond(at).map_or_else(|_| String::new(), |t| t.strftime("%Y-%m-%dT%H:%M:%S.%6f").to_string())
}
