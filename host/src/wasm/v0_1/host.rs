//! The host's functions as a 0.1 guest calls them: each only translates and forwards to `host_fn/`.

use std::time::Duration;

use super::bindings::host::{clock, config, http, kv, lock, log, progress, session, types};
use crate::wasm::{
    host_fn::{
        clock as now,
        config::{ConfigValue, RevealError},
        http as out,
        kv::{KvError, KvSwap},
        lock::{CallLocks, LockError},
        log::Level,
        session::{SessionEntry, SessionError, SessionSwap},
    },
    state::State,
};

impl types::Host for State {}

impl config::Host for State {
    async fn backend(&mut self) -> wasmtime::Result<String> {
        Ok(self.side.config.backend().to_owned())
    }

    async fn get(&mut self, name: String) -> wasmtime::Result<Option<config::ConfigValue>> {
        Ok(self.side.config.get(&name).map(|value| match value.clone() {
            ConfigValue::Text(v) => config::ConfigValue::Text(v),
            ConfigValue::Integer(v) => config::ConfigValue::Integer(v),
            ConfigValue::Number(v) => config::ConfigValue::Number(v),
            ConfigValue::Boolean(v) => config::ConfigValue::Boolean(v),
            ConfigValue::Texts(v) => config::ConfigValue::Texts(v),
        }))
    }

    async fn reveal(&mut self, name: String) -> wasmtime::Result<Result<String, config::RevealError>> {
        Ok(self.side.config.reveal(&name).map(str::to_owned).map_err(|e| match e {
            RevealError::Unset => config::RevealError::Unset,
            RevealError::Denied => config::RevealError::Denied,
        }))
    }
}

impl log::Host for State {
    async fn write(&mut self, level: log::Level, message: String, fields: Vec<types::KeyValue>) -> wasmtime::Result<()> {
        let level = match level {
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warn => Level::Warn,
            log::Level::Error => Level::Error,
        };
        self.log.write(level, &message, fields.iter().map(|f| (f.key.as_str(), f.value.as_str())));
        Ok(())
    }
}

impl http::Host for State {
    async fn send(&mut self, request: http::Request) -> wasmtime::Result<Result<http::Response, http::HttpError>> {
        let request = out::Request {
            method: match request.method {
                http::Method::Get => ::http::Method::GET,
                http::Method::Head => ::http::Method::HEAD,
                http::Method::Post => ::http::Method::POST,
                http::Method::Put => ::http::Method::PUT,
                http::Method::Patch => ::http::Method::PATCH,
                http::Method::Delete => ::http::Method::DELETE,
                http::Method::Options => ::http::Method::OPTIONS,
            },
            url: request.url,
            headers: request.headers.into_iter().map(|h| (h.name, h.value)).collect(),
            body: request.body,
            credentials: request.credentials.map(|c| match c {
                http::Credentials::Basic(b) => out::Credentials::Basic { user: b.user, password_option: b.password_option },
                http::Credentials::Bearer(option) => out::Credentials::Bearer(option),
                http::Credentials::Header(h) => out::Credentials::Header { name: h.name, prefix: h.prefix, secret_option: h.secret_option },
            }),
            body_secrets: request.body_secrets.into_iter().map(body_secret).collect(),
            timeout: request.timeout_ms.map(|ms| Duration::from_millis(u64::from(ms))),
        };
        let answer = self.side.http.send(request, self.until, &self.lease).await;
        Ok(answer.map(response).map_err(http_error))
    }
}

fn body_secret(s: http::BodySecret) -> out::BodySecret {
    let escape = match s.escape {
        http::Escape::None => out::Escape::None,
        http::Escape::Json => out::Escape::Json,
        http::Escape::Form => out::Escape::Form,
        http::Escape::Xml => out::Escape::Xml,
    };
    out::BodySecret { placeholder: s.placeholder, secret_option: s.secret_option, escape }
}

fn response(r: out::Response) -> http::Response {
    let headers = r.headers.into_iter().map(|(name, value)| http::Header { name, value }).collect();
    http::Response { status: r.status, headers, body: r.body }
}

fn http_error(e: out::HttpError) -> http::HttpError {
    match e {
        out::HttpError::Denied(t) => http::HttpError::Denied(t),
        out::HttpError::Invalid(t) => http::HttpError::Invalid(t),
        out::HttpError::Unreachable(t) => http::HttpError::Unreachable(t),
        out::HttpError::Tls(t) => http::HttpError::Tls(t),
        out::HttpError::Timeout => http::HttpError::Timeout,
        out::HttpError::Interrupted(t) => http::HttpError::Interrupted(t),
        out::HttpError::TooLarge(n) => http::HttpError::TooLarge(n),
        out::HttpError::NotOwner => http::HttpError::NotOwner,
    }
}

fn ttl(ms: Option<u64>) -> Option<Duration> {
    ms.map(Duration::from_millis)
}

fn session_entry(e: SessionEntry) -> session::Entry {
    session::Entry { value: e.value, version: e.version }
}

fn session_error(e: SessionError) -> session::SessionError {
    match e {
        SessionError::TooLarge => session::SessionError::TooLarge,
        SessionError::TooMany => session::SessionError::TooMany,
        SessionError::InvalidKey => session::SessionError::InvalidKey,
    }
}

impl session::Host for State {
    async fn get(&mut self, key: String) -> wasmtime::Result<Option<session::Entry>> {
        Ok(self.side.session.get(&key).map(session_entry))
    }

    async fn put(&mut self, key: String, value: Vec<u8>, ttl_ms: Option<u64>) -> wasmtime::Result<Result<u64, session::SessionError>> {
        Ok(self.side.session.put(&key, value, ttl(ttl_ms)).map_err(session_error))
    }

