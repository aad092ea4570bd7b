//! The one rule for names that drivers choose: keys of `session` and `kv`, names of locks.

/// 1 to 255 bytes of printable ASCII.
pub fn is_key(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|b| (0x20..0x7f).contains(&b))
}
