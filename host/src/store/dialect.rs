//! Where SQLite and PostgreSQL differ. Each exception stands here once and has a test on both.

use super::open::{Db, Store};

/// SQL for "now" by the database's clock, in microseconds since the epoch.
pub fn now_expr(store: &Store) -> &'static str {
    match store.db() {
        Db::Sqlite { .. } => "CAST(unixepoch('subsec') * 1000000 AS BIGINT)",
        Db::Postgres(_) => "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT",
    }
}
