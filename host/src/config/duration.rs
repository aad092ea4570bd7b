//! Durations as people write them: `"500ms"`, `"30s"`, `"1h 30m"`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de};

/// # Errors
/// The serializer's own.
pub fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&text(*d))
}

/// # Errors
/// Says how to write a duration.
pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(d)?;
    parse(&text).ok_or_else(|| {
        de::Error::custom(format!("{text:?} is no duration: write a number and a unit, such as \"500ms\", \"30s\", \"5m\" or \"2h\""))
    })
}

/// None for what is no duration, or a negative one.
pub fn parse(text: &str) -> Option<Duration> {
    Duration::try_from(text.parse::<jiff::SignedDuration>().ok()?).ok()
}

/// The form that [`parse`] reads.
pub fn text(d: Duration) -> String {
    jiff::SignedDuration::try_from(d).map_or_else(|_| format!("{}s", d.as_secs()), |d| format!("{d:#}"))
}
