//! Where resources go: the arithmetic and the grammar against the vectors of the released services, the pipeline on made
//! pools, and the store's promise that no pool is ever given more than it has.

mod capacity_block;
mod capacity_share;
mod claims;
mod functions;
mod multiattach;
mod pipeline;
mod placing;
mod races;
mod reports;
mod shared_targets;
mod snapshots;
mod spec_match;
mod spec_validate;
mod stats;
mod world;
