//! What the clients will do: made from the seed alone.

use std::fmt;

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use super::world::SUBNETS;
use crate::{half::deal_all, trouble::Trouble};

/// Shares that they share.
pub const SLOTS: usize = 5;
/// Share networks that they share.
pub const NETS: usize = 3;

/// The steps of every client.
pub struct Plan {
    pub seed: u64,
    pub clients: Vec<Vec<Step>>,
}

/// Which type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On the array that exports shares itself.
    Plain,
    /// On a share server.
    Served,
}

impl Kind {
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Served => "served",
        }
    }
}

/// How the driver behaves about one share or snapshot: by the beginning of its name ([`FAULTS`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temper {
    Even,
    /// Answers `pending` before it is done.
    Late,
    /// Answers nonsense: after the work, and when it is asked how the share stands.
    Liar,
    /// Traps, after the work.
    Trap,
    /// Lets nobody in.
    Never,
    /// Is in use on the array when it is to be deleted for the first time.
    Busy,
    /// Says that it failed, after the work.
    Lost,
}

impl Temper {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Late => "late",
            Self::Liar => "liar",
            Self::Trap => "trap",
            Self::Never => "never",
            Self::Busy => "busy",
            Self::Lost => "lost",
        }
    }
}

/// What the driver's option `faults` makes of the tempers; and what goes wrong with servers, which have no name.
pub const FAULTS: &[&str] = &[
    "shares.create@late*=pending:2",
    "shares.extend@late*=pending:1",
    "share-from-snapshot.create-from-snapshot@late*=pending:1",
    "shares.create@liar*#1=wrong-answer",
    "access.apply@liar*#1=wrong-answer",
    "ensure.ensure-shares@liar*#1=wrong-answer",
    "ensure.ensure-shares@liar*#2=leave-out",
    "ensure.ensure-shares@liar*#3=wrong-id",
    "shares.create@trap*#1=trap-after",
    "access.apply@trap*#1=trap-after",
    "ensure.ensure-shares@trap*#1=trap",
    "share-revert.revert@trap*#1=trap-after",
    "access.apply@never*=refuse:internal",
    "snapshot-access.apply@never*=refuse:internal",
    "shares.delete@busy*#1=refuse:busy",
    "share-snapshots.delete@busy*#1=refuse:busy",
    "shares.create@lost*#1=lose-answer",
    "shares.delete@lost*#1=lose-answer",
    "shares.extend@lost*#1=lose-answer",
    "share-shrink.shrink@lost*#1=lose-answer",
    "share-snapshots.create@lost*#1=lose-answer",
    "share-snapshots.delete@lost*#1=lose-answer",
    "access.apply@lost*#1=lose-answer",
    "snapshot-access.apply@lost*#1=lose-answer",
    "share-servers.allocations-wanted#/13=refuse:internal",
    "share-servers.setup#/3=pending:2",
    "share-servers.setup#/7=refuse:exhausted",
    "share-servers.setup#/8=fail-after:invalid",
    "share-servers.setup#/11=trap-after",
    "share-servers.teardown#/5=lose-answer",
    "share-servers.teardown#/11=refuse:internal",
    "allocations.check-update-network-allocations#/9=refuse:internal",
    "allocations.update-network-allocations#/3=pending:1",
    "allocations.update-network-allocations#/4=fail-after:invalid",
    "allocations.update-network-allocations#/7=wrong-answer",
];

const TROUBLED: &[&str] = &[
    "shares.create",
    "shares.delete",
    "shares.extend",
    "share-shrink.shrink",
    "share-from-snapshot.create-from-snapshot",
    "share-snapshots.create",
    "share-snapshots.delete",
    "share-revert.revert",
    "access.apply",
    "snapshot-access.apply",
    "ensure.ensure-shares",
    "share-servers.setup",
    "share-servers.setup",
    "share-servers.teardown",
    "share-servers.teardown",
    "allocations.check-update-network-allocations",
    "allocations.update-network-allocations",
    "allocations.update-network-allocations",
];

