//! Ports for processes that must come back on the same ones.

use std::net::{Ipv4Addr, TcpListener};

use rand::Rng;

/// A port that nothing listens on now, below the range the kernel gives to outgoing connections.
///
/// # Panics
/// When a thousand tries find none.
pub fn free() -> u16 {
    let mut rng = rand::rng();
    (0..1000)
        .map(|_| rng.random_range(20_000..32_000))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a free port")
}
