//! HTTP and JSON: the route table, what every request goes through, the answers.

mod dispatch;
mod handlers;
mod listener;
mod openapi;
mod routes;
mod token;
mod views;

pub(super) use dispatch::router;
pub(super) use listener::{Acceptor, serve};
pub(super) use token::Token;
