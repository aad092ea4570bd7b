//! Rebuild triggers for what macros read, and the embedded memory driver.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=../migrations/sqlite");
    println!("cargo:rerun-if-changed=../migrations/postgres");
    println!("cargo:rerun-if-changed=../wit");
    embed_memory_driver();
}

/// Copies `$STOWAGE_DRIVERS/memory.wasm` (or `drivers/dist/memory.wasm`) to `OUT_DIR`, or an empty file where it was not
/// built: a plain `cargo build` on a bare machine works, and `serve` then says that no driver is embedded.
fn embed_memory_driver() {
    println!("cargo:rerun-if-env-changed=STOWAGE_DRIVERS");
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let folder = env::var_os("STOWAGE_DRIVERS").map_or_else(|| PathBuf::from("../drivers/dist"), PathBuf::from);
    let source = folder.join("memory.wasm");
    println!("cargo:rerun-if-changed={}", source.display());
    let bytes = fs::read(&source).unwrap_or_default();
    if let Err(e) = fs::write(out.join("memory.wasm"), bytes) {
        println!("cargo:warning=cannot embed the memory driver: {e}");
    }
}
