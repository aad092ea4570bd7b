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

/// `2026-08-21T12:00:00.000000`: the APIs' form, microseconds and no zone.
pub fn api_text(at: Micros) -> String {
    jiff::Timestamp::from_microsecond(at).map_or_else(|_| String::new(), |t| t.strftime("%Y-%m-%dT%H:%M:%S.%6f").to_string())
}
