//! The running binary, for what it starts beside itself: a compiler of drivers, a copier of volumes.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

static OURS: AtomicBool = AtomicBool::new(false);

/// Says that this process has the binary's hidden sub-commands; tests and other programs around the library have not.
pub fn is_ours() {
    OURS.store(true, Ordering::Relaxed);
}

/// What starts the same binary again, also after its file was replaced or removed, as by an upgrade. None: not ours.
pub fn again() -> Option<PathBuf> {
    OURS.load(Ordering::Relaxed).then(|| PathBuf::from("/proc/self/exe"))
}

/// This process for people: the machine's name and the process id.
pub fn label() -> String {
    let machine =
        std::fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| "localhost".to_owned(), |name| name.trim().to_owned());
    format!("{machine}:{}", std::process::id())
}
