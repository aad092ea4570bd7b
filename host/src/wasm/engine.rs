//! The one wasmtime engine of a process.
//!
//! Invariants: every store's epoch deadline is driven by a ticker of its own thread, so that a busy runtime cannot stop
//! it; instances come from a pool of fixed size, so that drivers cannot use up the address space. Where the pool cannot be
//! reserved (a low `ulimit -v`) instances are allocated one by one, with a warning: slower, but as safe.

use std::{
    hash::{Hash, Hasher},
    time::Duration,
};

use wasmtime::{Config, Engine, EngineWeak, InstanceAllocationStrategy, PoolingAllocationConfig};

/// How often a running guest is looked at.
pub const TICK: Duration = Duration::from_millis(10);
/// What a guest may nest: enough for an interpreter, far less than the fiber's stack.
const GUEST_STACK: usize = 1 << 20;
const FIBER_STACK: usize = 3 << 20;
/// The most memory any back end can be granted.
pub const MAX_MEMORY: usize = 2 << 30;
/// Core instances and memories of one component: a Rust guest has one or two, a Python guest a dozen.
const CORE_PER_COMPONENT: u32 = 32;
const MEMORIES_PER_COMPONENT: u32 = 4;
const TABLES_PER_COMPONENT: u32 = 8;
/// Entries of one table.
pub const TABLE_ELEMENTS: usize = 100_000;

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the wasm engine cannot be set up: {0}")]
pub struct EngineError(String);

impl EngineError {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// What code is compiled for. The same in the process that serves and in the child that compiles.
fn base() -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true);
    config.epoch_interruption(true);
    config.max_wasm_stack(GUEST_STACK);
    config.async_stack_size(FIBER_STACK);
    config.wasm_backtrace_max_frames(std::num::NonZeroUsize::new(20));
    config
}

fn pooled(max_instances: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(max_instances)
        .total_core_instances(max_instances.saturating_mul(4).max(CORE_PER_COMPONENT))
        .total_memories(max_instances)
        .total_tables(max_instances.saturating_mul(2).max(TABLES_PER_COMPONENT))
        .total_stacks(max_instances)
        .max_core_instances_per_component(CORE_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .table_elements(TABLE_ELEMENTS)
        .max_memory_size(MAX_MEMORY)
        .linear_memory_keep_resident(256 << 10)
        .table_keep_resident(16 << 10);
    let mut config = base();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Builds the engine that serves calls, and starts its ticker.
///
/// # Errors
/// The machine cannot run wasm at all.
pub fn serving(max_instances: u32) -> Result<Engine, EngineError> {
    let engine = match Engine::new(&pooled(max_instances.max(1))) {
        Ok(engine) => engine,
        Err(error) => {
            tracing::warn!(error = %format!("{error:#}"), max_instances, "no address space for a pool of driver instances; they are allocated one by one");
            Engine::new(&base()).map_err(|e| EngineError(format!("{e:#}")))?
        }
    };
    tick(engine.weak())?;
    Ok(engine)
}

/// Builds an engine that only compiles.
///
/// # Errors
/// As [`serving`].
pub fn compiling() -> Result<Engine, EngineError> {
    // the memory layout that code is compiled for follows from the allocator: the smallest pool has the layout of the largest
    Engine::new(&pooled(1)).or_else(|_| Engine::new(&base())).map_err(|e| EngineError(format!("{e:#}")))
}

/// Ends by itself when the engine is gone.
fn tick(engine: EngineWeak) -> Result<(), EngineError> {
    let beat = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    };
    std::thread::Builder::new().name("wasm-epoch".to_owned()).spawn(beat).map(drop).map_err(|e| EngineError(e.to_string()))
}

/// What compiled code depends on besides the component: wasmtime's version, the target and the settings above.
pub fn fingerprint(engine: &Engine) -> String {
    let mut hasher = StableHasher::default();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hex::encode(&sha2::Digest::finalize(hasher.0)[..12])
}

/// Feeds a hash into SHA-256: the standard hasher's result may differ between two builds of one binary.
#[derive(Default)]
struct StableHasher(sha2::Sha256);

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        0
    }
    fn write(&mut self, bytes: &[u8]) {
        sha2::Digest::update(&mut self.0, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_from_the_compiling_engine_fits_the_serving_one() {
        assert_eq!(fingerprint(&compiling().unwrap()), fingerprint(&serving(4).unwrap()));
    }

    #[test]
    fn the_ticker_advances_the_epoch_and_ends_with_the_engine() {
        let engine = serving(1).unwrap();
        let weak = engine.weak();
        drop(engine);
        let gone = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            weak.upgrade().is_none()
        });
        assert!(gone);
    }
}
