//! Both folders of migrations arrive at one schema: the same tables, columns, nullability, keys and indexes.

use std::collections::BTreeMap;

use sqlx::{Connection, PgConnection, Row, SqliteConnection};
use support::db::Db;

/// A table as a person would describe it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Name to (kind of type, nullable).
    columns: BTreeMap<String, (String, bool)>,
    primary_key: Vec<String>,
    /// Name to definition: unique or not, columns, condition. UNIQUE constraints, which each engine names in its own way, have
    /// their columns for a name.
    indexes: BTreeMap<String, String>,
    /// Columns, target table, target columns, what a delete does.
    foreign_keys: Vec<String>,
}

/// What drivers keep: on SQLite a file of its own, so that they do not contend with the control plane's writer.
const POSTGRES_ONLY: [&str; 3] = ["driver_kv", "driver_kv_usage", "driver_locks"];

type Schema = BTreeMap<String, Table>;

/// The kinds of values we store, whatever each engine calls the type.
fn kind(declared: &str) -> String {
    match declared.to_ascii_lowercase().as_str() {
        "text" => "text",
        "bigint" | "integer" | "int8" => "integer",
        "boolean" => "boolean",
        "double precision" | "real" | "double" => "real",
        "bytea" | "blob" => "bytes",
        other => panic!("a type outside the common subset: {other}"),
    }
    .to_owned()
}

/// Conditions of partial indexes are written back by PostgreSQL in its own style.
fn condition(text: &str) -> String {
    text.replace("::text", "").replace(['(', ')', ' ', '"'], "").to_lowercase()
}

async fn sqlite_schema(path: &str) -> Schema {
    let mut db = SqliteConnection::connect(&format!("{path}?mode=ro")).await.unwrap();
    let mut schema = Schema::new();
    let tables = sqlx::query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx%'");
    for row in tables.fetch_all(&mut db).await.unwrap() {
        let name: String = row.get(0);
        let mut table = Table::default();
        let mut key = BTreeMap::new();
        for c in sqlx::query("SELECT name, type, \"notnull\", pk FROM pragma_table_info($1)").bind(&name).fetch_all(&mut db).await.unwrap()
        {
            let column: String = c.get(0);
            table.columns.insert(column.clone(), (kind(c.get(1)), c.get::<i64, _>(2) == 0));
            if c.get::<i64, _>(3) > 0 {
                key.insert(c.get::<i64, _>(3), column);
            }
        }
        table.primary_key = key.into_values().collect();
        for i in sqlx::query("SELECT name, \"unique\", origin FROM pragma_index_list($1)").bind(&name).fetch_all(&mut db).await.unwrap() {
            let (index, unique, origin): (String, i64, String) = (i.get(0), i.get(1), i.get(2));
            if origin == "pk" {
                continue;
            }
            let columns: Vec<(Option<String>, i64)> =
                sqlx::query_as("SELECT name, \"desc\" FROM pragma_index_xinfo($1) WHERE key = 1 ORDER BY seqno")
                    .bind(&index)
                    .fetch_all(&mut db)
                    .await
                    .unwrap();
            let columns: Vec<_> = columns
                .into_iter()
                .map(|(n, desc)| format!("{}{}", n.expect("no index on an expression"), if desc == 1 { " desc" } else { "" }))
                .collect();
            if origin == "u" {
                let columns = columns.join(", ");
                table.indexes.insert(format!("unique ({columns})"), format!("unique=true ({columns}) where "));
                continue;
            }
            let (text,): (String,) =
                sqlx::query_as("SELECT sql FROM sqlite_master WHERE name = $1").bind(&index).fetch_one(&mut db).await.unwrap();
            let text = text.to_lowercase();
            let filter = text.split_once(" where ").map_or(String::new(), |(_, c)| condition(c));
            table.indexes.insert(index, format!("unique={} ({}) where {filter}", unique == 1, columns.join(", ")));
        }
        let keys =
            sqlx::query("SELECT id, \"from\", \"table\", \"to\", on_delete FROM pragma_foreign_key_list($1) ORDER BY id, seq").bind(&name);
        let mut foreign: BTreeMap<i64, (Vec<String>, String, Vec<String>, String)> = BTreeMap::new();
        for k in keys.fetch_all(&mut db).await.unwrap() {
            let entry = foreign.entry(k.get(0)).or_insert_with(|| (Vec::new(), k.get(2), Vec::new(), k.get::<String, _>(4).to_lowercase()));
            entry.0.push(k.get(1));
            entry.2.push(k.get(3));
        }
        table.foreign_keys = foreign
            .into_values()
            .map(|(from, to, columns, delete)| format!("({}) -> {to}({}) {delete}", from.join(","), columns.join(",")))
            .collect();
        table.foreign_keys.sort();
        schema.insert(name, table);
    }
    schema
}

