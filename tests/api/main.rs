//! The block API through HTTP, in process, on an array of the tests' own.

mod array;
mod attachments;
mod bad_input;
mod fields;
mod lists;
mod operators;
mod site;
mod types;
mod volumes;
