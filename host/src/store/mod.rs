//! The state: SQLite (embedded default) or PostgreSQL (production), one SQL text for both.
//!
//! Invariants: no driver or network call while a [`Tx`] is open; every state change is one conditional UPDATE naming its
//! source states; what must be true together is written in one [`Tx`]. SQL stands only in this folder; the few places
//! where the two databases differ are in [`dialect`]. On failure a dropped [`Tx`] rolls back and runs no after-commit hook.

pub mod bind;
pub mod dialect;
pub mod error;
pub mod keyset;
pub mod migrate;
pub mod open;
mod read;
pub mod sql;
pub mod tx;

pub use error::{StoreError, StoreResult};
pub use open::{Durability, Store, StoreOptions};
pub use tx::Tx;

/// Runs `$body` with `$c` bound to the read pool of whichever database is open.
macro_rules! on_read {
    ($store:expr, $c:ident => $body:expr) => {
        match $store.db() {
            $crate::store::open::Db::Sqlite { read: $c, .. } => $body,
            $crate::store::open::Db::Postgres($c) => $body,
        }
    };
}
/// Runs `$body` with `$c` bound to the connection of an open transaction.
macro_rules! on_tx {
    ($tx:expr, $c:ident => $body:expr) => {
        match &mut $tx.inner {
            $crate::store::tx::Inner::Sqlite(t) => {
                let $c = &mut **t;
                $body
            }
            $crate::store::tx::Inner::Postgres(t) => {
                let $c = &mut **t;
                $body
            }
        }
    };
}
pub(crate) use {on_read, on_tx};
