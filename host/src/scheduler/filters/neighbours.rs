//! Scheduler hints: on the back end of other resources, or away from it.

use super::{Context, Filter, Reason};
use crate::scheduler::{explain::Limit, pools::Candidate};

pub struct SameBackend;
pub struct DifferentBackend;

impl Filter for SameBackend {
    fn name(&self) -> &'static str {
        "SameBackendFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Hints
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let asked = &cx.request.hints.same_host;
        if asked.is_empty() || cx.same.iter().any(|b| b == pool.backend()) {
            return Ok(());
        }
        Err(Reason::new("none of the resources named by same_host lies on this back end").with("same_host", asked.clone()))
    }
}

impl Filter for DifferentBackend {
    fn name(&self) -> &'static str {
        "DifferentBackendFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Hints
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let asked = &cx.request.hints.different_host;
        // an id that is none cannot be kept away from: refuse rather than guess
        if let Some(odd) = asked.iter().find(|id| uuid::Uuid::parse_str(id).is_err()) {
            return Err(Reason::new(format!("different_host names `{odd}`, which is no id")));
        }
        if cx.different.iter().any(|b| b == pool.backend()) {
            return Err(Reason::new("a resource named by different_host lies on this back end").with("different_host", asked.clone()));
        }
        Ok(())
    }
}
