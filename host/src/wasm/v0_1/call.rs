//! One call of a guest: a fresh instance, its limits, and what its end means.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, error::Elapsed};
use wasmtime::{
    PoolConcurrencyLimitError, Store, Trap, WasmBacktrace,
    component::{Instance, InstancePre},
};

use super::{bindings::types, exports::Exports};
use crate::{
    driver::{Call, DriverError, DriverResult, ErrorKind, Gate, gate::Pass},
    wasm::{
        limits::{self, Budget, BudgetSpent, CallLimits, LeaseLost, LimitExceeded},
        state::{HostSide, State},
    },
};

/// A guest is stopped at its deadline by the epoch; this much later it is dropped even inside a host function.
const GRACE: Duration = Duration::from_millis(500);
/// So many frames of one function are recursion; the engine keeps the innermost 20.
const DEEP: usize = 8;

/// A 0.1 component serving one incarnation of a back end. Implements the traits of `driver/`.
pub struct Adapter {
    pub(super) host: String,
    pub(super) pre: InstancePre<State>,
    pub(super) exports: Arc<Exports>,
    pub(super) side: Arc<HostSide>,
    pub(super) limits: CallLimits,
    /// None: the trial of a component that serves no back end yet.
    pub(super) gate: Option<Arc<Gate>>,
}

/// A call under way.
pub(super) struct Run {
    pub store: Store<State>,
    pub instance: Instance,
    pub drop_at: Instant,
    pub verb: &'static str,
    begun: Instant,
    pass: Option<Pass>,
}

impl Adapter {
    /// Makes a fresh instance for `call`.
    pub(super) async fn begin(&self, call: &Call, verb: &'static str) -> DriverResult<Run> {
        if call.lease.is_cancelled() {
            return Err(DriverError::lease_lost());
        }
        let pass = match &self.gate {
            Some(gate) => Some(gate.enter(call).await?),
            None => None,
        };
        if call.lease.is_cancelled() {
            return Err(DriverError::lease_lost()); // while it waited for its turn
        }
        let begun = Instant::now();
        let until = Instant::from_std(call.deadline).min(begun + self.limits.call_timeout);
        let lease = call.lease.child();
        let state = State::new(self.side.clone(), call.clone(), lease.clone(), until, &self.limits);
        let mut store = Store::new(self.pre.engine(), state);
        let budget = Budget { begun: begun.into_std(), until: until.into_std(), lease };
        limits::apply(&mut store, &self.limits, budget, |state| &mut state.limiter);
        let drop_at = until + GRACE;
        let instance = tokio::time::timeout_at(drop_at, self.pre.instantiate_async(&mut store)).await;
        let error = match instance {
            Ok(Ok(instance)) => return Ok(Run { store, instance, drop_at, verb, begun, pass }),
            Ok(Err(error)) => self.failed(verb, &error),
            Err(_) => deadline(verb, until.saturating_duration_since(begun)),
        };
        store.data_mut().flush_stderr();
        let refused = Err(error);
        if let Some(pass) = pass {
            pass.ended(&refused);
        }
        refused
    }

    /// What the end of a guest's function means, before its answer is judged.
    pub(super) fn outcome<T>(&self, run: &Run, outcome: Result<wasmtime::Result<T>, Elapsed>) -> DriverResult<T> {
        match outcome {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.failed(run.verb, &error)),
            Err(_) => Err(deadline(run.verb, run.begun.elapsed())),
        }
    }

    /// Ends the call with its judged answer. The store ends here.
    pub(super) fn finish<T>(&self, mut run: Run, answer: DriverResult<T>) -> DriverResult<T> {
        run.store.data_mut().flush_stderr();
        // an array may have sent a secret back, and the driver quoted it
        let answer = answer.map_err(|mut e| {
            e.message = self.side.secrets.redact(&e.message);
            e.user_message = e.user_message.map(|text| self.side.secrets.redact(&text));
            e
        });
        let result = answer.as_ref().map_or_else(|e| e.kind.as_str(), |_| "answered");
        metrics::histogram!("stowage_driver_call_seconds", "backend" => self.host.clone(), "verb" => run.verb, "result" => result)
            .record(run.begun.elapsed().as_secs_f64());
        if let Some(pass) = run.pass.take() {
            pass.ended(&answer);
        }
        answer
    }

    /// Tells by type why a guest ended without an answer.
    fn failed(&self, verb: &'static str, error: &wasmtime::Error) -> DriverError {
        let mut failure = classify(verb, error);
        failure.message = self.side.secrets.redact(&failure.message);
        tracing::warn!(backend = %self.host, driver = %self.side.driver, verb, kind = failure.kind.as_str(), error = %failure.message, "a driver call failed");
        failure
    }
}

