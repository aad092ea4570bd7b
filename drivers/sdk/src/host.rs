//! What the host offers, as one trait: the real host behind it in a component, [`mock::Host`](crate::mock::Host) in tests.

use crate::{
    bindings::imports::stowage::driver as import,
    types::{ConfigValue, KeyValue, Level},
};

pub use import::{
    http::{HttpError, Request, Response},
    kv::{Entry as KvEntry, Item as KvItem, KvError, SwapOutcome as KvSwap},
    lock::LockError,
    session::{Entry as SessionEntry, SessionError, SwapOutcome as SessionSwap},
};

/// The host's functions, one to one. [`Context`](crate::Context) is the friendlier face.
#[allow(missing_docs, reason = "`wit/stowage-driver` documents each")]
pub trait Host {
    fn backend(&self) -> String;
    fn option(&self, name: &str) -> Option<ConfigValue>;
    fn reveal(&self, name: &str) -> Result<String, import::config::RevealError>;
    fn log(&self, level: Level, message: &str, fields: &[KeyValue]);
    fn send(&self, request: &Request) -> Result<Response, HttpError>;
    fn session_get(&self, key: &str) -> Option<SessionEntry>;
    fn session_put(&self, key: &str, value: &[u8], ttl_ms: Option<u64>) -> Result<u64, SessionError>;
    fn session_swap(&self, key: &str, expected: Option<u64>, value: &[u8], ttl_ms: Option<u64>) -> Result<SessionSwap, SessionError>;
    fn session_delete(&self, key: &str);
    fn kv_get(&self, key: &str) -> Result<Option<KvEntry>, KvError>;
    fn kv_put(&self, key: &str, value: &[u8]) -> Result<u64, KvError>;
    fn kv_swap(&self, key: &str, expected: Option<u64>, value: &[u8]) -> Result<KvSwap, KvError>;
    fn kv_delete(&self, key: &str, expected: Option<u64>) -> Result<bool, KvError>;
    fn kv_scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<KvItem>, KvError>;
    fn lock_acquire(&self, name: &str, wait_ms: u32) -> Result<(), LockError>;
    fn lock_release(&self, name: &str);
    fn now_ms(&self) -> u64;
    fn monotonic_ms(&self) -> u64;
    fn sleep(&self, ms: u32) -> bool;
    fn progress(&self, percent: u8, text: Option<&str>);
    fn cancelled(&self) -> bool;
}

/// The host a component runs in. Outside WebAssembly its functions panic.
#[derive(Debug, Clone, Copy)]
pub struct Real;

impl Host for Real {
    fn backend(&self) -> String {
        import::config::backend()
    }
    fn option(&self, name: &str) -> Option<ConfigValue> {
        import::config::get(name)
    }
    fn reveal(&self, name: &str) -> Result<String, import::config::RevealError> {
        import::config::reveal(name)
    }
    fn log(&self, level: Level, message: &str, fields: &[KeyValue]) {
        import::log::write(level, message, fields);
    }
    fn send(&self, request: &Request) -> Result<Response, HttpError> {
        import::http::send(request)
    }
    fn session_get(&self, key: &str) -> Option<SessionEntry> {
        import::session::get(key)
    }
    fn session_put(&self, key: &str, value: &[u8], ttl_ms: Option<u64>) -> Result<u64, SessionError> {
        import::session::put(key, value, ttl_ms)
    }
    fn session_swap(&self, key: &str, expected: Option<u64>, value: &[u8], ttl_ms: Option<u64>) -> Result<SessionSwap, SessionError> {
        import::session::compare_and_swap(key, expected, value, ttl_ms)
    }
    fn session_delete(&self, key: &str) {
        import::session::delete(key);
    }
    fn kv_get(&self, key: &str) -> Result<Option<KvEntry>, KvError> {
        import::kv::get(key)
    }
    fn kv_put(&self, key: &str, value: &[u8]) -> Result<u64, KvError> {
        import::kv::put(key, value)
    }
    fn kv_swap(&self, key: &str, expected: Option<u64>, value: &[u8]) -> Result<KvSwap, KvError> {
        import::kv::compare_and_swap(key, expected, value)
    }
    fn kv_delete(&self, key: &str, expected: Option<u64>) -> Result<bool, KvError> {
        import::kv::delete(key, expected)
    }
    fn kv_scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<KvItem>, KvError> {
        import::kv::scan(prefix, after, limit)
    }
    fn lock_acquire(&self, name: &str, wait_ms: u32) -> Result<(), LockError> {
        import::lock::acquire(name, wait_ms)
    }
    fn lock_release(&self, name: &str) {
        import::lock::release(name);
    }
    fn now_ms(&self) -> u64 {
        import::clock::now_ms()
    }
    fn monotonic_ms(&self) -> u64 {
        import::clock::monotonic_ms()
    }
    fn sleep(&self, ms: u32) -> bool {
        import::clock::sleep(ms)
    }
    fn progress(&self, percent: u8, text: Option<&str>) {
        import::progress::report(percent, text);
    }
    fn cancelled(&self) -> bool {
        import::progress::cancelled()
    }
}
