//! What statements a process has run, and which of them read a table whole.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Mutex, PoisonError},
};

use sqlx::AssertSqlSafe;
use tracing::field::{Field, Visit};

use crate::db::Db;

/// Where SQLx logs.
pub const TARGET: &str = "sqlx::query";

/// Tables with a row for each back end, process, type or role; and parts of a statement that are no tables.
const SMALL: &[&str] = &[
    "p",
    "b",
    "t",
    "w",
    "n",
    "h",
    "r",
    "held",
    "lane",
    "due",
    "pools",
    "backends",
    "workers",
    "processes",
    "process_log_levels",
    "duties",
    "settings",
    "webhook_state",
    "volume_types",
    "share_types",
    "driver_active",
    "driver_blobs",
    "roles",
    "implied_roles",
    "domains",
    "capacity_groups",
    "_sqlx_migrations",
    "CONSTANT",
];

/// What no request does: loops, whose tables are kept short.
const BEHIND: &[&str] = &[
    "DELETE FROM capacity_claims WHERE settled_at",
    // in the order of its key, a batch at a time
    "SELECT seq, id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts FROM outbox e",
    "SELECT seq, id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts FROM webhook_queue e",
    "SELECT COUNT(*) AS waiting, COALESCE(SUM(CASE WHEN attempts > 0 THEN 1 ELSE 0 END), 0) AS refused",
];

/// Every statement that this process has run.
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

#[derive(Default)]
struct Text {
    summary: String,
    whole: String,
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.clone_into(&mut self.summary),
            "db.statement" => value.trim().clone_into(&mut self.whole),
            _ => {}
        }
    }
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

/// Keeps the statement of an event of [`TARGET`].
pub fn keep(event: &tracing::Event<'_>) {
    let mut text = Text::default();
    event.record(&mut text);
    let sql = if text.whole.is_empty() { text.summary } else { text.whole };
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(sql);
}

/// Set for the process of its own that a test runs in.
const ALONE: &str = "STOWAGE_TEST_ALONE";

/// Whether nothing but `test` runs in this process. If not, it is run in one of its own: what the others run is no request's.
///
/// # Panics
/// When it fails there.
pub fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let ended = std::process::Command::new(program).args([test, "--exact", "--nocapture"]).env(ALONE, "1").status().unwrap();
    assert!(ended.success(), "{test}: {ended}");
    false
}

/// What the plans say.
#[derive(Debug, Default)]
pub struct Plans {
    /// How many statements were looked at.
    pub explained: usize,
    /// Those that read a table whole, each with the step that does.
    pub whole: Vec<String>,
    /// Lists of the newest that sort what they read, where an index has it in that order.
    pub sorted: Vec<String>,
}

/// Whether a list has the order that lists have when nobody asks for another: every table has an index for it.
fn newest_first(sql: &str) -> bool {
    let order = sql.rsplit_once("ORDER BY ").map_or("", |(_, order)| order);
    order.split_once('.').is_some_and(|(_, column)| column.starts_with("created_at DESC"))
}

/// The plans that SQLite makes, in an empty database, for what was seen so far. Tables and aliases in `small` may be read
/// whole, too; statements that begin as one of `behind` are no request's either.
pub async fn plans(small: &[&str], behind: &[&str]) -> Plans {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let empty = Db::sqlite().await;
    let db = sqlx::SqlitePool::connect(&empty.options.url).await.unwrap();
    let partial: Vec<(String,)> =
        sqlx::query_as("SELECT i.name FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i.partial")
            .fetch_all(&db)
            .await
            .unwrap();
    let partial: BTreeSet<String> = partial.into_iter().map(|(name,)| name).collect();
    let mut found = Plans::default();
    for sql in seen {
        // migrations have several statements: only what is one, and reads or writes rows
        let verb = sql.split_whitespace().next().unwrap_or_default();
        // a count over every project, which only an operator asks for, reads what it counts
        let counts_all = sql.starts_with("SELECT COUNT(*)") && sql.contains(" WHERE TRUE") && !sql.contains("project_id = ");
        let behind = counts_all || BEHIND.iter().chain(behind).any(|begins| sql.starts_with(begins));
        if behind || sql.contains(';') || !["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(&verb) {
            continue;
        }
        let plan: Result<Vec<(i64, i64, i64, String)>, _> =
            sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"))).fetch_all(&db).await;
        // what another test said to PostgreSQL
        let Ok(plan) = plan else { continue };
        found.explained += 1;
        let sorts = plan.iter().any(|(.., step)| step == "USE TEMP B-TREE FOR ORDER BY");
        if sorts && sql.contains(" LIMIT ") && newest_first(&sql) {
            found.sorted.push(sql.clone());
        }
        for (.., step) in plan {
            let Some(scanned) = step.strip_prefix("SCAN ") else { continue };
            let table = scanned.split_whitespace().next().unwrap_or_default();
            let index = scanned.split_once(" INDEX ").map(|(_, name)| name);
            // in the order of an index until a page is full is no reading whole; without a page's end it is, but where the index
            // has few of the rows
            let in_order = index.is_some_and(|name| sql.contains(" LIMIT ") || partial.contains(name));
            let written_out = scanned.ends_with("VALUES CLAUSE");
            if !in_order && !written_out && !SMALL.contains(&table) && !small.contains(&table) && !table.starts_with('(') {
                found.whole.push(format!("{step}: {sql}"));
            }
        }
    }
    found
}
