//! Chooses the pool for a resource, or says of every pool why not.
//!
//! [`place`] works inside the caller's transaction: it filters and weighs all pools from stored reports, takes the room
//! from the best one under that pool's lock, looks again whether it still fits, and stores the explanation. What is
//! placed therefore never exceeds a pool, however many place at once; a pool that was filled meanwhile is one more
//! rejection and the next best is taken. Filters and weighers are pure and know nothing of the store.
//!
//! On failure: an error of the store rolls the caller back and nothing is charged. "No valid back end" is an answer, not
//! an error: the caller puts its resource in an end state, writes the user message ([`NoValidBackend::limit`]) and commits,
//! so that the explanation is kept.

pub mod capacity;
pub mod dictionary;
pub mod explain;
pub mod filters;
pub mod formula;
pub mod functions;
pub mod place;
pub mod pools;
pub mod protocol;
pub mod request;
pub mod spec_match;
pub mod weighers;

pub use explain::{Explanation, Limit, NoValidBackend, Rejection};
pub use place::{Placed, decide, place};
pub use pools::Candidate;
pub use request::{Hints, Options, PlacementRequest, Reach, ShareNeeds};

pub use crate::store::sql::{
    backends::{BackendConfig, BackendKind, BackendRow, MultiattachSupport},
    capacity_claims::Operation,
    pools::{BackendReport, PoolReport, PoolRow, ReportStored},
};
