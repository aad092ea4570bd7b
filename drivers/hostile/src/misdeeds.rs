//! What it does wrong while it runs. Lies in the answer are in `lies`.

use std::{hint::black_box, time::Duration};

use stowage_driver_sdk::prelude::*;

/// One misdeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    None,
    /// Computes for ever.
    Loop,
    /// Asks the host for memory until it gets no more.
    Memory,
    /// Calls itself without end.
    Recursion,
    Panic,
    /// An instruction that traps.
    Trap,
    /// Sleeps past any deadline, again and again.
    Sleep,
    /// A million log lines, and long ones.
    LogFlood,
    /// Sends a request to the option `url`, and reports what became of it.
    Http,
    /// Sends a request to the option `url` every 20 ms for a minute, whatever it hears.
    Chatter,
    /// Fills its durable store.
    KvFlood,
    /// Fills the session store.
    SessionFlood,
    /// Takes lock after lock.
    LockFlood,
    /// An error whose text is 100 MB.
    ErrorFlood,
    /// An answer of 100 MB.
    HugeAnswer,
    /// A text longer than the contract allows.
    LongAnswer,
    /// Objects nobody asked about, and not those that were.
    WrongIds,
    /// An object it was asked about is left out.
    LeftOut,
    /// Every object twice.
    Twice,
    /// Not a number, negative sizes, forbidden pool names.
    Nonsense,
    /// A million entries.
    LongList,
    /// Work that is never done, with a token beyond all limits.
    ForeverPending,
}

const MODES: [(&str, Mode); 22] = [
    ("none", Mode::None),
    ("loop", Mode::Loop),
    ("memory", Mode::Memory),
    ("recursion", Mode::Recursion),
    ("panic", Mode::Panic),
    ("trap", Mode::Trap),
    ("sleep", Mode::Sleep),
    ("log-flood", Mode::LogFlood),
    ("http", Mode::Http),
    ("chatter", Mode::Chatter),
    ("kv-flood", Mode::KvFlood),
    ("session-flood", Mode::SessionFlood),
    ("lock-flood", Mode::LockFlood),
    ("error-flood", Mode::ErrorFlood),
    ("huge-answer", Mode::HugeAnswer),
    ("long-answer", Mode::LongAnswer),
    ("wrong-ids", Mode::WrongIds),
    ("left-out", Mode::LeftOut),
    ("twice", Mode::Twice),
    ("nonsense", Mode::Nonsense),
    ("long-list", Mode::LongList),
    ("forever-pending", Mode::ForeverPending),
];

pub const NAMES: &[&str] = &{
    let mut names = [""; MODES.len()];
    let mut n = 0;
    while n < MODES.len() {
        names[n] = MODES[n].0;
        n += 1;
    }
    names
};

impl Mode {
    pub fn named(name: &str) -> Self {
        MODES.iter().find(|(n, _)| *n == name).map_or(Self::None, |(_, mode)| *mode)
    }

    /// Does it. Lies do nothing here.
    pub fn commit(self, cx: &Context, url: &str) -> Result<()> {
        match self {
            Self::Loop => spin(),
            Self::Memory => hoard(),
            Self::Recursion => Err(DriverError::internal(format!("recursed {} deep", recurse(black_box(0))))),
            Self::Panic => panic(),
            Self::Trap => trap(),
            Self::Sleep => oversleep(cx),
            Self::LogFlood => flood_log(cx),
            Self::Http => request(cx, url),
            Self::Chatter => chatter(cx, url),
            Self::KvFlood => flood_kv(cx),
            Self::SessionFlood => flood_session(cx),
            Self::LockFlood => flood_locks(cx),
            Self::ErrorFlood => Err(DriverError::invalid("x".repeat(100 << 20)).for_user("y".repeat(1 << 20))),
            _ => Ok(()),
        }
    }
}

fn spin() -> ! {
    let mut n = 0_u64;
    loop {
        n = black_box(n.wrapping_add(1));
    }
}

fn hoard() -> ! {
    let mut hoard = Vec::new();
    loop {
        hoard.push(black_box(vec![1_u8; 1 << 20]));
    }
}

#[inline(never)]
#[expect(unconditional_recursion, reason = "this is the misdeed")]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    recurse(frame[1] + 1) + frame[2]
}

#[expect(clippy::panic, reason = "this is the misdeed")]
fn panic() -> ! {
    panic!("a hostile driver panics")
}

fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort();
}

fn oversleep(cx: &Context) -> ! {
    loop {
        // Being woken early is not taken as a hint.
        let _ = cx.sleep(Duration::from_secs(3_600));
    }
}

fn flood_log(cx: &Context) -> Result<()> {
    let line = "flood ".repeat(2_000);
    for _ in 0..1_000_000 {
        cx.info(&line);
    }
    Ok(())
}

fn request(cx: &Context, url: &str) -> Result<()> {
    let answer = cx.http().get(url).send()?;
    let said = String::from_utf8_lossy(&answer.body[..answer.body.len().min(100)]).into_owned();
    Err(DriverError::internal(format!("reached {url}: {} {said}", answer.status)))
}

fn chatter(cx: &Context, url: &str) -> Result<()> {
    for _ in 0..3_000 {
        // Neither an error nor being woken early is taken as a hint.
        let _ = cx.http().identified().get(url).send();
        let _ = cx.sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn flood_kv(cx: &Context) -> Result<()> {
    let value = "x".repeat(60_000);
    for n in 0..1_000_000 {
        cx.kv().put(&format!("flood/{n}"), &value)?;
    }
    Ok(())
}

fn flood_session(cx: &Context) -> Result<()> {
    for n in 0..1_000_000 {
        cx.session().put(&format!("flood/{n}"), &n, None)?;
    }
    Ok(())
}

fn flood_locks(cx: &Context) -> Result<()> {
    let mut locks = Vec::new();
    for n in 0..1_000 {
        locks.push(cx.lock(&format!("lock {n}"), Duration::ZERO)?);
    }
    Ok(())
}
