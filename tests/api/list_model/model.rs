//! What each list may be asked, and the answer by brute force.

use std::{cmp::Ordering, collections::BTreeMap};

use futures::future::BoxFuture;
use stowage::clock::api_text;
use support::TestApp;

use super::seed::{self, Raw};

/// A field of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum V {
    Null,
    Text(String),
    Int(i64),
    Bool(bool),
}

impl V {
    fn text(&self) -> String {
        match self {
            Self::Text(t) => t.clone(),
            _ => String::new(),
        }
    }
    fn int(&self) -> i64 {
        match self {
            Self::Int(n) => *n,
            Self::Bool(b) => i64::from(*b),
            _ => 0,
        }
    }
    /// Nothing sorts as the least value of its kind.
    fn order(&self, other: &Self) -> Ordering {
        self.int().cmp(&other.int()).then_with(|| self.text().as_bytes().cmp(other.text().as_bytes()))
    }
}

/// A row of a list, as the test put it into the database.
#[derive(Debug, Clone, Default)]
pub struct Row {
    pub fields: BTreeMap<&'static str, V>,
    pub metadata: BTreeMap<String, String>,
    /// Projects that a private type was given to.
    pub granted: Vec<String>,
}

impl Row {
    pub fn get(&self, field: &str) -> &V {
        self.fields.get(field).unwrap_or(&V::Null)
    }
    pub fn id(&self) -> String {
        self.get("id").text()
    }
}

