//! Compiled drivers on disk.
//!
//! A file is machine code that this process will run, so it must be one that the host itself wrote: the folder and the
//! file belong to this user and nobody else may write there, the name holds the component's hash and the engine's
//! fingerprint, and the file ends with the hash of its content. Whatever does not fit is compiled again and replaced.
//! Without a usable folder everything works, only slower.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, component::Component};

use super::{
    compile::{CompileError, Compiler},
    engine,
};

const DIGEST: usize = 32;

/// Where compiled drivers are kept.
#[derive(Debug, Clone)]
pub struct Cache {
    /// None: nothing is kept.
    folder: Option<PathBuf>,
    compiler: Compiler,
}

/// A component ready to run, and whether it came from disk.
pub struct Compiled {
    pub component: Component,
    pub cached: bool,
}

impl Cache {
    /// Makes the folder (0700) if it is not there. An unusable one is reported once and then not used.
    pub fn new(folder: Option<PathBuf>, compiler: Compiler) -> Self {
        let folder = folder.filter(|f| {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(f).map_err(|e| e.to_string()).and_then(|()| ours(f));
            if let Err(reason) = &made {
                tracing::warn!(folder = %f.display(), %reason, "compiled drivers are not kept");
            }
            made.is_ok()
        });
        Self { folder, compiler }
    }

    /// The component with this hash, from disk or compiled now. `driver` is for the log.
    ///
    /// # Errors
    /// [`CompileError`]: it does not compile.
    pub async fn component(&self, engine: &Engine, driver: &str, sha256: &str, bytes: &[u8]) -> Result<Compiled, CompileError> {
        let path = self.folder.as_ref().map(|f| f.join(format!("{sha256}-{}.cwasm", engine::fingerprint(engine))));
        if let Some(path) = &path
            && let Some(code) = read(path)
        {
            match load(engine, &code) {
                Ok(component) => return Ok(Compiled { component, cached: true }),
                Err(reason) => tracing::warn!(file = %path.display(), %reason, "a compiled driver does not load and is compiled again"),
            }
        }
        tracing::info!(driver, bytes = bytes.len(), "compiling a driver: the first time takes some seconds");
        let code = self.compiler.compile(bytes).await?;
        if let Some(path) = &path
            && let Err(error) = write(path, &code)
        {
            tracing::warn!(file = %path.display(), %error, "a compiled driver could not be kept");
        }
        let component = load(engine, &code).map_err(CompileError::Failed)?;
        Ok(Compiled { component, cached: false })
    }
}

/// The only place where bytes become code.
#[expect(unsafe_code, reason = "wasmtime can only load what it compiled; `read` and `Compiler` give nothing else")]
fn load(engine: &Engine, code: &[u8]) -> Result<Component, String> {
    // SAFETY: `code` came from `Engine::precompile_component` in this process or in our child, or from a file that only
    // this user can write, whose name says for which engine and whose end holds its digest. wasmtime checks the engine's
    // settings and version again.
    unsafe { Component::deserialize(engine, code) }.map_err(|e| format!("{e:#}"))
}

/// That only this user can have written `path`.
fn ours(path: &Path) -> Result<(), String> {
    let meta = fs::symlink_metadata(path).map_err(|e| e.to_string())?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    if meta.mode() & 0o022 != 0 {
        return Err("others may write to it".to_owned());
    }
    Ok(())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    if let Err(reason) = ours(path) {
        tracing::warn!(file = %path.display(), %reason, "a compiled driver is not trusted and is compiled again");
        return None;
    }
    let digest = bytes.split_off(bytes.len().checked_sub(DIGEST)?);
    (Sha256::digest(&bytes)[..] == digest[..]).then_some(bytes)
}

/// Whole or not at all.
fn write(path: &Path, code: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // tempfile makes it 0600
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(code)?;
    file.write_all(&Sha256::digest(code))?;
    file.persist(path).map(drop).map_err(|e| e.error)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    async fn get(cache: &Cache, engine: &Engine) -> bool {
        cache.component(engine, "empty", "h", EMPTY).await.unwrap().cached
    }
    fn file(folder: &Path) -> PathBuf {
        fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
    }

    #[tokio::test]
    async fn the_second_load_comes_from_disk() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine::serving(1).unwrap();
        let cache = Cache::new(Some(folder.path().join("c")), Compiler::InProcess);
        assert!(!get(&cache, &engine).await);
        assert!(get(&cache, &engine).await);
    }

    #[tokio::test]
    async fn a_torn_or_foreign_file_is_compiled_again_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine::serving(1).unwrap();
        let cache = Cache::new(Some(folder.path().to_owned()), Compiler::InProcess);
        get(&cache, &engine).await;
        let path = file(folder.path());
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(!get(&cache, &engine).await, "torn");
        assert!(get(&cache, &engine).await, "replaced");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(!get(&cache, &engine).await, "writable by others");
        assert!(get(&cache, &engine).await, "replaced");
    }

    #[tokio::test]
    async fn a_folder_that_others_can_write_to_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let engine = engine::serving(1).unwrap();
        let cache = Cache::new(Some(folder.path().to_owned()), Compiler::InProcess);
        assert!(!get(&cache, &engine).await);
        assert!(!get(&cache, &engine).await);
    }
}
