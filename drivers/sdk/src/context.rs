//! What a verb is given besides its arguments: who calls, until when, and the host's functions.

use std::{rc::Rc, time::Duration};

use crate::{
    error::{DriverError, Result},
    host::Host,
    http::Http,
    options::{FromConfig, Opt},
    store::{Kv, Session},
    types::{Call, KeyValue, Level},
};

/// One call of the host, and the way back to it.
pub struct Context {
    /// Operation id, generation, request id, deadline.
    pub call: Call,
    /// The function that was called: `volumes.create`.
    pub verb: &'static str,
    started_ms: u64,
    host: Rc<dyn Host>,
}

impl Context {
    #[doc(hidden)]
    pub fn new(call: Call, verb: &'static str, host: Rc<dyn Host>) -> Self {
        let started_ms = host.monotonic_ms();
        Self { call, verb, started_ms, host }
    }

    /// The back end's name in the operator's configuration.
    #[must_use]
    pub fn backend(&self) -> String {
        self.host.backend()
    }

    /// An option that is set or has a default.
    pub fn get<T: FromConfig>(&self, option: &Opt<T>) -> Result<T> {
        self.find(option)?.ok_or_else(|| DriverError::invalid(format!("option `{}` is not set", option.name)))
    }

    /// An option that may be unset.
    pub fn find<T: FromConfig>(&self, option: &Opt<T>) -> Result<Option<T>> {
        let Some(value) = self.host.option(option.name) else { return Ok(None) };
        T::from_config(value).map(Some).ok_or_else(|| DriverError::invalid(format!("option `{}` is of another kind", option.name)))
    }

    /// A secret's text, where the operator granted `reveal_secrets`. Prefer to name the option in a request's credentials.
    pub fn reveal(&self, option: &Opt<String>) -> Result<String> {
        self.host.reveal(option.name).map_err(|e| DriverError::invalid(format!("secret `{}`: {}", option.name, e.message())))
    }

    /// Requests to the array.
    #[must_use]
    pub fn http(&self) -> Http<'_> {
        Http::new(self)
    }
    /// Durable values of this back end, shared by every process.
    #[must_use]
    pub fn kv(&self) -> Kv<'_> {
        Kv::new(&*self.host)
    }
    /// Short-lived values of this back end in this process: log-in tokens.
    #[must_use]
    pub fn session(&self) -> Session<'_> {
        Session::new(&*self.host)
    }

    /// Takes a lock that spans the cluster's processes; given back when the guard is dropped, and at the latest when the call ends.
    pub fn lock(&self, name: &str, wait: Duration) -> Result<Lock<'_>> {
        self.host.lock_acquire(name, millis(wait))?;
        Ok(Lock { host: &*self.host, name: name.into() })
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.host.now_ms()
    }

    /// Milliseconds from some fixed moment of this process; never goes back.
    #[must_use]
    pub fn monotonic_ms(&self) -> u64 {
        self.host.monotonic_ms()
    }

    /// What is left until the host ends the call.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        Duration::from_millis((self.started_ms + self.call.deadline_ms).saturating_sub(self.host.monotonic_ms()))
    }

    /// Sleeps. An error when it is time to leave: the deadline is near, or the work is not wanted any more.
    pub fn sleep(&self, time: Duration) -> Result<()> {
        if self.host.sleep(millis(time)) { Ok(()) } else { Err(DriverError::transient("woken early: the call has to end")) }
    }

    /// Asks until the array says yes, sleeping in between. Answer `pending` instead where waiting takes more than seconds.
    pub fn wait_until<T>(&self, every: Duration, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
        loop {
            if let Some(answer) = ask()? {
                return Ok(answer);
            }
            self.sleep(every)?;
        }
    }

    /// How far the call is, for the operator: shown with the job in the admin API until the call ends.
    pub fn progress(&self, percent: u8, text: &str) {
        self.host.progress(percent, (!text.is_empty()).then_some(text));
    }
    /// Whether what the call works for was deleted, its process ends, or another has the work. Then: undo what is cheap to undo, and
    /// return soon. [`sleep`](Self::sleep) wakes for it.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.host.cancelled()
    }

    pub fn debug(&self, message: impl AsRef<str>) {
        self.log(Level::Debug, message.as_ref(), &[]);
    }
    pub fn info(&self, message: impl AsRef<str>) {
        self.log(Level::Info, message.as_ref(), &[]);
    }
    pub fn warn(&self, message: impl AsRef<str>) {
        self.log(Level::Warn, message.as_ref(), &[]);
    }
    /// A line for the operator, with fields.
    pub fn log(&self, level: Level, message: &str, fields: &[KeyValue]) {
        self.host.log(level, message, fields);
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }
}

/// A held lock.
pub struct Lock<'c> {
    host: &'c dyn Host,
    name: String,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        self.host.lock_release(&self.name);
    }
}

fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}
