//! Suite `cli`: the real binary, as an operator meets it.

mod config;
mod driver_test;
mod postgres;
mod reset_admin_password;
mod retry_network_update;
mod serve;
mod share_server;
