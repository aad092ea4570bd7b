//! How much room a pool has. The two services count differently on purpose (a thin block pool ignores real free space, a
//! thin share pool does not), so each has a module of its own; both are pure.
//!
//! An answer is always an outcome, never a crash: what cannot be computed (everything reserved, a figure missing) does
//! not pass, and says why.

pub mod block;
pub mod share;

use std::{convert::Infallible, fmt, str::FromStr};

use serde_json::{Number, Value};

pub use crate::driver::capability::Capacity;

impl Capacity {
    /// As both APIs show it: a number, `infinite` or `unknown`.
    pub fn json(self) -> Value {
        match self {
            Self::Gib(g) => number(g),
            Self::Infinite => Value::from("infinite"),
            Self::Unknown => Value::from("unknown"),
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gib(g) => write!(f, "{g}"),
            Self::Infinite => f.write_str("infinite"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl FromStr for Capacity {
    type Err = Infallible;
    /// Anything that is no finite number and not `infinite` is unknown.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "infinite" => Self::Infinite,
            _ => text.parse().ok().filter(|g: &f64| g.is_finite()).map_or(Self::Unknown, Self::Gib),
        })
    }
}

impl From<String> for Capacity {
    fn from(text: String) -> Self {
        let Ok(capacity) = text.parse();
        capacity
    }
}

/// How far a thin pool may be promised beyond what it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ratio {
    Fixed(f64),
    /// Follows what is provisioned now (block only; a share pool takes the default).
    Auto,
}

/// The ratio where neither the pool nor the configuration says.
pub const DEFAULT_RATIO: Ratio = Ratio::Fixed(20.0);

impl Default for Ratio {
    fn default() -> Self {
        DEFAULT_RATIO
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(r) => write!(f, "{r}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Ratio {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.parse() {
            Ok(r) if f64::is_finite(r) && r >= 0.0 => Ok(Self::Fixed(r)),
            _ => Err(format!("`{text}` is not an over-subscription ratio: a number, or `auto`")),
        }
    }
}

/// A pool's figures, with the claims that its report does not cover taken off already.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub total: Capacity,
    /// None: the driver left it out, and nothing fits.
    pub free: Option<Capacity>,
    /// None: the driver said null, and nothing fits where it counts.
    pub provisioned: Option<f64>,
    /// Per cent of the total that this request must leave.
    pub reserved: i64,
    /// The pool's own ratio, else the service's option.
    pub ratio: Ratio,
    /// The pool can provision thinly.
    pub thin: bool,
}

/// What a pool's arithmetic says about one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub fits: bool,
    /// GiB that could still be given; none where that is not a number.
    pub room: Option<f64>,
    /// One sentence with the figures.
    pub reason: String,
}

impl Verdict {
    fn yes(room: Option<f64>, reason: impl Into<String>) -> Self {
        Self { fits: true, room, reason: reason.into() }
    }
    fn no(room: Option<f64>, reason: impl Into<String>) -> Self {
        Self { fits: false, room, reason: reason.into() }
    }
}

/// A JSON number, whole where it is whole (clients compare `100` with `100`).
pub fn number(g: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "guarded: whole and far below 2^53")]
    if g.fract() == 0.0 && g.abs() < 9.0e15 {
        return Value::from(g as i64);
    }
    Number::from_f64(g).map_or(Value::Null, Value::Number)
}

/// Sizes are far below 2^52 GiB, where a float still counts every one.
#[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^52 GiB")]
pub(crate) fn float(gib: i64) -> f64 {
    gib as f64
}

fn round2(g: f64) -> f64 {
    (g * 100.0).round() / 100.0
}
