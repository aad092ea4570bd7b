//! Suite `interleave`: eight clients at once, a few resources, a storage that fails now and then; afterwards everything is true.
//!
//! A seed makes a plan: what each client does, step by step, on a handful of resources that all of them share, and what goes
//! wrong on the arrays meanwhile. The plan is played against real `stowage serve` processes whose arrays are processes of
//! their own. Every answer is judged as it comes: no 5xx but the documented ones, every fault in the API's own shape, what was
//! accepted is seen by the next read. When all is quiet, the database, the API and the arrays are compared with one another,
//! and everything can be deleted to the last byte, and to the last address.
//!
//! There are two halves, each with its plan, its world and its truth: [`block`] (volumes; they move between two arrays, too,
//! and for want of bytes a script that takes its time, and sometimes fails, copies them) and [`shares`] (shares, rules,
//! snapshots, networks and share servers, in both driver modes). What both need is beside them: [`rounds`] and [`kills`] play
//! plan after plan, the latter while services are killed; a [`diary`] is what the clients wrote down.
//!
//! - A failure prints the seed, every client's steps so far with what came of them, what broke, and what the service logged
//!   about it. `STOWAGE_SEED=N` plays that plan (the steps are the same, their timing is the machine's; it is played
//!   `STOWAGE_ROUNDS` times, 10 if unset).
//! - `STOWAGE_INTERLEAVE_SECONDS` is the time of each test, and `STOWAGE_TEST_FULL=1` multiplies it by five.
//! - The counts of what was done go to the file `STOWAGE_TEST_NOTES`, which `tests/run.sh` prints at its end.
//!
//! Can it fail? Two answers. The halves' `checks` forge one falsehood of each kind (an object on the array, a row, a figure)
//! and demand that the truth names it, with every run of the suite. And `mutation.sh` takes one guard out of the product
//! itself, for each patch in `mutations/`, builds that, runs this suite against it and demands that it fails with the
//! violation that the patch names. That needs a second build of the service, so only `make test-full` does it.

mod block;
mod database;
mod diary;
mod events;
mod fault;
mod figures;
mod forger;
mod half;
mod kills;
mod player;
mod quiet;
mod recount;
mod rounds;
mod shares;
mod trouble;
