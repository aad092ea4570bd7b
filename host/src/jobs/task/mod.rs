//! One task a file. [`registry`] lists them all.

use super::Registry;

/// Every task of the service.
pub fn registry() -> Registry {
    Registry::default()
}
