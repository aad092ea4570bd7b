//! How workers use the queue: order, concurrency, retries, waiting, and what happens when a worker dies, stops or leaves.
//! The statements themselves are the suite `store`.

mod concurrency;
mod harness;
mod leaving;
mod order;
mod process;
mod reconcile;
mod retry;
mod takeover;
mod waiting;
