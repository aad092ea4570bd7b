//! The request may name the one back end or pool it can go to: that of its source, or where the resource lies.

use super::{Context, Filter, Reason};
use crate::scheduler::{explain::Limit, pools::Candidate};

pub struct Restricted;

impl Filter for Restricted {
    fn name(&self) -> &'static str {
        "RestrictedFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Hints
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        if let Some(only) = &cx.request.only_pool
            && *only != pool.row.name
        {
            return Err(Reason::new("the request is bound to another pool").with("only_pool", only.as_str()));
        }
        if let Some(only) = &cx.request.only_backend
            && *only != pool.row.host
        {
            return Err(Reason::new("the request is bound to another back end").with("only_backend", only.as_str()));
        }
        Ok(())
    }
}