async fn postgres_schema(url: &str) -> Schema {
    let mut db = PgConnection::connect(url).await.unwrap();
    let mut schema = Schema::new();
    let columns = sqlx::query(
        "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns \
         WHERE table_schema = 'public' AND table_name NOT LIKE '\\_sqlx%'",
    );
    for c in columns.fetch_all(&mut db).await.unwrap() {
        let table: &mut Table = schema.entry(c.get(0)).or_default();
        table.columns.insert(c.get(1), (kind(c.get(2)), c.get(3)));
    }
    let indexes = sqlx::query(
        "SELECT t.relname::text, i.relname::text, x.indisunique, x.indisprimary, \
           ARRAY(SELECT a.attname::text || CASE WHEN x.indoption[k.n - 1] & 1 = 1 THEN ' desc' ELSE '' END \
                 FROM unnest(x.indkey) WITH ORDINALITY k (attnum, n) JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum ORDER BY k.n), \
           COALESCE(pg_get_expr(x.indpred, x.indrelid), ''), \
           EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype = 'u') \
         FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace \
         WHERE s.nspname = 'public' AND t.relname NOT LIKE '\\_sqlx%'",
    );
    for i in indexes.fetch_all(&mut db).await.unwrap() {
        let (table, name, unique, primary, columns, filter): (String, String, bool, bool, Vec<String>, String) =
            (i.get(0), i.get(1), i.get(2), i.get(3), i.get(4), i.get(5));
        let table = schema.get_mut(&table).unwrap();
        if primary {
            table.primary_key = columns;
        } else if i.get(6) {
            let columns = columns.join(", ");
            table.indexes.insert(format!("unique ({columns})"), format!("unique=true ({columns}) where "));
        } else {
            table.indexes.insert(name, format!("unique={unique} ({}) where {}", columns.join(", "), condition(&filter)));
        }
    }
    let foreign = sqlx::query(
        "SELECT t.relname::text, f.relname::text, c.confdeltype::text, \
           ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k (attnum, n) JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum ORDER BY k.n), \
           ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k (attnum, n) JOIN pg_attribute a ON a.attrelid = f.oid AND a.attnum = k.attnum ORDER BY k.n) \
         FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid WHERE c.contype = 'f'",
    );
    for k in foreign.fetch_all(&mut db).await.unwrap() {
        let (table, to, delete, from, columns): (String, String, String, Vec<String>, Vec<String>) =
            (k.get(0), k.get(1), k.get(2), k.get(3), k.get(4));
        let delete = match delete.as_str() {
            "c" => "cascade",
            "n" => "set null",
            "r" => "restrict",
            "d" => "set default",
            _ => "no action",
        };
        schema.get_mut(&table).unwrap().foreign_keys.push(format!("({}) -> {to}({}) {delete}", from.join(","), columns.join(",")));
    }
    for table in schema.values_mut() {
        table.foreign_keys.sort();
    }
    schema
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_databases_have_one_schema() {
    if !support::db::is_wanted("postgres") || !support::db::is_wanted("sqlite") {
        return;
    }
    let (lite, pg) = (Db::sqlite().await, Db::postgres().await);
    let (a, mut b) = (sqlite_schema(&lite.options.url).await, postgres_schema(&pg.options.url).await);
    assert!(a.contains_key("jobs"), "the comparison sees tables: {:?}", a.keys());
    for table in POSTGRES_ONLY {
        assert!(b.remove(table).is_some() && !a.contains_key(table), "{table}");
    }
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "tables (SQLite, PostgreSQL)");
    let differences: Vec<_> = a
        .iter()
        .zip(&b)
        .filter(|(x, y)| x != y)
        .map(|((name, x), (_, y))| format!("{name}\n  SQLite     {x:?}\n  PostgreSQL {y:?}"))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn both_folders_have_the_same_files() {
    let names = |folder: &str| {
        let path = format!("{}/../migrations/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut names: Vec<_> = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"));
}
