//! Where a run goes on: in a process in which the incarnation serves that the run was prepared with.
//!
//! Each process reads its configuration and follows drivers at its own time. One that is late would compare shares with what
//! holds no longer, and the run would remember the new fingerprint all the same. So such a process catches up first, and
//! leaves the step to the others where it cannot. What no process has any more, because it changed for good in the middle of
//! the run or because the only process that had it is gone, is not waited for without an end.

use std::sync::Arc;

use serde_json::json;

use super::{Ask, PAUSE, prepare::reread};
use crate::{
    driver::{DriverError, backend::Backend},
    jobs::{JobContext, Outcome, TaskError},
};

/// How often in a row a step is left to other processes.
const TURNS: u32 = 20;

/// Which incarnation of the back end serves here.
pub(super) enum Serving {
    /// The one that is meant.
    Here(Arc<Backend>),
    /// None: it is down, or not loaded yet.
    Down(DriverError),
    /// Another one. The outcome leaves the step to whoever has it.
    Elsewhere(Outcome),
    /// Another one, and nobody seems to have the one that is meant.
    Instead(Arc<Backend>),
}

/// `wanted` none: whichever it is.
pub(super) async fn serving(cx: &JobContext, ask: &mut Ask, host: &str, wanted: Option<&str>) -> Result<Serving, TaskError> {
    let mut caught_up = false;
    loop {
        let here = match cx.app.drivers.backend(host) {
            Ok(backend) => backend,
            Err(e) => return Ok(Serving::Down(e)),
        };
        if wanted.is_none_or(|w| w == here.incarnation()) {
            ask.elsewhere = 0;
            return Ok(Serving::Here(here));
        }
        if caught_up {
            return nobody_or_others(cx, ask, here).await;
        }
        catch_up(cx).await;
        caught_up = true;
    }
}

async fn nobody_or_others(cx: &JobContext, ask: &mut Ask, here: Arc<Backend>) -> Result<Serving, TaskError> {
    ask.elsewhere += 1;
    let workers = cx.app.store.workers().await?.iter().filter(|w| w.alive).count();
    if ask.elsewhere > TURNS || workers <= 1 {
        ask.elsewhere = 0;
        return Ok(Serving::Instead(here));
    }
    let reason = "another process has the driver and the configuration that this began with".to_owned();
    Ok(Serving::Elsewhere(Outcome::Elsewhere { after: PAUSE, payload: json!(ask), reason }))
}

/// What is in the file and in the database is in force here, too.
async fn catch_up(cx: &JobContext) {
    // a file that is refused was logged
    let _ = reread(cx).await;
    if let Err(error) = cx.app.drivers.follow().await {
        tracing::warn!(%error, "drivers that other processes accepted are not followed now");
    }
}
