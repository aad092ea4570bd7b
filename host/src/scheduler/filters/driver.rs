//! The pool's `filter_function`, set by its driver or by the operator, takes the request. A function that cannot be computed
//! takes nothing.

use serde_json::Value as Json;

use super::{Context, Filter, Reason};
use crate::scheduler::{
    explain::Limit,
    formula::Value,
    functions::{self, FILTER},
    pools::Candidate,
};

/// Characters of a function in a reason.
const SHOWN: usize = 256;

pub struct Driver;

impl Filter for Driver {
    fn name(&self) -> &'static str {
        "DriverFilter"
    }
    fn limit(&self) -> Limit {
        Limit::Function
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        // as much as tells which it is: an explanation is kept for every pool
        let function = || pool.capabilities.get(FILTER).and_then(Json::as_str).map_or("", shown).to_owned();
        match functions::values(pool, cx.request, FILTER) {
            Ok(None) => Ok(()),
            Ok(Some(values)) if values.iter().any(Value::is_true) => Ok(()),
            Ok(Some(_)) => Err(Reason::new("the pool's filter function says no").with(FILTER, function())),
            Err(e) => Err(Reason::new(format!("the pool's filter function cannot be computed: {e}")).with(FILTER, function())),
        }
    }
}

fn shown(function: &str) -> &str {
    function.char_indices().nth(SHOWN).map_or(function, |(end, _)| &function[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_shows_the_beginning_of_a_long_function() {
        assert_eq!(shown("1 == 2"), "1 == 2");
        assert_eq!(shown(&"\u{e4}".repeat(1000)), "\u{e4}".repeat(SHOWN));
    }
}
