//! What rules a pool out. One filter a file; each sees the survivors of those before it, so a pool has one reason.
//!
//! What the request asks comes first, what changes by itself (up or down, room) last: so the last filter that left nobody
//! is the true limit. A pool that fails for want of room had everything else, and a full pool of the right kind is not
//! hidden by one of the wrong kind.
//!
//! Filters are pure: whatever needs the store (where hinted resources lie) is looked up before and stands in [`Context`].

mod attempted;
mod availability_zone;
mod capabilities;
mod capacity;
mod driver;
mod neighbours;
mod restricted;
mod service;
mod several_subnets;

use serde_json::{Map, Value};

use super::{
    explain::{Limit, Rejection},
    pools::Candidate,
    request::PlacementRequest,
};
use crate::{
    clock::Micros,
    store::sql::{backends::BackendKind, capacity_claims::Operation},
};

/// What filters may look at besides the pool.
#[derive(Debug)]
pub struct Context<'a> {
    pub request: &'a PlacementRequest,
    /// Back ends (`host@backend`) of the resources named by `same_host`. Empty with a hint: none is known.
    pub same: &'a [String],
    /// Likewise for `different_host`.
    pub different: &'a [String],
    pub now: Micros,
}

/// Why a filter says no.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    pub text: String,
    pub numbers: Map<String, Value>,
}

impl Reason {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), numbers: Map::new() }
    }
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.numbers.insert(key.to_owned(), value.into());
        self
    }
}

/// One rule.
pub trait Filter: Sync {
    /// As upstream calls it, where upstream has it.
    fn name(&self) -> &'static str;
    fn limit(&self) -> Limit;
    /// # Errors
    /// The reason, if the pool is out.
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason>;
}

/// The filters of a request, in order.
pub fn pipeline(request: &PlacementRequest) -> Vec<&'static dyn Filter> {
    match (request.service, request.operation) {
        // a share grows where it is: only room counts
        (BackendKind::Share, Operation::Extend) => {
            vec![&restricted::Restricted, &service::Service, &driver::Driver, &capacity::Capacity]
        }
        (BackendKind::Block, _) => vec![
            &restricted::Restricted,
            &availability_zone::AvailabilityZone,
            &capabilities::Capabilities,
            &neighbours::SameBackend,
            &neighbours::DifferentBackend,
            &attempted::Attempted,
            &service::Service,
            &driver::Driver,
            &capacity::Capacity,
        ],
        (BackendKind::Share, _) => vec![
            &restricted::Restricted,
            &availability_zone::AvailabilityZone,
            &several_subnets::SeveralSubnets,
            &capabilities::Capabilities,
            &neighbours::SameBackend,
            &neighbours::DifferentBackend,
            &attempted::Attempted,
            &service::Service,
            &driver::Driver,
            &capacity::Capacity,
        ],
    }
}

/// What is left, why the others are not, and which limit the last of them met.
pub fn run(pools: Vec<Candidate>, cx: &Context<'_>) -> (Vec<Candidate>, Vec<Rejection>, Limit) {
    let (mut left, mut rejected, mut limit) = (pools, Vec::new(), Limit::NoBackend);
    for filter in pipeline(cx.request) {
        let mut passed = Vec::with_capacity(left.len());
        for pool in left {
            match filter.check(&pool, cx) {
                Ok(()) => passed.push(pool),
                Err(reason) => {
                    limit = filter.limit();
                    rejected.push(rejection(&pool, filter, reason));
                }
            }
        }
        left = passed;
        if left.is_empty() {
            break;
        }
    }
    (left, rejected, limit)
}

/// A pool that fitted when the reports were read, and no longer did under its lock.
pub fn filled_meanwhile(pool: &Candidate, request: &PlacementRequest) -> Option<Rejection> {
    let cx = Context { request, same: &[], different: &[], now: crate::clock::now() };
    let checks: [&dyn Filter; 2] = [&service::Service, &capacity::Capacity];
    checks.into_iter().find_map(|filter| filter.check(pool, &cx).err().map(|reason| rejection(pool, filter, reason)))
}

fn rejection(pool: &Candidate, filter: &dyn Filter, reason: Reason) -> Rejection {
    Rejection {
        pool: pool.row.name.clone(),
        filter: filter.name().to_owned(),
        limit: filter.limit(),
        reason: reason.text,
        numbers: reason.numbers,
    }
}
