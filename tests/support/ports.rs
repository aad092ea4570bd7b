//! Ports for processes that must come back on the same ones.

use std::{
    collections::HashSet,
    net::{Ipv4Addr, TcpListener},
    sync::Mutex,
};

use rand::Rng;

/// A port that nothing listens on now, below the range the kernel gives to outgoing connections. None is given twice: a process
/// takes several before it listens on the first.
///
/// # Panics
/// When a thousand tries find none.
pub fn free() -> u16 {
    static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    let mut given = GIVEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let given = given.get_or_insert_default();
    let mut rng = rand::rng();
    (0..1000)
        .map(|_| rng.random_range(20_000..32_000))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok() && given.insert(*port))
        .expect("a free port")
}