impl Run {
    /// The call as the guest sees it.
    pub fn call(&self) -> types::Call {
        let state = self.store.data();
        let left = state.until.saturating_duration_since(Instant::now());
        types::Call {
            operation_id: state.call.operation_id.clone(),
            generation: state.call.generation,
            request_id: state.call.request_id.clone(),
            deadline_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

fn deadline(verb: &str, budget: Duration) -> DriverError {
    DriverError::new(ErrorKind::Deadline, format!("{verb}: the driver did not return within {budget:.1?}"))
}

/// Names the kind of an error by the types in it.
pub(super) fn classify(verb: &str, error: &wasmtime::Error) -> DriverError {
    if let Some(limit) = error.downcast_ref::<LimitExceeded>() {
        return DriverError::new(ErrorKind::MemoryLimit, format!("{verb}: {limit}"));
    }
    if let Some(spent) = error.downcast_ref::<BudgetSpent>() {
        return deadline(verb, spent.0);
    }
    if error.is::<LeaseLost>() {
        return DriverError::lease_lost();
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return DriverError::new(ErrorKind::Saturated, format!("{verb}: this process runs as many driver instances as it may"));
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        let overflow = *trap == Trap::StackOverflow || (*trap == Trap::MemoryOutOfBounds && is_recursing(error));
        let kind = if overflow { ErrorKind::StackOverflow } else { ErrorKind::Trap };
        return DriverError::new(kind, format!("{verb}: {trap}; {}", frames(error)));
    }
    // not a trap: what the guest handed over could not be read
    DriverError::wrong_answer(format!("{verb}: {}", super::convert::text(&format!("{error:#}"), 1024)))
}

/// Whether one function calls itself in most of the innermost frames. Compiled languages keep what is large in a stack of
/// their own in linear memory; where that one ends first, recursion ends as an access out of bounds.
fn is_recursing(error: &wasmtime::Error) -> bool {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else { return false };
    let frames = trace.frames();
    let most = frames.iter().map(|f| frames.iter().filter(|g| g.func_index() == f.func_index()).count()).max().unwrap_or(0);
    most >= DEEP && most * 2 > frames.len()
}

/// The innermost guest functions, for the vendor.
fn frames(error: &wasmtime::Error) -> String {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else { return String::new() };
    // printed, because only printing demangles: `    0: 0x1234 - module!function`
    let printed = trace.to_string();
    let names: Vec<&str> = printed.lines().filter_map(|l| l.split_once(" - ")).map(|(_, name)| name.trim()).take(6).collect();
    if names.is_empty() { String::new() } else { super::convert::text(&format!("in {}", names.join(" < ")), 1024) }
}

/// A boxed future that calls a function on a fresh instance and judges its answer:
/// `ask!(self, call, "volumes.create", volumes.call_create(&volume.wit()), answer => checked(answer.host()))`.
macro_rules! ask {
    ($self:ident, $call:ident, $verb:literal, $interface:ident . $function:ident ( $($arg:expr),* $(,)? ), $answer:ident => $judged:expr) => {
        Box::pin(async move {
        let mut run = $self.begin($call, $verb).await?;
        let call = run.call();
        let drop_at = run.drop_at;
        let indices = $self.exports.$interface.as_ref();
        let (store, instance) = (&mut run.store, &run.instance);
        let outcome = tokio::time::timeout_at(drop_at, async {
            let indices = indices.ok_or_else(|| wasmtime::format_err!("the component does not export it"))?;
            let guest = indices.load(&mut *store, instance)?;
            guest.$function(&mut *store, &call, $($arg),*).await
        })
        .await;
        let judged = match $self.outcome(&run, outcome) {
            Ok(Ok($answer)) => $judged,
            Ok(Err(error)) => Err($crate::driver::answer::failure(error.host())),
            Err(error) => Err(error),
        };
        $self.finish(run, judged)
        })
    };
}
pub(super) use ask;
