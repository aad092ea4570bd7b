//! What the clients will do: made from the seed alone.

use std::fmt;

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

use crate::{half::deal_all, trouble::Trouble};

/// Volumes that they share.
pub const SLOTS: usize = 5;
/// Initiators of the hosts that attach: the last two are one host's.
pub const HOSTS: usize = 4;

/// The steps of every client.
pub struct Plan {
    pub seed: u64,
    pub clients: Vec<Vec<Step>>,
}

/// Which type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// Other specs, in the same pools.
    Gold,
    Multi,
}

impl Kind {
    pub const fn type_name(self) -> &'static str {
        match self {
            Self::Plain => "__DEFAULT__",
            Self::Gold => "gold",
            Self::Multi => "multi",
        }
    }
}

/// How the driver behaves about one object: by the beginning of its name ([`FAULTS`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temper {
    Even,
    /// Answers `pending` before it is done.
    Late,
    /// Answers nonsense, after the work.
    Liar,
    /// Traps, after the work.
    Trap,
    /// Never connects.
    Never,
    /// Is in use on the array when it is to be deleted for the first time.
    Busy,
    /// Its first retype is done and not heard of, then refused; a later one is refused at once.
    Rigid,
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
            Self::Rigid => "rigid",
            Self::Lost => "lost",
        }
    }
}

/// What the driver's option `faults` makes of the tempers.
pub const FAULTS: &[&str] = &[
    "volumes.create@late*=pending:2",
    "volume-clone.clone@late*=pending:1",
    "volumes.extend@late*=pending:1",
    "volumes.create@liar*#1=wrong-answer",
    "volume-snapshots.create@liar*#1=wrong-answer",
    "connection-info.connect@liar*#1=wrong-answer",
    "volumes.create@trap*#1=trap-after",
    "connection-info.connect@trap*#1=trap-after",
    "connection-info.disconnect@trap*#1=trap-after",
    "volume-revert.revert@trap*#1=trap-after",
    "connection-info.connect@never*=refuse:internal",
    "volumes.delete@busy*#1=refuse:busy",
    "volume-snapshots.delete@busy*#1=refuse:busy",
    "volume-retype.retype@rigid*#1=lose-answer",
    "volume-retype.retype@rigid*#2=refuse:unsupported",
    "volume-retype.retype@rigid*#4=refuse:unsupported",
    "volumes.delete@lost*#1=lose-answer",
    "volume-snapshots.create@lost*#1=lose-answer",
    "volume-snapshots.delete@lost*#1=lose-answer",
    "volume-retype.retype@lost*#1=lose-answer",
    "volumes.extend@lost*#1=lose-answer",
    "connection-info.disconnect@lost*#1=lose-answer",
];

const TROUBLED: &[&str] = &[
    "volumes.create",
    "volumes.delete",
    "volumes.extend",
    "volume-clone.clone",
    "volume-from-snapshot.create-from-snapshot",
    "volume-snapshots.create",
    "volume-snapshots.delete",
    "volume-revert.revert",
    "volume-retype.retype",
    "connection-info.connect",
    "connection-info.disconnect",
];

/// The actions of a volume that came before attachments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Older {
    Reserve,
    Unreserve,
    Connect,
    Attach,
    Announce,
    Roll,
    Disconnect,
    Detach,
}

impl Older {
    const ALL: &[Self] =
        &[Self::Reserve, Self::Unreserve, Self::Connect, Self::Attach, Self::Announce, Self::Roll, Self::Disconnect, Self::Detach];
    /// What a client that knows no attachments does one after another to have the volume, and to let it go.
    pub const COME: [Self; 3] = [Self::Reserve, Self::Connect, Self::Attach];
    pub const GO: [Self; 3] = [Self::Announce, Self::Disconnect, Self::Detach];
}

