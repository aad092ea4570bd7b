//! The pool's `filter_function`, set by its driver or by the operator, takes the request. A function that cannot be computed
//! takes nothing.

use super::{Context, Filter, Reason};
use crate::scheduler::{
    explain::Limit,
    formula::Value,
    functions::{self, FILTER},
    pools::Candidate,
};

pub struct Driver;

impl Filter for Driver {
    fn name(&self) -> &'static str {
        "DriverFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Function
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let function = || pool.capabilities.get(FILTER).cloned().unwrap_or_default();
        match functions::values(pool, cx.request, FILTER) {
            Ok(None) => Ok(()),
            Ok(Some(values)) if values.iter().any(Value::is_true) => Ok(()),
            Ok(Some(_)) => Err(Reason::new("the pool's filter function says no").with(FILTER, function())),
            Err(e) => Err(Reason::new(format!("the pool's filter function cannot be computed: {e}")).with(FILTER, function())),
        }
    }
}