    async fn compare_and_swap(
        &mut self,
        key: String,
        expected: Option<u64>,
        value: Vec<u8>,
        ttl_ms: Option<u64>,
    ) -> wasmtime::Result<Result<session::SwapOutcome, session::SessionError>> {
        let done = self.side.session.compare_and_swap(&key, expected, value, ttl(ttl_ms));
        Ok(done.map_err(session_error).map(|swap| match swap {
            SessionSwap::Swapped(version) => session::SwapOutcome::Swapped(version),
            SessionSwap::Differs(found) => session::SwapOutcome::Differs(found.map(session_entry)),
        }))
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<()> {
        self.side.session.delete(&key);
        Ok(())
    }
}

fn version(v: i64) -> u64 {
    u64::try_from(v).unwrap_or(0)
}

fn kv_entry(e: crate::store::sql::driver_kv::KvEntry) -> kv::Entry {
    kv::Entry { value: e.value, version: version(e.version) }
}

fn kv_error(e: KvError) -> kv::KvError {
    match e {
        KvError::InvalidKey => kv::KvError::InvalidKey,
        KvError::TooLarge(n) => kv::KvError::TooLarge(n),
        KvError::Full(n) => kv::KvError::Full(n),
        KvError::Unavailable(e) => kv::KvError::Unavailable(e.to_string()),
        KvError::NotOwner => kv::KvError::NotOwner,
    }
}

const NOT_HERE: &str = "nothing durable is available to this call";

/// A version no entry has.
fn expect(v: u64) -> i64 {
    i64::try_from(v).unwrap_or(-1)
}

/// The back end's kv, or the guest's answer that there is none.
macro_rules! kv {
    ($self:ident, $kv:ident => $body:expr) => {
        match $self.side.durable.as_ref().map(|d| &d.kv) {
            None => Ok(Err(kv::KvError::Unavailable(NOT_HERE.to_owned()))),
            Some($kv) => Ok($body.map_err(kv_error)),
        }
    };
}

impl kv::Host for State {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<kv::Entry>, kv::KvError>> {
        kv!(self, store => store.get(&key).await.map(|e| e.map(kv_entry)))
    }

    async fn put(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<u64, kv::KvError>> {
        kv!(self, store => store.put(&self.lease, &key, &value).await.map(version))
    }

    async fn compare_and_swap(
        &mut self,
        key: String,
        expected: Option<u64>,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<kv::SwapOutcome, kv::KvError>> {
        kv!(self, store => store.compare_and_swap(&self.lease, &key, expected.map(expect), &value).await.map(|swap| match swap {
            KvSwap::Swapped(v) => kv::SwapOutcome::Swapped(version(v)),
            KvSwap::Differs(found) => kv::SwapOutcome::Differs(found.map(kv_entry)),
        }))
    }

    async fn delete(&mut self, key: String, expected: Option<u64>) -> wasmtime::Result<Result<bool, kv::KvError>> {
        kv!(self, store => store.delete(&self.lease, &key, expected.map(expect)).await)
    }

    async fn scan(&mut self, prefix: String, after: Option<String>, limit: u32) -> wasmtime::Result<Result<Vec<kv::Item>, kv::KvError>> {
        kv!(self, store => store.scan(&prefix, after.as_deref(), limit).await.map(|items| {
            items.into_iter().map(|i| kv::Item { key: i.key, entry: kv::Entry { value: i.value, version: version(i.version) } }).collect()
        }))
    }
}

fn lock_error(e: LockError) -> lock::LockError {
    match e {
        LockError::Timeout => lock::LockError::Timeout,
        LockError::Held => lock::LockError::Held,
        LockError::InvalidName => lock::LockError::InvalidName,
        LockError::TooMany => lock::LockError::TooMany,
        LockError::Unavailable(e) => lock::LockError::Unavailable(e.to_string()),
        LockError::NotOwner => lock::LockError::NotOwner,
    }
}

impl lock::Host for State {
    async fn acquire(&mut self, name: String, wait_ms: u32) -> wasmtime::Result<Result<(), lock::LockError>> {
        let Some(durable) = &self.side.durable else { return Ok(Err(lock::LockError::Unavailable(NOT_HERE.to_owned()))) };
        let locks = self.locks.get_or_insert_with(|| {
            // two attempts at one piece of work are two owners
            let owner = format!("{}/{}/{}", self.call.operation_id, self.call.generation, uuid::Uuid::new_v4());
            CallLocks::new(durable.db.clone(), self.side.config.backend(), owner, self.lease.clone())
        });
        let wait = Duration::from_millis(u64::from(wait_ms));
        Ok(locks.acquire(&name, wait, self.until).await.map_err(lock_error))
    }

    async fn release(&mut self, name: String) -> wasmtime::Result<()> {
        if let Some(locks) = &self.locks {
            locks.release(&name).await;
        }
        Ok(())
    }
}

impl clock::Host for State {
    async fn now_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(now::now_ms())
    }

    async fn monotonic_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(now::monotonic_ms())
    }

    async fn sleep(&mut self, ms: u32) -> wasmtime::Result<bool> {
        Ok(now::sleep(ms, self.until, &self.lease, self.lease.unwanted()).await)
    }
}

impl progress::Host for State {
    async fn report(&mut self, percent: u8, text: Option<String>) -> wasmtime::Result<()> {
        // an array may have sent a secret back
        let text = text.map(|text| self.side.secrets.redact(&text));
        self.side.progress.report(&self.call.operation_id, percent, text);
        Ok(())
    }

    async fn cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.lease.unwanted().is_cancelled() || self.lease.is_cancelled())
    }
}
