//! A host for unit tests: everything a driver can ask for, in memory, with a clock that only moves when somebody sleeps.
//!
//! ```
//! use stowage_driver_sdk::{mock, prelude::*};
//!
//! let host = mock::Host::new().option("array_url", "https://array.test").on("GET", "https://array.test/free", 200, "12.5");
//! let cx = host.context("capabilities.report");
//! let free: f64 = cx.http().get("https://array.test/free").send()?.ok()?.json()?;
//! assert_eq!(free, 12.5);
//! assert_eq!(host.requests().len(), 1);
//! # Ok::<(), DriverError>(())
//! ```

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    Context,
    bindings::imports::stowage::driver::config::RevealError,
    host::{self, HttpError, KvEntry, KvError, KvItem, KvSwap, LockError, Request, Response, SessionEntry, SessionError, SessionSwap},
    http::Method,
    types::{Call, ConfigValue, KeyValue, Level, Volume},
};

/// The fake host. Clones share their state.
#[derive(Clone, Default)]
pub struct Host {
    state: Rc<RefCell<State>>,
}

/// Answers a request.
pub type Answerer = dyn FnMut(&Request) -> Result<Response, HttpError>;

#[derive(Default)]
struct State {
    options: BTreeMap<String, ConfigValue>,
    secrets: BTreeMap<String, String>,
    log: Vec<(Level, String)>,
    requests: Vec<Request>,
    routes: BTreeMap<(String, String), Response>,
    answerer: Option<Box<Answerer>>,
    session: Store,
    kv: Store,
    locks: BTreeSet<String>,
    now_ms: u64,
    deadline_ms: u64,
    progress: Vec<u8>,
    cancelled: bool,
}

#[derive(Default)]
struct Store {
    values: BTreeMap<String, (Vec<u8>, u64)>,
    versions: u64,
}

impl Store {
    fn write(&mut self, key: &str, value: &[u8]) -> u64 {
        self.versions += 1;
        self.values.insert(key.into(), (value.into(), self.versions));
        self.versions
    }
    fn version(&self, key: &str) -> Option<u64> {
        self.values.get(key).map(|(_, version)| *version)
    }
}

impl Host {
    /// A host without options whose array answers 404 to everything.
    #[must_use]
    pub fn new() -> Self {
        let host = Self::default();
        host.state.borrow_mut().deadline_ms = 30_000;
        host
    }

    /// Sets an option: text, integer, number, boolean or list.
    #[must_use]
    pub fn option(self, name: &str, value: impl Into<ConfigValue>) -> Self {
        self.state.borrow_mut().options.insert(name.into(), value.into());
        self
    }

    /// Sets a secret that [`Context::reveal`] may read.
    #[must_use]
    pub fn secret(self, name: &str, text: &str) -> Self {
        self.state.borrow_mut().secrets.insert(name.into(), text.into());
        self
    }

    /// Answers one method and URL, every time.
    #[must_use]
    pub fn on(self, method: &str, url: &str, status: u16, body: &str) -> Self {
        let response = Response { status, headers: Vec::new(), body: body.into() };
        self.state.borrow_mut().routes.insert((method.into(), url.into()), response);
        self
    }

    /// Answers what [`Host::on`] does not.
    #[must_use]
    pub fn answer(self, answerer: impl FnMut(&Request) -> Result<Response, HttpError> + 'static) -> Self {
        self.state.borrow_mut().answerer = Some(Box::new(answerer));
        self
    }

    /// A call of `verb`, as the host would make it. Each has the same operation, as a repeat has.
    #[must_use]
    pub fn context(&self, verb: &'static str) -> Context {
        let call = Call {
            operation_id: "00000000-0000-4000-8000-000000000001".into(),
            generation: 1,
            request_id: "req-00000000-0000-4000-8000-000000000002".into(),
            deadline_ms: self.state.borrow().deadline_ms,
        };
        Context::new(call, verb, Rc::new(self.clone()))
    }

    /// What was sent so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.state.borrow().requests.clone()
    }
    /// What was logged so far.
    #[must_use]
    pub fn log(&self) -> Vec<(Level, String)> {
        self.state.borrow().log.clone()
    }
    /// The keys in durable storage.
    #[must_use]
    pub fn kv_keys(&self) -> Vec<String> {
        self.state.borrow().kv.values.keys().cloned().collect()
    }
    /// Makes [`Context::cancelled`] true.
    pub fn cancel(&self) {
        self.state.borrow_mut().cancelled = true;
    }
}

impl From<&str> for ConfigValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}
impl From<i64> for ConfigValue {
    fn from(n: i64) -> Self {
        Self::Integer(n)
    }
}
impl From<f64> for ConfigValue {
    fn from(n: f64) -> Self {
        Self::Number(n)
    }
}
impl From<bool> for ConfigValue {
    fn from(b: bool) -> Self {
        Self::Boolean(b)
    }
}
impl From<&[&str]> for ConfigValue {
    fn from(texts: &[&str]) -> Self {
        Self::Texts(texts.iter().map(|t| (*t).into()).collect())
    }
}
impl<const N: usize> From<[&str; N]> for ConfigValue {
    fn from(texts: [&str; N]) -> Self {
        Self::from(&texts[..])
    }
}

