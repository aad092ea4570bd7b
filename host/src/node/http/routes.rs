//! The route table. `docs/node-api.md` is its prose, `/v1/openapi.json` is made from it.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::handlers as h;
use crate::node::{
    Call, Node,
    name::{ImportName, Initiator, ObjectId, one_line},
    refusal::{Refusal, Result},
};

/// One operation.
#[derive(Clone, Copy)]
pub struct Row {
    pub method: &'static str,
    pub path: &'static str,
    pub summary: &'static str,
    /// It changes something: carries a generation, is logged.
    pub changes: bool,
    /// Without a token.
    pub open: bool,
    pub success: u16,
    /// (name, type, meaning); a `!` after the type: required.
    pub body: &'static [(&'static str, &'static str, &'static str)],
    pub query: &'static [(&'static str, &'static str, &'static str)],
    pub handler: Handler,
}

pub type Handler = fn(Arc<Node>, Ask) -> BoxFuture<'static, Result<Reply>>;

/// A request, past everything that all requests go through.
pub struct Ask {
    pub parts: BTreeMap<String, String>,
    pub query: BTreeMap<String, String>,
    pub body: Bytes,
    pub call: Call,
}

#[derive(Debug)]
pub enum Reply {
    Json(u16, Value),
    Empty,
}

impl Ask {
    fn part(&self, name: &str) -> &str {
        self.parts.get(name).map(String::as_str).unwrap_or_default()
    }
    pub fn id(&self) -> Result<ObjectId> {
        ObjectId::parse(self.part("id"))
    }
    pub fn initiator(&self) -> Result<Initiator> {
        Initiator::parse(self.part("initiator"))
    }
    pub fn import(&self) -> Result<ImportName> {
        ImportName::parse(self.part("name"))
    }
    /// The body; an absent one is `{}`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        let bytes: &[u8] = if self.body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { &self.body };
        serde_json::from_slice(bytes).map_err(|e| Refusal::invalid(format!("the body: {}", one_line(&e.to_string()))))
    }
    pub fn limit(&self) -> Result<usize> {
        match self.query.get("limit").map(|l| l.parse()) {
            None => Ok(100),
            Some(Ok(n)) if (1..=1000).contains(&n) => Ok(n),
            Some(_) => Err(Refusal::invalid("limit is from 1 to 1000")),
        }
    }
    pub fn optional_id(&self, key: &str) -> Result<Option<ObjectId>> {
        self.query.get(key).map(|t| ObjectId::parse(t)).transpose()
    }
}

const PAGE: [(&str, &str, &str); 2] =
    [("after", "string", "the last one of the page before"), ("limit", "integer", "1 to 1000; without: 100")];
const VOLUME_PAGE: &[(&str, &str, &str)] = &[PAGE[0], PAGE[1], ("volume", "string", "only this volume's")];
const NONE: &[(&str, &str, &str)] = &[];

macro_rules! row {
    ($method:literal $path:literal $success:literal $summary:literal, $handler:path) => {
        row!($method $path $success $summary, $handler, body NONE, query NONE)
    };
    ($method:literal $path:literal $success:literal $summary:literal, $handler:path, body $body:expr) => {
        row!($method $path $success $summary, $handler, body $body, query NONE)
    };
    ($method:literal $path:literal $success:literal $summary:literal, $handler:path, query $query:expr) => {
        row!($method $path $success $summary, $handler, body NONE, query $query)
    };
    ($method:literal $path:literal $success:literal $summary:literal, $handler:path, body $body:expr, query $query:expr) => {
        Row {
            method: $method,
            path: $path,
            summary: $summary,
            changes: !matches!($method.as_bytes(), b"GET"),
            open: false,
            success: $success,
            body: $body,
            query: $query,
            handler: |node, ask| Box::pin($handler(node, ask)),
        }
    };
}

pub const ROWS: &[Row] = &[
    Row { open: true, ..row!("GET" "/healthz" 200 "Whether it serves; 503 when it does not, or not fully", h::health) },
    row!("GET" "/v1/openapi.json" 200 "This API", h::openapi),
    row!("GET" "/v1/node" 200 "What the node is and can", h::node),
    row!("GET" "/v1/capacity" 200 "Room, and what is promised of it", h::capacity),
    row!("GET" "/v1/volumes" 200 "List volumes by id", h::list_volumes, query &PAGE),
    row!("PUT" "/v1/volumes/{id}" 200 "Create a volume: empty, a clone, from a snapshot, or by adopting an import file", h::create_volume, body &[
        ("size_gib", "integer", "required but for an import"),
        ("layout", "string", "target-per-volume or target-per-initiator"),
        ("source", "object", "{\"volume\": ID}, {\"snapshot\": ID} or {\"import\": NAME}; without: empty"),
    ]),
    row!("GET" "/v1/volumes/{id}" 200 "Show a volume", h::show_volume),
    row!("DELETE" "/v1/volumes/{id}" 204 "Delete a volume", h::delete_volume),
    row!("PUT" "/v1/volumes/{id}/size" 200 "Extend a volume", h::extend, body &[("size_gib", "integer!", "never smaller than now")]),
    row!("PUT" "/v1/volumes/{id}/layout" 200 "Retype a volume between the layouts", h::set_layout, body &[("layout", "string!", "target-per-volume or target-per-initiator")]),
    row!("POST" "/v1/volumes/{id}/revert" 200 "Back to a snapshot of the volume", h::revert, body &[("snapshot", "string!", "its id")]),
    row!("POST" "/v1/volumes/{id}/ensure" 200 "Repair what is exported", h::ensure),
    row!("POST" "/v1/volumes/{id}/release" 200 "Forget a volume and leave its data in the import folder", h::release),
    row!("GET" "/v1/volumes/{id}/attachments" 200 "List a volume's attachments, without secrets", h::list_attachments),
    row!("DELETE" "/v1/volumes/{id}/attachments" 204 "Detach a volume from all initiators", h::detach_all),
    row!("PUT" "/v1/volumes/{id}/attachments/{initiator}" 200 "Attach a volume to an initiator; answers with the connection and its secret", h::attach, body &[
        ("mode", "string", "rw or ro; without: rw"),
        ("host", "string", "for people"),
        ("ip", "string", "for people"),
    ]),
    row!("GET" "/v1/volumes/{id}/attachments/{initiator}" 200 "Show an attachment, without its secret", h::show_attachment),
    row!("DELETE" "/v1/volumes/{id}/attachments/{initiator}" 204 "Detach a volume from an initiator", h::detach),
    row!("GET" "/v1/snapshots" 200 "List snapshots by id", h::list_snapshots, query VOLUME_PAGE),
    row!("PUT" "/v1/snapshots/{id}" 200 "Snapshot a volume", h::create_snapshot, body &[("volume", "string!", "its id")]),
    row!("GET" "/v1/snapshots/{id}" 200 "Show a snapshot", h::show_snapshot),
    row!("DELETE" "/v1/snapshots/{id}" 204 "Delete a snapshot", h::delete_snapshot),
    row!("GET" "/v1/import" 200 "List files that may be adopted", h::list_imports, query &PAGE),
    row!("GET" "/v1/import/{name}" 200 "Show a file that may be adopted", h::show_import),
];

impl Row {
    pub fn is(&self, method: &Method) -> bool {
        self.method == method.as_str() || (self.method == "GET" && method == Method::HEAD)
    }
}
