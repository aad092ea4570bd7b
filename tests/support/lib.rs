//! What the suites share: the whole service in process ([`TestApp`]), the real binary ([`Process`]), a client that speaks
//! the APIs as released clients do ([`Client`]).
//!
//! Every suite takes free ports and a temporary folder of its own; nothing outlives the test.

pub mod app;
pub mod array;
pub mod callers;
pub mod client;
pub mod coverage;
pub mod db;
pub mod drivers;
pub mod initiator;
pub mod lab;
pub mod many_shares;
pub mod node;
pub mod persona;
pub mod ports;
pub mod postgres;
pub mod process;
pub mod receiver;
pub mod record;
pub mod statements;
pub mod wait;

pub use app::{Builder, TestApp};
pub use client::{Answer, Client};
pub use persona::Persona;
pub use process::Process;
