//! A back end with many shares: copies of one that the memory driver made, in the database and in what the driver keeps.

use sqlx::{Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};

/// The id of copy `n`, counted from 1, the oldest.
pub fn id(n: usize) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// The same in SQL, by the kind of thing.
fn new_id(kind: char) -> String {
    format!("'00000000-0000-4000-{kind}000-' || substr(CAST(1000000000000 + n AS TEXT), 2)")
}

const NUMBERS: &str =
    "WITH RECURSIVE numbers(n) AS (SELECT CAST($3 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST($1 AS BIGINT))";

/// A copy of each row of `table` that fits, for each number; columns in `changed` get another value.
fn copy(table: &str, columns: &[String], changed: &[(&str, &str)], fits: &str) -> String {
    let value = |column: &String| changed.iter().find(|(c, _)| c == column).map_or_else(|| format!("t.{column}"), |(_, v)| (*v).to_owned());
    let values: Vec<String> = columns.iter().map(value).collect();
    format!(
        "INSERT INTO {table} ({}) {NUMBERS} SELECT {} FROM numbers CROSS JOIN {table} t WHERE {fits}",
        columns.join(", "),
        values.join(", ")
    )
}

/// The statements, each with `$1` the last number, `$2` the share's id and `$3` the first number.
fn statements(columns: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let (share, instance, location) = (new_id('8'), new_id('9'), new_id('a'));
    let path = format!("REPLACE(t.path, t.share_instance_id, {instance})");
    vec![
        copy("shares", &columns("shares"), &[("id", &share), ("created_at", "t.created_at + n")], "t.id = $2"),
        copy("share_instances", &columns("share_instances"), &[("id", &instance), ("share_id", &share)], "t.share_id = $2"),
        copy(
            "share_export_locations",
            &columns("share_export_locations"),
            &[("id", &format!("{location} || CAST(t.position AS TEXT)")), ("share_instance_id", &instance), ("path", &path)],
            "t.share_instance_id IN (SELECT id FROM share_instances WHERE share_id = $2)",
        ),
    ]
}

/// What the driver keeps of the copies; `$2` is the instance's id.
fn kept() -> String {
    let key = format!("REPLACE(t.key, CAST($2 AS TEXT), {})", new_id('9'));
    let columns: Vec<String> = ["backend", "key", "value", "version"].map(str::to_owned).to_vec();
    copy("driver_kv", &columns, &[("key", &key)], "t.key LIKE 'o/%/' || CAST($2 AS TEXT)")
}

/// Makes copies of an available share, in the database at `url`: those with the numbers `from` to `to`, counted from 1. Each is
/// newer than the one before.
pub async fn copies(url: &str, share_id: &str, from: usize, to: usize) {
    let (from, to) = (i64::try_from(from).unwrap(), i64::try_from(to).unwrap());
    const INSTANCE: &str = "SELECT id FROM share_instances WHERE share_id = $1";
    if url.starts_with("postgres") {
        let mut db = PgConnection::connect(url).await.unwrap();
        let sql = "SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns WHERE table_schema = current_schema()";
        let all: Vec<(String, String)> = sqlx::query_as(sql).fetch_all(&mut db).await.unwrap();
        let (instance,): (String,) = sqlx::query_as(INSTANCE).bind(share_id).fetch_one(&mut db).await.unwrap();
        let of = |table: &str| all.iter().filter(|(t, _)| t == table).map(|(_, c)| c.clone()).collect();
        for sql in statements(of) {
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(to).bind(share_id).bind(from).execute(&mut db).await.unwrap();
        }
        sqlx::query(sqlx::AssertSqlSafe(kept())).bind(to).bind(&instance).bind(from).execute(&mut db).await.unwrap();
        // as it does by itself a minute later
        sqlx::query("ANALYZE").execute(&mut db).await.unwrap();
        db.close().await.unwrap();
        return;
    }
    let file = url.trim_start_matches("sqlite:").trim_start_matches("//");
    let open = async |file: &str| {
        let options = SqliteConnectOptions::new().filename(file).busy_timeout(crate::wait::PATIENCE);
        SqliteConnection::connect_with(&options).await.unwrap()
    };
    let mut db = open(file).await;
    let sql = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'";
    let all: Vec<(String, String)> = sqlx::query_as(sql).fetch_all(&mut db).await.unwrap();
    let (instance,): (String,) = sqlx::query_as(INSTANCE).bind(share_id).fetch_one(&mut db).await.unwrap();
    let of = |table: &str| all.iter().filter(|(t, _)| t == table).map(|(_, c)| c.clone()).collect();
    for sql in statements(of) {
        sqlx::query(sqlx::AssertSqlSafe(sql)).bind(to).bind(share_id).bind(from).execute(&mut db).await.unwrap();
    }
    db.close().await.unwrap();
    let mut kept_in = open(&format!("{file}.drivers")).await;
    sqlx::query(sqlx::AssertSqlSafe(kept())).bind(to).bind(&instance).bind(from).execute(&mut kept_in).await.unwrap();
    kept_in.close().await.unwrap();
}
