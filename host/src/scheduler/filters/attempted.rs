//! Pools that were tried for this resource before are not tried again. (Upstream has this filter, switched off.)

use super::{Context, Filter, Reason};
use crate::scheduler::{explain::Limit, pools::Candidate};

pub struct Attempted;

impl Filter for Attempted {
    fn name(&self) -> &'static str {
        "IgnoreAttemptedHostsFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Attempted
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        if cx.request.exclude_pools.contains(&pool.row.name) {
            return Err(Reason::new("it was tried for this resource and failed"));
        }
        Ok(())
    }
}
