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
