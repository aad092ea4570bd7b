//! What a store holds: one call's state, and the back end it is made for.
//!
//! A store lives for one call. After it, whatever happened, the store is dropped: locks are given back, dropped log lines
//! are counted, and nothing of the guest is left.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use tokio::{io::AsyncWrite, time::Instant};
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{
    WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView,
    cli::{IsTerminal, StdoutStream},
};

use super::{
    host_fn::{
        config::ConfigView,
        http::HttpClient,
        kv::Kv,
        lock::CallLocks,
        log::{CallLog, Level, Origin},
        progress::ProgressBoard,
        secrets::Secrets,
        session::Session,
    },
    limits::{CallLimits, Limiter},
};
use crate::{driver::Call, jobs::Lease, store::sql::driver_kv::DriverDb};

/// What the host offers to one incarnation of a back end; shared by its calls.
pub struct HostSide {
    /// The driver's file, for logs.
    pub driver: String,
    pub config: ConfigView,
    pub secrets: Arc<Secrets>,
    pub http: HttpClient,
    pub session: Session,
    pub progress: ProgressBoard,
    /// None: nothing durable, for the calls that look at a driver before it has a back end.
    pub durable: Option<Durable>,
}

/// What outlives a call.
pub struct Durable {
    pub kv: Kv,
    pub db: DriverDb,
}

/// One call's state.
pub struct State {
    pub limiter: Limiter,
    pub side: Arc<HostSide>,
    pub call: Call,
    /// The call's own end: of the lease, or of a lock that was lost. It also knows when the work is not wanted any more.
    pub lease: Lease,
    pub until: Instant,
    pub log: CallLog,
    /// Made with the first lock.
    pub locks: Option<CallLocks>,
    wasi: Option<Box<Wasi>>,
}

struct Wasi {
    ctx: WasiCtx,
    table: ResourceTable,
    stderr: Stderr,
}

impl State {
    pub fn new(side: Arc<HostSide>, call: Call, lease: Lease, until: Instant, limits: &CallLimits) -> Self {
        let origin = Origin {
            driver: side.driver.clone(),
            backend: side.config.backend().to_owned(),
            request_id: call.request_id.clone(),
            operation_id: call.operation_id.clone(),
        };
        let log = CallLog::new(origin, side.secrets.clone(), limits.log);
        Self { limiter: Limiter::new(limits), side, call, lease, until, log, locks: None, wasi: None }
    }

    /// Passes what the guest wrote to its standard error (a Python traceback) to the log.
    pub fn flush_stderr(&mut self) {
        let Some(wasi) = &self.wasi else { return };
        let text = wasi.stderr.take();
        for line in String::from_utf8_lossy(&text).lines().filter(|l| !l.trim().is_empty()) {
            self.log.write(Level::Warn, line, []);
        }
    }
}

impl Drop for State {
    /// However the call ended, or was dropped.
    fn drop(&mut self) {
        self.side.progress.forget(&self.call.operation_id);
    }
}

impl WasiView for State {
    /// WASI for the guests whose language cannot start without it: no files, no sockets, no environment, no arguments.
    /// Most guests never ask, so it is made when one does.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(|| {
            let stderr = Stderr::default();
            let ctx = WasiCtxBuilder::new().stdout(stderr.clone()).stderr(stderr.clone()).allow_tcp(false).allow_udp(false).build();
            Box::new(Wasi { ctx, table: ResourceTable::new(), stderr })
        });
        WasiCtxView { ctx: &mut wasi.ctx, table: &mut wasi.table }
    }
}

const STDERR_KEPT: usize = 64 << 10;

/// Takes everything and keeps the first 64 KiB: a guest must not hang on a full pipe.
#[derive(Clone, Default)]
struct Stderr(Arc<Mutex<Vec<u8>>>);

impl Stderr {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl AsyncWrite for Stderr {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = STDERR_KEPT.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl IsTerminal for Stderr {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stderr {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}
