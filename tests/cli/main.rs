//! Suite `cli`: the real binary, as an operator meets it.

mod config;
mod postgres;
mod reset_admin_password;
mod serve;
mod share_server;
