//! The built drivers.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// `$STOWAGE_DRIVERS`, or `drivers/dist` of this source tree.
pub fn built() -> PathBuf {
    env::var_os("STOWAGE_DRIVERS").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../drivers/dist"), PathBuf::from)
}

/// One built driver's file.
///
/// # Panics
/// When it was not built.
pub fn file(name: &str) -> PathBuf {
    let path = built().join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is not there: run `make drivers`, or set STOWAGE_DRIVERS", path.display());
    path
}

/// Copies the named drivers into a plugin folder. A file that is there stays.
pub fn install<'a>(folder: &Path, names: impl Iterator<Item = &'a str>) {
    fs::create_dir_all(folder).unwrap();
    for name in names {
        let target = folder.join(format!("{name}.wasm"));
        if !target.exists() {
            fs::copy(file(name), target).unwrap();
        }
    }
}

/// A built driver in other bytes: a custom section at its end changes nothing but the hash.
pub fn other_build(name: &str, n: u8) -> Vec<u8> {
    let mut bytes = fs::read(file(name)).unwrap();
    let section = b"test-version";
    let content = [&[u8::try_from(section.len()).unwrap()], &section[..], &[n]].concat();
    bytes.extend([0, u8::try_from(content.len()).unwrap()]);
    bytes.extend(content);
    bytes
}

/// A built driver that says `to` where it said `from`, which is as long.
///
/// # Panics
/// When it says `from` nowhere, or in several places.
pub fn other_words(name: &str, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = fs::read(file(name)).unwrap();
    let found: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(from.as_bytes())).collect();
    assert_eq!(found.len(), 1, "{name} says {from:?} {} times", found.len());
    bytes[found[0]..found[0] + to.len()].copy_from_slice(to.as_bytes());
    bytes
}

/// Puts a driver into a plugin folder as a careful operator does: beside it first, then renamed over it.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let aside = folder.join(format!(".{name}.new"));
    fs::write(&aside, bytes).unwrap();
    fs::rename(aside, folder.join(format!("{name}.wasm"))).unwrap();
}

/// Shared by all tests of this checkout: entries are by hash.
pub fn compile_cache() -> PathBuf {
    let target = env::current_exe().ok().and_then(|exe| exe.parent()?.parent()?.parent().map(Path::to_owned));
    target.unwrap_or_else(env::temp_dir).join("test-driver-cache")
}
