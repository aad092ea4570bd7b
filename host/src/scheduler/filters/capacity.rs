//! The pool has room: see [`scheduler::capacity`](crate::scheduler::capacity).

use super::{Context, Filter, Reason};
use crate::scheduler::{
    capacity::{float, number},
    explain::Limit,
    pools::Candidate,
};

pub struct Capacity;

impl Filter for Capacity {
    fn name(&self) -> &'static str {
        "CapacityFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Capacity
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let verdict = pool.capacity(cx.request);
        if verdict.fits {
            return Ok(());
        }
        let row = &pool.row;
        let mut reason = Reason::new(verdict.reason)
            .with("requested_gib", cx.request.size_gib)
            .with("total_gib", row.total.json())
            .with("free_gib", row.free.json())
            .with("claimed_gib", row.claimed_gib)
            .with("provisioned_gib", number(row.provisioned_gib + float(row.claimed_gib)))
            .with("reserved_percentage", row.reserved_percentage);
        if let Some(room) = verdict.room {
            reason = reason.with("room_gib", number(room));
        }
        Err(reason)
    }
}
