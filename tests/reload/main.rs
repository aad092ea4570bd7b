//! Hot reload with real components: a driver is replaced, refused, quarantined, followed by another process, and back ends
//! come, change and go, while calls go on. Needs the built drivers (`make drivers`).

mod bad_files;
mod bench;
mod configuration;
mod egress;
mod private_ca;
mod quarantine;
mod replace;
mod several_processes;