/// A volume of the given id, size and pool, otherwise plain.
#[must_use]
pub fn volume(id: &str, size_gib: u64, pool: &str) -> Volume {
    Volume {
        id: id.into(),
        name: "a volume".into(),
        project_id: "00000000000040008000000000000003".into(),
        pool: pool.into(),
        size_gib,
        multiattach: false,
        provider_id: None,
        provider_data: None,
        specs: Vec::new(),
        qos: Vec::new(),
        metadata: Vec::new(),
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
        Method::Options => "OPTIONS",
    }
}

impl host::Host for Host {
    fn backend(&self) -> String {
        "mock".into()
    }
    fn option(&self, name: &str) -> Option<ConfigValue> {
        self.state.borrow().options.get(name).cloned()
    }
    fn reveal(&self, name: &str) -> Result<String, RevealError> {
        self.state.borrow().secrets.get(name).cloned().ok_or(RevealError::Unset)
    }
    fn log(&self, level: Level, message: &str, _: &[KeyValue]) {
        self.state.borrow_mut().log.push((level, message.into()));
    }
    fn send(&self, request: &Request) -> Result<Response, HttpError> {
        let mut state = self.state.borrow_mut();
        state.requests.push(request.clone());
        if let Some(response) = state.routes.get(&(method_name(request.method).into(), request.url.clone())) {
            return Ok(response.clone());
        }
        // Taken out while it runs: it may look at the host itself.
        let Some(mut answerer) = state.answerer.take() else {
            return Ok(Response { status: 404, headers: Vec::new(), body: Vec::new() });
        };
        drop(state);
        let answer = answerer(request);
        self.state.borrow_mut().answerer = Some(answerer);
        answer
    }
    fn session_get(&self, key: &str) -> Option<SessionEntry> {
        self.state.borrow().session.values.get(key).map(|(value, version)| SessionEntry { value: value.clone(), version: *version })
    }
    fn session_put(&self, key: &str, value: &[u8], _: Option<u64>) -> Result<u64, SessionError> {
        Ok(self.state.borrow_mut().session.write(key, value))
    }
    fn session_swap(&self, key: &str, expected: Option<u64>, value: &[u8], _: Option<u64>) -> Result<SessionSwap, SessionError> {
        if self.state.borrow().session.version(key) != expected {
            return Ok(SessionSwap::Differs(self.session_get(key)));
        }
        Ok(SessionSwap::Swapped(self.state.borrow_mut().session.write(key, value)))
    }
    fn session_delete(&self, key: &str) {
        self.state.borrow_mut().session.values.remove(key);
    }
    fn kv_get(&self, key: &str) -> Result<Option<KvEntry>, KvError> {
        Ok(self.state.borrow().kv.values.get(key).map(|(value, version)| KvEntry { value: value.clone(), version: *version }))
    }
    fn kv_put(&self, key: &str, value: &[u8]) -> Result<u64, KvError> {
        Ok(self.state.borrow_mut().kv.write(key, value))
    }
    fn kv_swap(&self, key: &str, expected: Option<u64>, value: &[u8]) -> Result<KvSwap, KvError> {
        if self.state.borrow().kv.version(key) != expected {
            return Ok(KvSwap::Differs(self.kv_get(key)?));
        }
        Ok(KvSwap::Swapped(self.state.borrow_mut().kv.write(key, value)))
    }
    fn kv_delete(&self, key: &str, expected: Option<u64>) -> Result<bool, KvError> {
        let mut state = self.state.borrow_mut();
        if expected.is_some() && state.kv.version(key) != expected {
            return Ok(false);
        }
        Ok(state.kv.values.remove(key).is_some())
    }
    fn kv_scan(&self, prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<KvItem>, KvError> {
        let state = self.state.borrow();
        let wanted = state.kv.values.iter().filter(|(key, _)| key.starts_with(prefix) && after.is_none_or(|a| key.as_str() > a));
        let item = |(key, (value, version)): (&String, &(Vec<u8>, u64))| KvItem {
            key: key.clone(),
            entry: KvEntry { value: value.clone(), version: *version },
        };
        Ok(wanted.take(limit as usize).map(item).collect())
    }
    fn lock_acquire(&self, name: &str, _: u32) -> Result<(), LockError> {
        if self.state.borrow_mut().locks.insert(name.into()) { Ok(()) } else { Err(LockError::Held) }
    }
    fn lock_release(&self, name: &str) {
        self.state.borrow_mut().locks.remove(name);
    }
    fn now_ms(&self) -> u64 {
        1_700_000_000_000 + self.state.borrow().now_ms
    }
    fn monotonic_ms(&self) -> u64 {
        self.state.borrow().now_ms
    }
    fn sleep(&self, ms: u32) -> bool {
        let mut state = self.state.borrow_mut();
        state.now_ms += u64::from(ms);
        state.now_ms < state.deadline_ms && !state.cancelled
    }
    fn progress(&self, percent: u8, _: Option<&str>) {
        self.state.borrow_mut().progress.push(percent);
    }
    fn cancelled(&self) -> bool {
        self.state.borrow().cancelled
    }
}
