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

/// Shared by all tests of this checkout: entries are by hash.
pub fn compile_cache() -> PathBuf {
    let target = env::current_exe().ok().and_then(|exe| exe.parent()?.parent()?.parent().map(Path::to_owned));
    target.unwrap_or_else(env::temp_dir).join("test-driver-cache")
}
