//! Rows straight in the database: few distinct values, so that there are ties, and nothing where nothing may stand.

use std::{collections::BTreeMap, path::Path};
use stowage::store::sql::types::TypeOf;

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions,
};
use support::TestApp;

use super::model::{Row, V};

/// A connection of the test's own.
pub enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Raw {
    pub async fn sqlite(file: &Path) -> Self {
        let options = SqliteConnectOptions::new().filename(file).busy_timeout(std::time::Duration::from_secs(20)).foreign_keys(true);
        Self::Sqlite(options.connect().await.unwrap())
    }
    pub async fn postgres(url: &str) -> Self {
        Self::Postgres(PgConnection::connect(url).await.unwrap())
    }
    pub async fn run(&mut self, sql: String) {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(c) => _ = c.execute(sql).await.unwrap(),
            Self::Postgres(c) => _ = c.execute(sql).await.unwrap(),
        }
    }
    /// Inserts what `columns` say of a row.
    pub async fn insert(&mut self, table: &str, columns: &[(&str, V)]) {
        let names: Vec<&str> = columns.iter().map(|(n, _)| *n).collect();
        let values: Vec<String> = columns.iter().map(|(_, v)| literal(v)).collect();
        self.run(format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "))).await;
    }
}

fn literal(value: &V) -> String {
    match value {
        V::Null => "NULL".to_owned(),
        V::Text(t) => format!("'{}'", t.replace('\'', "''")),
        V::Int(n) => n.to_string(),
        V::Bool(b) => b.to_string().to_uppercase(),
    }
}

pub fn text(t: impl Into<String>) -> V {
    V::Text(t.into())
}

/// Draws values.
struct Draw(StdRng);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }
    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.0.random_range(0..of.len())].clone()
    }
    fn word(&mut self, of: &[&str]) -> V {
        text(self.one(of))
    }
    /// Or nothing.
    fn maybe(&mut self, of: &[&str]) -> V {
        if self.0.random_ratio(1, 3) { V::Null } else { self.word(of) }
    }
    fn flag(&mut self) -> V {
        V::Bool(self.0.random())
    }
    fn id(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.0.random()).into_uuid().to_string()
    }
    /// One of a few seconds.
    fn time(&mut self) -> V {
        V::Int(1_700_000_000_000_000 + self.0.random_range(0..6) * 1_000_000)
    }
    fn maybe_time(&mut self) -> V {
        if self.0.random_ratio(1, 3) { V::Null } else { self.time() }
    }
    /// Names with letters of one and of several bytes, with what LIKE would take for a pattern, and with quotes.
    fn name(&mut self) -> V {
        self.maybe(&["", "a", "ab", "abc", "B", "b%c", "b_c", "Äpfel", "äpfel", "it's", "日本語"])
    }
    fn pairs(&mut self, keys: &[&str]) -> BTreeMap<String, String> {
        let count = self.0.random_range(0..=keys.len());
        keys.iter().take(count).map(|k| ((*k).to_owned(), self.one(&["v", "w", "<is> True"]).to_owned())).collect()
    }
}