/// Who is let in. What NFS knows no rules of is refused by the driver.
pub const TARGETS: &[(&str, &str)] = &[
    ("ip", "10.0.0.1"),
    ("ip", "10.0.0.2"),
    ("ip", "10.0.1.0/24"),
    ("ip", "0.0.0.0/0"),
    ("ip", "fd00::1"),
    ("user", "alice"),
    ("user", "robert"),
    ("cert", "common name"),
];

/// One thing that one client does. A slot means the share that is in it then, `net` the network; `nth` means one of its rules,
/// snapshots or subnets, or one of all servers, then.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Create {
        slot: usize,
        net: Option<usize>,
        size: i64,
        cifs: bool,
        temper: Temper,
    },
    Restore {
        slot: usize,
        of: usize,
        nth: usize,
        temper: Temper,
    },
    Extend {
        slot: usize,
        by: i64,
    },
    Shrink {
        slot: usize,
    },
    Allow {
        slot: usize,
        target: usize,
        read_only: bool,
    },
    Deny {
        slot: usize,
        nth: usize,
    },
    Relevel {
        slot: usize,
        nth: usize,
        read_only: bool,
    },
    Snapshot {
        slot: usize,
        temper: Temper,
    },
    DropSnapshot {
        slot: usize,
        nth: usize,
    },
    Revert {
        slot: usize,
    },
    AllowSnapshot {
        slot: usize,
        nth: usize,
        target: usize,
    },
    DenySnapshot {
        slot: usize,
        nth: usize,
    },
    Delete {
        slot: usize,
    },
    ForceDelete {
        slot: usize,
    },
    /// Into the recycle bin.
    Bin {
        slot: usize,
    },
    Unbin {
        slot: usize,
    },
    /// An operator says what the share is.
    Tell {
        slot: usize,
        status: &'static str,
    },
    Look {
        slot: usize,
    },
    /// Waits a moment for the share to come to rest.
    Rest {
        slot: usize,
    },
    Network {
        net: usize,
        subnet: usize,
    },
    DropNetwork {
        net: usize,
    },
    AddSubnet {
        net: usize,
        subnet: usize,
    },
    CheckSubnet {
        net: usize,
        subnet: usize,
        anew: bool,
    },
    DropSubnet {
        net: usize,
        nth: usize,
    },
    /// Makes a security service and gives it to the network.
    Secure {
        net: usize,
    },
    /// An operator deletes a server.
    DropServer {
        nth: usize,
    },
    /// An operator has a failed network update of a server repeated.
    RetryServer {
        nth: usize,
    },
    /// An operator says that a server is in error.
    TellServer {
        nth: usize,
    },
    /// Idle servers are looked for.
    Sweep,
    Ensure {
        backend: usize,
        strict: bool,
    },
    Disturb {
        array: usize,
        verb: &'static str,
        trouble: Trouble,
        times: u32,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Step {
    /// What it is about: a share, or behind those a network.
    pub const fn about(&self) -> Option<usize> {
        match *self {
            Self::Create { slot, .. }
            | Self::Restore { slot, .. }
            | Self::Extend { slot, .. }
            | Self::Shrink { slot }
            | Self::Allow { slot, .. }
            | Self::Deny { slot, .. }
            | Self::Relevel { slot, .. }
            | Self::Snapshot { slot, .. }
            | Self::DropSnapshot { slot, .. }
            | Self::Revert { slot }
            | Self::AllowSnapshot { slot, .. }
            | Self::DenySnapshot { slot, .. }
            | Self::Delete { slot }
            | Self::ForceDelete { slot }
            | Self::Bin { slot }
            | Self::Unbin { slot }
            | Self::Tell { slot, .. }
            | Self::Look { slot }
            | Self::Rest { slot } => Some(slot),
            Self::Network { net, .. }
            | Self::DropNetwork { net }
            | Self::AddSubnet { net, .. }
            | Self::CheckSubnet { net, .. }
            | Self::DropSubnet { net, .. }
            | Self::Secure { net } => Some(SLOTS + net),
            Self::DropServer { .. }
            | Self::RetryServer { .. }
            | Self::TellServer { .. }
            | Self::Sweep
            | Self::Ensure { .. }
            | Self::Disturb { .. } => None,
        }
    }
}

impl Plan {
    pub fn of(seed: u64, steps: usize) -> Self {
        let deal = |client, n, dice: &mut StdRng| if n == 0 && client < SLOTS { create(client, dice) } else { step(dice) };
        Self { seed, clients: deal_all(seed, steps, deal) }
    }
}

fn temper(dice: &mut StdRng) -> Temper {
    const TEMPERS: &[(Temper, u32)] = &[
        (Temper::Even, 60),
        (Temper::Late, 8),
        (Temper::Liar, 5),
        (Temper::Trap, 4),
        (Temper::Never, 4),
        (Temper::Busy, 5),
        (Temper::Lost, 8),
    ];
    TEMPERS.choose_weighted(dice, |(_, weight)| *weight).unwrap().0
}

fn create(slot: usize, dice: &mut StdRng) -> Step {
    let net = dice.random_ratio(3, 4).then(|| dice.random_range(0..NETS));
    Step::Create { slot, net, size: dice.random_range(1..=2), cifs: dice.random_ratio(1, 4), temper: temper(dice) }
}

fn step(dice: &mut StdRng) -> Step {
    let (slot, nth, net) = (dice.random_range(0..SLOTS), dice.random_range(0..8), dice.random_range(0..NETS));
    let (target, subnet) = (dice.random_range(0..TARGETS.len()), dice.random_range(0..SUBNETS.len()));
    let read_only = dice.random_bool(0.4);
    match dice.random_range(0..138) {
        0..=13 => create(slot, dice),
        14..=17 => Step::Restore { slot, of: dice.random_range(0..SLOTS), nth, temper: temper(dice) },
        18..=31 => Step::Allow { slot, target, read_only },
        32..=39 => Step::Deny { slot, nth },
        40..=43 => Step::Relevel { slot, nth, read_only },
        44..=48 => Step::Extend { slot, by: dice.random_range(1..=2) },
        49..=52 => Step::Shrink { slot },
        53..=59 => Step::Snapshot { slot, temper: temper(dice) },
        60..=63 => Step::DropSnapshot { slot, nth },
        64..=65 => Step::Revert { slot },
        66..=68 => Step::AllowSnapshot { slot, nth, target },
        69..=70 => Step::DenySnapshot { slot, nth },
        71..=77 => Step::Delete { slot },
        78 => Step::ForceDelete { slot },
        79..=80 => Step::Bin { slot },
        81..=82 => Step::Unbin { slot },
        83 => Step::Tell { slot, status: if dice.random_bool(0.5) { "error" } else { "available" } },
        84..=86 => Step::Look { slot },
        87..=92 => Step::Rest { slot },
        93..=95 => Step::Network { net, subnet },
        96..=97 => Step::DropNetwork { net },
        98..=104 => Step::AddSubnet { net, subnet },
        105..=106 => Step::CheckSubnet { net, subnet, anew: dice.random_bool(0.3) },
        107..=109 => Step::DropSubnet { net, nth },
        110 => Step::Secure { net },
        111..=114 => Step::DropServer { nth },
        115..=117 => Step::RetryServer { nth },
        118 => Step::TellServer { nth },
        119..=121 => Step::Sweep,
        122..=126 => Step::Ensure { backend: dice.random_range(0..3), strict: dice.random_bool(0.3) },
        _ => Step::Disturb {
            array: dice.random_range(0..3),
            verb: TROUBLED.choose(dice).unwrap(),
            trouble: Trouble::any(dice),
            times: dice.random_range(1..=3),
        },
    }
}

#[test]
fn a_seed_always_makes_the_same_plan() {
    let text = |seed| Plan::of(seed, 30).clients.iter().flatten().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}
