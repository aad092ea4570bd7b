//! Rebuild triggers for what macros read, the contract as a table, and the embedded memory driver.

#[path = "build/contract.rs"]
mod contract;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    println!("cargo:rerun-if-changed=../migrations/sqlite");
    println!("cargo:rerun-if-changed=../migrations/postgres");
    println!("cargo:rerun-if-changed=../wit");
    contract::write();
    embed_memory_driver();
}

/// Copies `drivers/dist/memory.wasm` to `OUT_DIR`, or an empty file where it was not built: a plain `cargo build` on a bare
/// machine works, and `serve` then says that no driver is embedded.
fn embed_memory_driver() {
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    let source = Path::new("../drivers/dist/memory.wasm");
    // a watched file that is not there would make cargo build anew every time; its folder always is
    let watched = if source.exists() { source } else { Path::new("../drivers/dist") };
    println!("cargo:rerun-if-changed={}", watched.display());
    let bytes = fs::read(source).unwrap_or_default();
    if let Err(e) = fs::write(out.join("memory.wasm"), bytes) {
        println!("cargo:warning=cannot embed the memory driver: {e}");
    }
}
