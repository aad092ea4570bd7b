//! Suite `cli`: the real binary, as an operator meets it.

mod config;
mod postgres;
mod serve;
