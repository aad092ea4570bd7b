//! Suite `sandbox`: what a component can do to the host, and what it cannot.

mod compile;
mod hostile;
mod hostile_servers;
mod isolation;
mod lease;
mod load;
mod memory;
mod objects;
mod python;
mod rig;
mod verbs;