fn row(columns: &[(&'static str, V)]) -> Row {
    Row { fields: columns.iter().cloned().collect(), ..Row::default() }
}

const ROWS: usize = 45;

pub async fn volumes(app: &TestApp, raw: &mut Raw, one: &str, two: &str, seed: u64) -> Vec<Row> {
    let mut draw = Draw::new(seed);
    let mut types = vec![default_type(app).await];
    let other = draw.id();
    insert_type(raw, &other, "another", true, V::Int(1), V::Null).await;
    types.push(other);
    let mut rows = Vec::new();
    for _ in 0..ROWS {
        let host = draw.maybe(&["stowage@a#p1", "stowage@a#p2", "stowage@b#p1"]);
        let backend = match &host {
            V::Text(h) => text(h.split('#').next().unwrap()),
            _ => V::Null,
        };
        let mut made = row(&[
            ("id", text(draw.id())),
            ("project_id", draw.word(&[one, two])),
            ("user_id", draw.word(&["u1", "u2"])),
            ("name", draw.name()),
            ("description", draw.name()),
            ("size", V::Int(draw.0.random_range(1..4))),
            ("status", draw.word(&["available", "in-use", "error"])),
            ("attach_status", draw.word(&["detached", "attached"])),
            ("migration_status", draw.maybe(&["success", "error"])),
            ("volume_type_id", text(draw.one(&types))),
            ("availability_zone", draw.word(&["nova", "west"])),
            ("host", host),
            ("provider_id", draw.maybe(&["p1", "p2"])),
            ("bootable", draw.flag()),
            ("multiattach", draw.flag()),
            ("service_uuid", draw.maybe(&["s1", "s2"])),
            ("consumes_quota", draw.flag()),
            ("snapshot_id", draw.maybe(&["sn1", "sn2"])),
            ("source_volid", draw.maybe(&["v1"])),
            ("created_at", draw.time()),
            ("updated_at", draw.maybe_time()),
        ]);
        let mut columns: Vec<(&str, V)> =
            made.fields.iter().map(|(name, v)| (if *name == "size" { "size_gib" } else { name }, v.clone())).collect();
        columns.push(("backend", backend));
        raw.insert("volumes", &columns).await;
        made.metadata = draw.pairs(&["k", "l"]);
        for (key, value) in &made.metadata {
            let pair = [("volume_id", made.get("id").clone()), ("key", text(key)), ("value", text(value))];
            raw.insert("volume_metadata", &pair).await;
        }
        rows.push(made);
    }
    rows
}

pub async fn snapshots(app: &TestApp, raw: &mut Raw, one: &str, two: &str, seed: u64) -> Vec<Row> {
    let parents = volumes(app, raw, one, two, seed).await;
    let mut draw = Draw::new(seed ^ 1);
    let mut rows = Vec::new();
    for _ in 0..ROWS {
        let parent = parents[draw.0.random_range(0..6)].clone();
        let own = [
            ("id", text(draw.id())),
            ("volume_id", parent.get("id").clone()),
            ("project_id", draw.word(&[one, two])),
            ("user_id", draw.word(&["u1", "u2"])),
            ("name", draw.name()),
            ("description", draw.name()),
            ("status", draw.word(&["available", "error", "creating"])),
            ("progress", draw.word(&["0%", "100%"])),
            ("provider_id", draw.maybe(&["p1", "p2"])),
            ("created_at", draw.time()),
            ("updated_at", draw.maybe_time()),
        ];
        let size = V::Int(draw.0.random_range(1..4));
        let mut columns = own.to_vec();
        columns.extend([("size_gib", size.clone()), ("backed", V::Bool(true)), ("quota_gib", size.clone())]);
        raw.insert("snapshots", &columns).await;
        let mut made = row(&own);
        made.fields.insert("size", size);
        for field in ["availability_zone", "volume_type_id", "host"] {
            made.fields.insert(field, parent.get(field).clone());
        }
        made.metadata = draw.pairs(&["k", "l"]);
        for (key, value) in &made.metadata {
            let pair = [("snapshot_id", made.get("id").clone()), ("key", text(key)), ("value", text(value))];
            raw.insert("snapshot_metadata", &pair).await;
        }
        rows.push(made);
    }
    rows
}

pub async fn attachments(app: &TestApp, raw: &mut Raw, one: &str, two: &str, seed: u64) -> Vec<Row> {
    let parents = volumes(app, raw, one, two, seed).await;
    let mut draw = Draw::new(seed ^ 2);
    let mut rows = Vec::new();
    for _ in 0..ROWS {
        let columns = [
            ("id", text(draw.id())),
            ("volume_id", parents[draw.0.random_range(0..6)].get("id").clone()),
            ("project_id", draw.word(&[one, two])),
            ("instance_id", draw.maybe(&["i1", "i2", "i3"])),
            ("status", draw.word(&["reserved", "attaching", "attached"])),
            ("mode", draw.word(&["rw", "ro"])),
            ("connector_host", draw.maybe(&["compute1", "compute2"])),
            ("mountpoint", draw.maybe(&["/dev/vdb", "/dev/vdc"])),
            ("created_at", draw.time()),
            ("updated_at", draw.maybe_time()),
        ];
        raw.insert("attachments", &columns).await;
        rows.push(row(&columns));
    }
    rows
}

pub async fn types(app: &TestApp, raw: &mut Raw, one: &str, two: &str, seed: u64) -> Vec<Row> {
    let mut draw = Draw::new(seed);
    let id = default_type(app).await;
    let default = app.app().store.resource_type(TypeOf::Volume, &id).await.unwrap().unwrap().row;
    let mut rows = vec![row(&[
        ("id", text(id)),
        ("name", text(default.name)),
        ("is_public", V::Bool(default.is_public)),
        ("created_at", V::Int(default.created_at)),
        ("updated_at", default.updated_at.map_or(V::Null, V::Int)),
    ])];
    for n in 0..ROWS {
        let prefix = draw.one(&["a", "ab", "B", "Ä%_", "日本"]);
        let mut made = row(&[
            ("id", text(draw.id())),
            ("name", text(format!("{prefix}{n}"))),
            ("is_public", draw.flag()),
            ("created_at", draw.time()),
            ("updated_at", draw.maybe_time()),
        ]);
        let columns: Vec<(&str, V)> = made.fields.iter().map(|(name, v)| (*name, v.clone())).collect();
        raw.insert("volume_types", &columns).await;
        made.metadata = draw.pairs(&["multiattach", "color"]);
        for (key, value) in &made.metadata {
            let pair = [("type_id", made.get("id").clone()), ("key", text(key)), ("value", text(value))];
            raw.insert("volume_type_specs", &pair).await;
        }
        if *made.get("is_public") == V::Bool(false) {
            for project in [one, two] {
                if draw.0.random() {
                    made.granted.push(project.to_owned());
                    raw.insert("volume_type_access", &[("type_id", made.get("id").clone()), ("project_id", text(project))]).await;
                }
            }
        }
        rows.push(made);
    }
    rows
}

pub async fn messages(_: &TestApp, raw: &mut Raw, one: &str, two: &str, seed: u64) -> Vec<Row> {
    let mut draw = Draw::new(seed);
    let mut rows = Vec::new();
    let far = 4_000_000_000_000_000_i64;
    for n in 0..ROWS {
        let columns = [
            ("id", text(draw.id())),
            ("project_id", draw.word(&[one, two])),
            ("request_id", draw.word(&["req-1", "req-2", "req-11"])),
            ("resource_type", draw.word(&["VOLUME", "VOLUME_SNAPSHOT"])),
            ("resource_id", draw.word(&["r1", "r2", "r3"])),
            ("action_id", draw.word(&["001", "007"])),
            ("detail_id", draw.word(&["003"])),
            ("event_id", draw.word(&["VOLUME_VOLUME_001_003", "VOLUME_VOLUME_007_003"])),
            ("level", draw.word(&["ERROR"])),
            ("extra", text("")),
            ("created_at", draw.time()),
            // every seventh has expired
            ("expires_at", V::Int(if n % 7 == 0 { 1 } else { far + draw.0.random_range(0..3) * 1_000_000 })),
        ];
        raw.insert("messages", &columns).await;
        if n % 7 != 0 {
            rows.push(row(&columns));
        }
    }
    rows
}

pub async fn default_type(app: &TestApp) -> String {
    app.app().store.type_by_name(TypeOf::Volume, "__DEFAULT__").await.unwrap().unwrap().row.id
}

async fn insert_type(raw: &mut Raw, id: &str, name: &str, public: bool, created_at: V, updated_at: V) {
    let columns =
        [("id", text(id)), ("name", text(name)), ("is_public", V::Bool(public)), ("created_at", created_at), ("updated_at", updated_at)];
    raw.insert("volume_types", &columns).await;
}