/// One thing that one client does. A slot means the volume that is in it then; `nth` means one of its attachments, or snapshots, then.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Create {
        slot: usize,
        size: i64,
        kind: Kind,
        temper: Temper,
    },
    Copy {
        slot: usize,
        of: usize,
        temper: Temper,
    },
    Restore {
        slot: usize,
        of: usize,
        nth: usize,
        temper: Temper,
    },
    Reserve {
        slot: usize,
        instance: bool,
    },
    Attach {
        slot: usize,
        host: usize,
        instance: bool,
        mode: Option<&'static str>,
    },
    Connect {
        slot: usize,
        nth: usize,
        host: usize,
    },
    Complete {
        slot: usize,
        nth: usize,
    },
    Detach {
        slot: usize,
        nth: usize,
        as_service: bool,
    },
    ForceDetach {
        slot: usize,
        nth: usize,
    },
    Extend {
        slot: usize,
        by: i64,
    },
    Retype {
        slot: usize,
        to: Kind,
        /// By a copy, if there is no other way.
        on_demand: bool,
    },
    /// An operator sends it to an array.
    Migrate {
        slot: usize,
        to: usize,
        lock: bool,
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
    Delete {
        slot: usize,
        cascade: bool,
    },
    ForceDelete {
        slot: usize,
    },
    Readonly {
        slot: usize,
        on: bool,
    },
    /// An operator says what the volume is.
    Tell {
        slot: usize,
        status: &'static str,
    },
    Older {
        slot: usize,
        host: usize,
        action: Older,
    },
    /// All that it takes, one action after another, to attach or to detach.
    OlderWay {
        slot: usize,
        host: usize,
        leave: bool,
    },
    Offer {
        slot: usize,
    },
    /// Whoever was told the key takes it: its owner, or another project.
    Take {
        slot: usize,
        stranger: bool,
    },
    Withdraw {
        slot: usize,
    },
    Look {
        slot: usize,
    },
    /// Waits a moment for the volume to come to rest.
    Rest {
        slot: usize,
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
    /// The volume it is about.
    pub const fn slot(&self) -> Option<usize> {
        match *self {
            Self::Create { slot, .. }
            | Self::Copy { slot, .. }
            | Self::Restore { slot, .. }
            | Self::Reserve { slot, .. }
            | Self::Attach { slot, .. }
            | Self::Connect { slot, .. }
            | Self::Complete { slot, .. }
            | Self::Detach { slot, .. }
            | Self::ForceDetach { slot, .. }
            | Self::Extend { slot, .. }
            | Self::Retype { slot, .. }
            | Self::Migrate { slot, .. }
            | Self::Snapshot { slot, .. }
            | Self::DropSnapshot { slot, .. }
            | Self::Revert { slot }
            | Self::Delete { slot, .. }
            | Self::ForceDelete { slot }
            | Self::Readonly { slot, .. }
            | Self::Tell { slot, .. }
            | Self::Older { slot, .. }
            | Self::OlderWay { slot, .. }
            | Self::Offer { slot }
            | Self::Take { slot, .. }
            | Self::Withdraw { slot }
            | Self::Look { slot }
            | Self::Rest { slot } => Some(slot),
            Self::Disturb { .. } => None,
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
        (Temper::Late, 7),
        (Temper::Liar, 4),
        (Temper::Trap, 4),
        (Temper::Never, 3),
        (Temper::Busy, 4),
        (Temper::Rigid, 5),
        (Temper::Lost, 6),
    ];
    TEMPERS.choose_weighted(dice, |(_, weight)| *weight).unwrap().0
}

fn kind(dice: &mut StdRng) -> Kind {
    *[Kind::Plain, Kind::Gold, Kind::Multi, Kind::Multi, Kind::Multi].choose(dice).unwrap()
}

fn create(slot: usize, dice: &mut StdRng) -> Step {
    Step::Create { slot, size: dice.random_range(1..=2), kind: kind(dice), temper: temper(dice) }
}

fn step(dice: &mut StdRng) -> Step {
    let (slot, nth, host) = (dice.random_range(0..SLOTS), dice.random_range(0..8), dice.random_range(0..HOSTS));
    let instance = dice.random_ratio(1, 5);
    match dice.random_range(0..126) {
        0..=7 => create(slot, dice),
        8..=10 => Step::Copy { slot, of: dice.random_range(0..SLOTS), temper: temper(dice) },
        11..=13 => Step::Restore { slot, of: dice.random_range(0..SLOTS), nth, temper: temper(dice) },
        14..=17 => Step::Reserve { slot, instance },
        18..=33 => Step::Attach { slot, host, instance, mode: *[None, None, Some("rw"), Some("ro")].choose(dice).unwrap() },
        34..=39 => Step::Connect { slot, nth, host },
        40..=46 => Step::Complete { slot, nth },
        47..=60 => Step::Detach { slot, nth, as_service: dice.random_bool(0.6) },
        61..=62 => Step::ForceDetach { slot, nth },
        63..=67 => Step::Extend { slot, by: dice.random_range(1..=2) },
        68..=71 => Step::Retype { slot, to: kind(dice), on_demand: dice.random_bool(0.7) },
        72..=76 => Step::Snapshot { slot, temper: temper(dice) },
        77..=78 => Step::DropSnapshot { slot, nth },
        79..=80 => Step::Revert { slot },
        81..=84 => Step::Delete { slot, cascade: dice.random_bool(0.5) },
        85 => Step::ForceDelete { slot },
        86 => Step::Readonly { slot, on: dice.random_bool(0.5) },
        87 => Step::Tell { slot, status: if dice.random_bool(0.5) { "error" } else { "available" } },
        88..=89 => Step::Look { slot },
        90..=95 => Step::Rest { slot },
        96..=103 => Step::Older { slot, host, action: *Older::ALL.choose(dice).unwrap() },
        104..=107 => Step::OlderWay { slot, host, leave: dice.random_bool(0.5) },
        108..=110 => Step::Offer { slot },
        111..=112 => Step::Take { slot, stranger: dice.random_bool(0.4) },
        113 => Step::Withdraw { slot },
        // as often again: most of them meet a volume that is not at rest
        114..=117 => Step::Retype { slot, to: kind(dice), on_demand: dice.random_bool(0.7) },
        118..=121 => Step::Migrate { slot, to: dice.random_range(0..2), lock: dice.random_bool(0.5) },
        _ => disturb(dice),
    }
}

fn disturb(dice: &mut StdRng) -> Step {
    Step::Disturb {
        array: dice.random_range(0..2),
        verb: TROUBLED.choose(dice).unwrap(),
        trouble: Trouble::any(dice),
        times: dice.random_range(1..=3),
    }
}

#[test]
fn a_seed_always_makes_the_same_plan() {
    let text = |seed| Plan::of(seed, 30).clients.iter().flatten().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}
