//! The memory driver that comes with the binary, so that `stowage serve` works anywhere.

use std::{io, path::Path};

/// Empty when the binary was built without it.
const MEMORY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/memory.wasm"));
pub(super) const NAME: &str = "memory";

/// The bytes that a first start would write under this driver's name.
pub fn embedded(name: &str) -> Option<&'static [u8]> {
    (name == NAME && !MEMORY.is_empty()).then_some(MEMORY)
}

/// Writes the embedded driver into the folder unless a file of its name is there. True when it did.
pub(super) fn write_if_absent(folder: &Path) -> io::Result<bool> {
    let path = folder.join(format!("{NAME}.wasm"));
    if MEMORY.is_empty() || path.try_exists()? {
        return Ok(false);
    }
    let mut file = tempfile::Builder::new().prefix(".memory-").tempfile_in(folder)?;
    io::Write::write_all(&mut file, MEMORY)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(true),
        // another process was first
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e.error),
    }
}
