//! Suite `crash`: the real process is killed, stopped and continued while it works on an array outside of it.
//!
//! What the service says afterwards is compared with what the array holds, never with its own database. True at the end of
//! every test: no job is left, no resource is in a transitional state, the array has the objects of the resources that
//! exist and no others.

mod failover;
mod kill;
mod live_subnets;
mod lost_answer;
mod lost_exports;
mod next_send;
mod paused_worker;
mod server_migration;
mod share_servers;
mod undo;
mod volume_work;
mod world;
