//! From bytes to a loaded driver.
//!
//! The order is from cheap to dear: size, format, hash, machine code (from the cache, or compiled in a niced child),
//! comparison with the contract, trial. On failure nothing is left but, perhaps, a file in the cache.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, component::Linker};

use super::{
    cache::Cache,
    compile::{CompileError, Compiler},
    contract, engine,
    engine::EngineError,
    host_fn::progress::ProgressBoard,
    state::State,
    v0_1::{self, Shared},
};
use crate::{
    driver::{self, LoadError},
    store::sql::driver_kv::DriverDb,
};

/// Larger than any driver seen, Python interpreter included.
const MAX_BYTES: usize = 128 << 20;
const MAGIC: &[u8] = b"\0asm";
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const CORE_MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// How to load drivers.
#[derive(Clone)]
pub struct LoaderOptions {
    /// Most instances at once in this process.
    pub max_instances: u32,
    /// Where compiled drivers are kept. None: nowhere.
    pub cache: Option<PathBuf>,
    pub compiler: Compiler,
    /// Where drivers keep what is durable. None: nowhere.
    pub db: Option<DriverDb>,
    pub progress: ProgressBoard,
}

/// The wasm implementation of [`driver::Loader`]. One per process.
pub struct WasmLoader {
    engine: Engine,
    linker: Linker<State>,
    cache: Cache,
    shared: Shared,
}

impl WasmLoader {
    /// # Errors
    /// [`EngineError`]: this machine cannot run wasm.
    pub fn new(options: LoaderOptions) -> Result<Self, EngineError> {
        let engine = engine::serving(options.max_instances)?;
        let linker = v0_1::linker(&engine).map_err(|e| EngineError::new(format!("{e:#}")))?;
        let cache = Cache::new(options.cache, options.compiler);
        Ok(Self { engine, linker, cache, shared: Shared { db: options.db, progress: options.progress } })
    }

    /// As [`driver::Loader::load`]; also says whether the machine code came from the cache.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn load_component(&self, file: &str, bytes: &Bytes) -> Result<(v0_1::Loaded, bool), LoadError> {
        sniff(bytes).map_err(LoadError::NotAComponent)?;
        let sha256 = hash(bytes).await?;
        let compiled = self.cache.component(&self.engine, file, &sha256, bytes).await.map_err(|e| match e {
            CompileError::Refused(text) => LoadError::NotAComponent(text),
            e @ (CompileError::Timeout | CompileError::Failed(_)) => LoadError::Host(e.to_string()),
        })?;
        let version = contract::check(&self.engine, &compiled.component)?;
        let loaded = v0_1::Loaded::new(file, sha256, version, &compiled.component, &self.linker, self.shared.clone()).await?;
        Ok((loaded, compiled.cached))
    }
}

impl driver::Loader for WasmLoader {
    fn load<'a>(&'a self, file: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<Arc<dyn driver::Driver>, LoadError>> {
        Box::pin(async move {
            let (loaded, cached) = self.load_component(file, &bytes).await?;
            tracing::info!(driver = file, bytes = bytes.len(), cached, "a driver was loaded");
            Ok(Arc::new(loaded) as Arc<dyn driver::Driver>)
        })
    }
}

async fn hash(bytes: &Bytes) -> Result<String, LoadError> {
    let bytes = bytes.clone();
    // 20 MB take a tenth of a second: not on a worker of the runtime
    tokio::task::spawn_blocking(move || hex::encode(Sha256::digest(&bytes))).await.map_err(|e| LoadError::Host(e.to_string()))
}

/// What the bytes are, as far as the first eight tell.
fn sniff(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("the file has {} bytes, at most {MAX_BYTES} are allowed", bytes.len()));
    }
    if bytes.starts_with(COMPONENT) {
        return Ok(());
    }
    if bytes.starts_with(CORE_MODULE) {
        return Err("it is a core wasm module; a driver is a component: build it with the SDK's script".to_owned());
    }
    if bytes.starts_with(MAGIC) {
        return Err("it is of an unknown wasm version".to_owned());
    }
    Err(if bytes.is_empty() { "the file is empty".to_owned() } else { "it is no wasm at all".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_component_is_named() {
        sniff(COMPONENT).unwrap();
        assert!(sniff(CORE_MODULE).unwrap_err().contains("core wasm module"));
        assert!(sniff(b"").unwrap_err().contains("empty"));
        assert!(sniff(b"#!/bin/sh").unwrap_err().contains("no wasm"));
        assert!(sniff(b"\0asm\x0e\0\x01\0").unwrap_err().contains("unknown"));
    }
}
