//! How much is measured.

use std::time::Duration;

pub struct Scale {
    /// How long each read is repeated.
    pub read: Duration,
    /// Volumes created one at a time, 16 at once, 64 at once.
    pub creates: [(usize, usize); 3],
    /// Attach cycles one at a time, 8 at once.
    pub cycles: [(usize, usize); 2],
    /// The long list.
    pub many: usize,
    /// Shares that are ensured.
    pub shares: usize,
    /// The wait before memory is read.
    pub settle: Duration,
    pub name: &'static str,
}

impl Scale {
    pub fn full() -> Self {
        Self {
            read: Duration::from_secs(4),
            creates: [(1, 100), (16, 800), (64, 1600)],
            cycles: [(1, 200), (8, 800)],
            many: 100_000,
            shares: 50_000,
            settle: Duration::from_secs(5),
            name: "full",
        }
    }
    pub fn quick() -> Self {
        Self {
            read: Duration::from_secs(1),
            creates: [(1, 10), (16, 64), (64, 128)],
            cycles: [(1, 20), (8, 80)],
            many: 20_000,
            shares: 5_000,
            settle: Duration::from_secs(1),
            name: "quick",
        }
    }
}
