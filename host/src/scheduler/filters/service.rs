//! The back end is there, enabled, not frozen, and takes new objects into this pool.

use super::{Context, Filter, Reason};
use crate::{
    scheduler::{explain::Limit, pools::Candidate},
    store::sql::capacity_claims::Operation,
};

pub struct Service;

impl Filter for Service {
    fn name(&self) -> &'static str {
        "ServiceFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Service
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let row = &pool.row;
        row.state(cx.now).map_err(|why| Reason::new(format!("the back end is down: {why}")))?;
        if !row.present {
            return Err(Reason::new("the driver no longer reports this pool"));
        }
        // what grows or is snapshotted lies here already: an operator's switch keeps new resources away, not those
        if cx.request.operation != Operation::Create {
            return Ok(());
        }
        if !row.enabled {
            let why = row.disabled_reason.as_deref().unwrap_or("no reason given");
            return Err(Reason::new(format!("the back end is disabled: {why}")));
        }
        if row.frozen {
            return Err(Reason::new("the back end is frozen"));
        }
        if !row.available {
            return Err(Reason::new("the driver takes nothing new into this pool now"));
        }
        Ok(())
    }
}
