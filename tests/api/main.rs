//! The APIs through HTTP, in process: the rules of every route, and the block API on an array of the tests' own.

mod admin;
mod array;
mod at_once;
mod attachments;
mod bad_input;
mod connect_turns;
mod copies;
mod events;
mod fields;
mod hanging;
mod key_sets;
mod lists;
mod older_attach;
mod operators;
mod protocol;
mod retype;
mod scopes;
mod site;
mod snapshots;
mod spec_c;
mod spec_d;
mod transfers;
mod types;
mod volume_actions;
mod volumes;
