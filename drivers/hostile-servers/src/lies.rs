//! The lies, each made of an honest answer.

use stowage_driver_sdk::prelude::*;

/// An address that was given to nobody here, or to somebody else.
pub const ELSEWHERE: &str = "203.0.113.99";
const NOBODY: &str = "00000000-0000-4000-8000-0000000000ff";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    None,
    /// A server wants four thousand million addresses in each place.
    ManyAddresses,
    /// Details of 1 MiB.
    HugeDetails,
    /// A million details.
    ManyDetails,
    /// The set-up fails, and details of 1 MiB are left.
    HugePartial,
    /// The set-up goes on, under a token beyond all limits.
    EndlessToken,
    /// A check is refused with a book, which no database takes.
    LongRefusal,
    /// After an update, the server's details are 1 MiB.
    HugeUpdateDetails,
    /// The update fails, and details of 1 MiB are left.
    HugeUpdatePartial,
    /// The update goes on, under such a token.
    EndlessUpdateToken,
    /// The update moves a share that is not on the server.
    OthersShares,
    /// The update moves a snapshot that is not on the server.
    OthersSnapshots,
    /// The update tells of each share twice.
    Twice,
    /// After the update, a share is nowhere.
    NoLocations,
    /// After the update, a share is at a hundred thousand places.
    ManyLocations,
    /// Shares are exported at an address that their server does not have.
    OthersAddresses,
    /// A migration copies for ever, and says each time that it is nearly done.
    EndlessCopy,
    /// A migration goes on under a token beyond all limits.
    EndlessCopyToken,
    /// It has moved all but one share.
    MovedLess,
    /// It has moved a share that was not on the server.
    MovedMore,
    /// It has moved each share twice.
    MovedTwice,
    /// It has moved a snapshot that nobody took.
    MovedSnapshots,
    /// It has moved the shares into a pool that is not there.
    MovedIntoNoPool,
    /// What has moved is nowhere.
    MovedNowhere,
    /// The server that has moved has details of 1 MiB.
    MovedDetails,
    /// It traps when it has moved everything.
    MovedTrap,
}

const LIES: [(&str, Lie); 26] = [
    ("none", Lie::None),
    ("many-addresses", Lie::ManyAddresses),
    ("huge-details", Lie::HugeDetails),
    ("many-details", Lie::ManyDetails),
    ("huge-partial", Lie::HugePartial),
    ("endless-token", Lie::EndlessToken),
    ("long-refusal", Lie::LongRefusal),
    ("huge-update-details", Lie::HugeUpdateDetails),
    ("huge-update-partial", Lie::HugeUpdatePartial),
    ("endless-update-token", Lie::EndlessUpdateToken),
    ("others-shares", Lie::OthersShares),
    ("others-snapshots", Lie::OthersSnapshots),
    ("twice", Lie::Twice),
    ("no-locations", Lie::NoLocations),
    ("many-locations", Lie::ManyLocations),
    ("others-addresses", Lie::OthersAddresses),
    ("endless-copy", Lie::EndlessCopy),
    ("endless-copy-token", Lie::EndlessCopyToken),
    ("moved-less", Lie::MovedLess),
    ("moved-more", Lie::MovedMore),
    ("moved-twice", Lie::MovedTwice),
    ("moved-snapshots", Lie::MovedSnapshots),
    ("moved-into-no-pool", Lie::MovedIntoNoPool),
    ("moved-nowhere", Lie::MovedNowhere),
    ("moved-details", Lie::MovedDetails),
    ("moved-trap", Lie::MovedTrap),
];

pub const NAMES: &[&str] = &{
    let mut names = [""; LIES.len()];
    let mut n = 0;
    while n < LIES.len() {
        names[n] = LIES[n].0;
        n += 1;
    }
    names
};

impl Lie {
    pub fn named(name: &str) -> Self {
        LIES.iter().find(|(n, _)| *n == name).map_or(Self::None, |(_, lie)| *lie)
    }
}

pub fn huge() -> ServerDetails {
    vec![KeyValue::new("vserver", "x".repeat(1 << 20))]
}

pub fn endless() -> Pending {
    Pending::new("x".repeat(100_000), 0)
}

pub fn nearly_done() -> Pending {
    Pending { percent: Some(99), ..Pending::new("copy", 100) }
}

pub fn details(lie: Lie, honest: ServerDetails) -> ServerDetails {
    match lie {
        Lie::HugeDetails => huge(),
        Lie::ManyDetails => (0..1_000_000).map(|n| KeyValue::new(&n.to_string(), "")).collect(),
        _ => honest,
    }
}

pub fn update(lie: Lie, mut honest: NetworkUpdate) -> NetworkUpdate {
    match lie {
        Lie::HugeUpdateDetails => honest.details = huge(),
        Lie::OthersShares => {
            honest.shares.push(ShareChange { id: NOBODY.into(), locations: vec![ExportLocation::new("192.0.2.1:/a")], pool: None });
        }
        Lie::OthersSnapshots => honest.snapshots.push(SnapshotChange { id: NOBODY.into(), provider_data: None, locations: Vec::new() }),
        Lie::Twice => honest.shares.extend(honest.shares.clone()),
        Lie::NoLocations => honest.shares.iter_mut().for_each(|s| s.locations.clear()),
        Lie::ManyLocations => {
            for share in &mut honest.shares {
                share.locations = (0..100_000).map(|n| ExportLocation::new(n.to_string())).collect();
            }
        }
        Lie::OthersAddresses => {
            for location in honest.shares.iter_mut().flat_map(|s| &mut s.locations) {
                location.path = format!("{ELSEWHERE}:/elsewhere");
            }
        }
        _ => {}
    }
    honest
}

#[expect(clippy::panic, reason = "a trap is one of the lies")]
pub fn moved(lie: Lie, mut honest: ServerMoved) -> ServerMoved {
    match lie {
        Lie::MovedLess => drop(honest.shares.pop()),
        Lie::MovedMore => honest.shares.push(MovedShare::at(NOBODY, "pool0", vec![ExportLocation::new("192.0.2.1:/a")])),
        Lie::MovedTwice => honest.shares.extend(honest.shares.clone()),
        Lie::MovedSnapshots => honest.snapshots.push(MovedSnapshot::new(NOBODY, Vec::new())),
        Lie::MovedIntoNoPool => honest.shares.iter_mut().for_each(|s| s.pool = "gold".into()),
        Lie::MovedNowhere => honest.shares.iter_mut().for_each(|s| s.locations.clear()),
        Lie::MovedDetails => honest.details = huge(),
        Lie::MovedTrap => panic!("it has moved, and nobody is told"),
        _ => {}
    }
    honest
}