/// How a filter reads its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum How {
    Text(&'static str),
    /// As text, but the empty text asks for nothing set.
    Nullable(&'static str),
    Int(&'static str),
    Bool(&'static str),
    Time(&'static str),
    /// A dictionary, of metadata or extra specs.
    Pairs,
    /// `host@backend`, or a pool of it.
    Host,
    /// Everything is one of these.
    Always(bool),
    /// Usable, private, all: for an admin.
    Public,
    /// A column that there is not.
    Never,
}

/// A word of the query, how it is read, and whether users may use it.
pub type Filter = (&'static str, How, bool);

type Seed = for<'a> fn(&'a TestApp, &'a mut Raw, &'a str, &'a str, u64) -> BoxFuture<'a, Vec<Row>>;

pub struct List {
    pub path: &'static str,
    pub collection: &'static str,
    pub links: &'static str,
    pub counted: bool,
    /// The word and the field.
    pub sorts: &'static [(&'static str, &'static str)],
    pub filters: &'static [Filter],
    pub scope: Scope,
    pub seed: Seed,
}

/// Whose rows a caller sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scope {
    /// The own project's; an admin who asks for them, all.
    Project,
    OwnProject,
    /// Public ones and those given.
    Types,
}

const USER: bool = true;
const ADMIN: bool = false;

pub const VOLUMES: List = List {
    path: "/volumes/detail",
    collection: "volumes",
    links: "volumes_links",
    counted: true,
    sorts: &[
        ("id", "id"),
        ("created_at", "created_at"),
        ("updated_at", "updated_at"),
        ("name", "name"),
        ("description", "description"),
        ("size", "size"),
        ("status", "status"),
        ("attach_status", "attach_status"),
        ("availability_zone", "availability_zone"),
        ("host", "host"),
        ("bootable", "bootable"),
        ("multiattach", "multiattach"),
        ("project_id", "project_id"),
        ("user_id", "user_id"),
        ("volume_type_id", "volume_type_id"),
        ("migration_status", "migration_status"),
        ("provider_id", "provider_id"),
        ("service_uuid", "service_uuid"),
        ("display_name", "name"),
        ("display_description", "description"),
    ],
    filters: &[
        ("name", How::Text("name"), USER),
        ("status", How::Text("status"), USER),
        ("metadata", How::Pairs, USER),
        ("bootable", How::Bool("bootable"), USER),
        ("migration_status", How::Nullable("migration_status"), USER),
        ("availability_zone", How::Text("availability_zone"), USER),
        ("group_id", How::Never, USER),
        ("size", How::Int("size"), USER),
        ("created_at", How::Time("created_at"), USER),
        ("updated_at", How::Time("updated_at"), USER),
        ("consumes_quota", How::Bool("consumes_quota"), USER),
        ("display_name", How::Text("name"), ADMIN),
        ("description", How::Text("description"), ADMIN),
        ("attach_status", How::Text("attach_status"), ADMIN),
        ("id", How::Text("id"), ADMIN),
        ("user_id", How::Text("user_id"), ADMIN),
        ("project_id", How::Text("project_id"), ADMIN),
        ("volume_type_id", How::Text("volume_type_id"), ADMIN),
        ("provider_id", How::Text("provider_id"), ADMIN),
        ("service_uuid", How::Text("service_uuid"), ADMIN),
        ("snapshot_id", How::Text("snapshot_id"), ADMIN),
        ("source_volid", How::Text("source_volid"), ADMIN),
        ("multiattach", How::Bool("multiattach"), ADMIN),
        ("host", How::Host, ADMIN),
        ("color", How::Never, ADMIN),
    ],
    scope: Scope::Project,
    seed: |app, raw, one, two, seed| Box::pin(seed::volumes(app, raw, one, two, seed)),
};

pub const SNAPSHOTS: List = List {
    path: "/snapshots/detail",
    collection: "snapshots",
    links: "snapshots_links",
    counted: true,
    sorts: &[
        ("id", "id"),
        ("created_at", "created_at"),
        ("updated_at", "updated_at"),
        ("name", "name"),
        ("description", "description"),
        ("volume_size", "size"),
        ("status", "status"),
        ("progress", "progress"),
        ("volume_id", "volume_id"),
        ("project_id", "project_id"),
        ("user_id", "user_id"),
        ("display_name", "name"),
        ("display_description", "description"),
    ],
    filters: &[
        ("name", How::Text("name"), USER),
        ("status", How::Text("status"), USER),
        ("volume_id", How::Text("volume_id"), USER),
        ("metadata", How::Pairs, USER),
        ("availability_zone", How::Text("availability_zone"), USER),
        ("consumes_quota", How::Always(true), USER),
        ("id", How::Text("id"), ADMIN),
        ("description", How::Text("description"), ADMIN),
        ("user_id", How::Text("user_id"), ADMIN),
        ("project_id", How::Text("project_id"), ADMIN),
        ("progress", How::Text("progress"), ADMIN),
        ("provider_id", How::Text("provider_id"), ADMIN),
        ("volume_size", How::Int("size"), ADMIN),
        ("volume_type_id", How::Text("volume_type_id"), ADMIN),
        ("host", How::Host, ADMIN),
        ("color", How::Never, ADMIN),
    ],
    scope: Scope::Project,
    seed: |app, raw, one, two, seed| Box::pin(seed::snapshots(app, raw, one, two, seed)),
};

pub const ATTACHMENTS: List = List {
    path: "/attachments/detail",
    collection: "attachments",
    links: "attachments_links",
    counted: false,
    sorts: &[
        ("id", "id"),
        ("created_at", "created_at"),
        ("updated_at", "updated_at"),
        ("volume_id", "volume_id"),
        ("instance_uuid", "instance_id"),
        ("attach_status", "status"),
        ("attach_mode", "mode"),
        ("project_id", "project_id"),
    ],
    filters: &[
        ("volume_id", How::Text("volume_id"), USER),
        ("status", How::Text("status"), USER),
        ("instance_id", How::Text("instance_id"), USER),
        ("attach_status", How::Text("status"), USER),
        ("id", How::Text("id"), ADMIN),
        ("attach_mode", How::Text("mode"), ADMIN),
        ("attached_host", How::Text("connector_host"), ADMIN),
        ("mountpoint", How::Text("mountpoint"), ADMIN),
        ("project_id", How::Text("project_id"), ADMIN),
        ("color", How::Never, ADMIN),
    ],
    scope: Scope::Project,
    seed: |app, raw, one, two, seed| Box::pin(seed::attachments(app, raw, one, two, seed)),
};

pub const TYPES: List = List {
    path: "/types",
    collection: "volume_types",
    links: "volume_type_links",
    counted: false,
    sorts: &[("id", "id"), ("created_at", "created_at"), ("updated_at", "updated_at"), ("name", "name"), ("is_public", "is_public")],
    filters: &[("is_public", How::Public, USER), ("extra_specs", How::Pairs, USER), ("name", How::Text("name"), ADMIN)],
    scope: Scope::Types,
    seed: |app, raw, one, two, seed| Box::pin(seed::types(app, raw, one, two, seed)),
};

pub const MESSAGES: List = List {
    path: "/messages",
    collection: "messages",
    links: "messages_links",
    counted: false,
    sorts: &[
        ("id", "id"),
        ("created_at", "created_at"),
        ("event_id", "event_id"),
        ("resource_uuid", "resource_id"),
        ("resource_type", "resource_type"),
        ("request_id", "request_id"),
        ("guaranteed_until", "expires_at"),
        ("message_level", "level"),
    ],
    filters: &[
        ("resource_uuid", How::Text("resource_id"), USER),
        ("resource_type", How::Text("resource_type"), USER),
        ("event_id", How::Text("event_id"), USER),
        ("request_id", How::Text("request_id"), USER),
        ("message_level", How::Text("level"), USER),
        ("id", How::Text("id"), ADMIN),
        ("action_id", How::Text("action_id"), ADMIN),
        ("color", How::Never, ADMIN),
    ],
    scope: Scope::OwnProject,
    seed: |app, raw, one, two, seed| Box::pin(seed::messages(app, raw, one, two, seed)),
};

type Fits = Box<dyn Fn(&Row) -> bool>;
/// Its word, and when it holds.
type Op = (&'static str, fn(Ordering) -> bool);

/// One question.
pub struct Asked {
    pub query: String,
    fits: Vec<Fits>,
    /// Field and direction.
    order: Vec<(&'static str, bool)>,
}

impl Asked {
    /// `filters` are: which, of which row the value comes, and in which form.
    pub fn new(list: &List, rows: &[Row], admin: bool, project: &str, sorts: &[(usize, bool)], filters: &[(usize, u16, u8)]) -> Self {
        let mut asked = Self { query: String::new(), fits: Vec::new(), order: Vec::new() };
        asked.scope(list, admin, project);
        let mut used: Vec<&str> = Vec::new();
        for (which, row, form) in filters {
            let (word, how, users) = list.filters[*which % list.filters.len()];
            if (users || admin) && !used.contains(&word) {
                used.push(word);
                let row = &rows[usize::from(*row) % rows.len()];
                asked.filter(word, how, row, *form, admin, project);
            }
        }
        let mut words = Vec::new();
        for (which, descending) in sorts {
            let (word, field) = list.sorts[*which];
            if asked.order.iter().all(|(f, _)| *f != field) {
                words.push(format!("{word}:{}", if *descending { "desc" } else { "asc" }));
                asked.order.push((field, *descending));
            }
        }
        if !words.is_empty() {
            asked.query.push_str(&format!("&sort={}", words.join(",")));
        }
        let descending = asked.order.first().is_none_or(|(_, d)| *d);
        asked.order.extend([("created_at", descending), ("id", descending)]);
        if list.counted {
            asked.query.push_str("&with_count=true");
        }
        asked
    }

    fn scope(&mut self, list: &List, admin: bool, project: &str) {
        let project = project.to_owned();
        match list.scope {
            Scope::Project if admin => self.query.push_str("&all_tenants=1"),
            Scope::Project | Scope::OwnProject => self.fits.push(Box::new(move |r| r.get("project_id").text() == project)),
            // is_public says it in the query
            Scope::Types if admin => {
                self.query.push_str("&is_public=None");
            }
            Scope::Types => self.fits.push(Box::new(move |r| *r.get("is_public") == V::Bool(true) || r.granted.contains(&project))),
        }
    }

    fn push(&mut self, word: &str, value: &str, fits: Fits) {
        let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        self.query.push_str(&format!("&{word}={value}"));
        self.fits.push(fits);
    }

    fn filter(&mut self, word: &str, how: How, row: &Row, form: u8, admin: bool, project: &str) {
        match how {
            How::Text(field) | How::Nullable(field) if form >= 2 => self.part(word, field, row, form == 3),
            How::Text(field) => {
                let value = row.get(field).text();
                let same = value.clone();
                self.push(word, &value, Box::new(move |r| *r.get(field) == V::Text(same.clone())));
            }
            How::Nullable(field) => {
                let value = row.get(field).clone();
                let text = if value == V::Null && form == 0 { "None".to_owned() } else { value.text() };
                self.push(word, &text, Box::new(move |r| *r.get(field) == value));
            }
            How::Int(field) => {
                let value = row.get(field).int();
                self.push(word, &value.to_string(), Box::new(move |r| r.get(field).int() == value));
            }
            How::Bool(field) => {
                let value = form.is_multiple_of(2);
                self.push(word, ["false", "True"][usize::from(value)], Box::new(move |r| *r.get(field) == V::Bool(value)));
            }
            How::Time(field) => self.time(word, field, row.get(field).int(), form),
            How::Pairs => {
                let pair = row.metadata.iter().next().map_or(("k".to_owned(), "nope".to_owned()), |(k, v)| (k.clone(), v.clone()));
                let hidden = word == "extra_specs" && !admin && pair.0 != "multiattach";
                let quote = if form == 0 { '"' } else { '\'' };
                let text = format!("{{{quote}{}{quote}: {quote}{}{quote}}}", pair.0, pair.1);
                self.push(word, &text, Box::new(move |r| !hidden && r.metadata.get(&pair.0) == Some(&pair.1)));
            }
            How::Host => {
                let host = row.get("host").text();
                if form == 0 {
                    let same = host.clone();
                    self.push(word, &host, Box::new(move |r| !same.is_empty() && r.get("host").text() == same));
                } else {
                    let backend = host.split('#').next().unwrap_or_default().to_owned();
                    let same = backend.clone();
                    let fits = move |r: &Row| !same.is_empty() && r.get("host").text().split('#').next() == Some(same.as_str());
                    self.push(word, &backend, Box::new(fits));
                }
            }
            How::Always(truth) => {
                let value = form.is_multiple_of(2);
                self.push(word, ["false", "true"][usize::from(value)], Box::new(move |_| value == truth));
            }
            How::Public if !admin => self.push(word, "false", Box::new(|_| true)),
            How::Public => {
                // the last of two words for one thing counts
                let project = project.to_owned();
                let usable = move |r: &Row| *r.get("is_public") == V::Bool(true) || r.granted.contains(&project);
                match form {
                    0 => self.push(word, "True", Box::new(usable)),
                    1 => self.push(word, "false", Box::new(|r| *r.get("is_public") == V::Bool(false))),
                    _ => self.push(word, "none", Box::new(|_| true)),
                }
            }
            How::Never => self.push(word, "red", Box::new(|_| false)),
        }
    }

    /// A part of the text, or a text that nothing has.
    fn part(&mut self, word: &str, field: &'static str, row: &Row, none: bool) {
        if none {
            return self.push(word, "nobody has this", Box::new(|_| false));
        }
        let whole = row.get(field).text();
        let part: String = whole.chars().skip(whole.chars().count() / 3).take(2).collect();
        let same = part.clone();
        self.push(&format!("{word}~"), &part, Box::new(move |r| *r.get(field) != V::Null && r.get(field).text().contains(&same)));
    }

    fn time(&mut self, word: &str, field: &'static str, at: i64, form: u8) {
        let ops: [Op; 6] = [
            ("gt", Ordering::is_gt),
            ("gte", Ordering::is_ge),
            ("lt", Ordering::is_lt),
            ("lte", Ordering::is_le),
            ("eq", Ordering::is_eq),
            ("neq", Ordering::is_ne),
        ];
        let (name, holds) = ops[(usize::from(form) + usize::try_from(at / 1_000_000).unwrap_or(0)) % ops.len()];
        let fits = move |r: &Row| *r.get(field) != V::Null && holds(r.get(field).int().cmp(&at));
        self.push(word, &format!("{name}:{}", api_text(at)), Box::new(fits));
    }

    /// The ids in order.
    pub fn expected(&self, rows: &[Row]) -> Vec<String> {
        let mut found: Vec<&Row> = rows.iter().filter(|r| self.fits.iter().all(|fits| fits(r))).collect();
        found.sort_by(|a, b| {
            let orders = self.order.iter().map(|(field, descending)| {
                let order = a.get(field).order(b.get(field));
                if *descending { order.reverse() } else { order }
            });
            orders.into_iter().find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        });
        found.into_iter().map(Row::id).collect()
    }
}
