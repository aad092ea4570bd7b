//! Nodes in memory that keep the contract in docs/node-api.md: strict bodies, required headers, fencing, closed error kinds.

use std::{
    cell::{RefCell, RefMut},
    collections::BTreeMap,
    rc::Rc,
};

use stowage_driver_sdk::{
    http::{Credentials, Header, HttpError, Method, Request, Response},
    mock,
    serde_json::{self, Value as Json, json},
};

const GIB: u64 = 1 << 30;
const PORTALS: [&str; 2] = ["192.0.2.7:3260", "[2001:db8::7]:3260"];

/// All nodes there are, by authority.
#[derive(Clone, Default)]
pub struct Nodes {
    by_url: Rc<RefCell<BTreeMap<String, Node>>>,
}

pub struct Node {
    pub about: Json,
    pub capacity: Json,
    pub volumes: BTreeMap<String, Json>,
    pub snapshots: BTreeMap<String, Json>,
    /// Volume and initiator.
    pub attachments: BTreeMap<(String, String), Json>,
    pub imports: BTreeMap<String, Json>,
    /// Highest generation seen, by path.
    pub generations: BTreeMap<String, u64>,
    /// Every request, as `METHOD PATH`.
    pub asked: Vec<String>,
    /// Answers all requests whose `METHOD PATH` begins so, instead.
    pub instead: BTreeMap<String, Result<Response, HttpError>>,
}

type Answered = Result<(u16, Json), (u16, &'static str, String)>;

fn refuse<T>(status: u16, kind: &'static str, why: impl Into<String>) -> Result<T, (u16, &'static str, String)> {
    Err((status, kind, why.into()))
}

impl Nodes {
    /// Two nodes behind [`super::A`] and [`super::B`], with a hundred GiB each.
    pub fn new() -> Self {
        let nodes = Self::default();
        for (url, id) in [(super::A, "node-a"), (super::B, "node-b")] {
            nodes.by_url.borrow_mut().insert(url.into(), Node::new(id));
        }
        nodes
    }
    pub fn serve(&self, host: mock::Host) -> mock::Host {
        let nodes = self.clone();
        host.answer(move |request| {
            let end = request.url.match_indices('/').nth(2).map_or(request.url.len(), |(at, _)| at);
            let mut by_url = nodes.by_url.borrow_mut();
            let node = by_url.get_mut(&request.url[..end]).ok_or_else(|| HttpError::Unreachable("no such host".into()))?;
            node.answer(request, &request.url[end..])
        })
    }
    pub fn at(&self, url: &str) -> RefMut<'_, Node> {
        RefMut::map(self.by_url.borrow_mut(), |nodes| nodes.get_mut(url).unwrap())
    }
}

impl Node {
    fn new(id: &str) -> Self {
        let about = json!({
            "id": id, "version": "0.1.0", "api": "v1", "portals": PORTALS, "iqn_prefix": format!("iqn.2026-01.test:{id}"),
            "layouts": ["target-per-volume", "target-per-initiator"], "default_layout": "target-per-volume",
            "features": { "multiattach": true, "online_extend": true, "thin": true, "clone": true },
        });
        let capacity =
            json!({ "total_bytes": 100 * GIB, "free_bytes": 90 * GIB, "provisioned_bytes": 250 * GIB, "volumes": 0, "snapshots": 0 });
        Self {
            about,
            capacity,
            volumes: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            attachments: BTreeMap::new(),
            imports: BTreeMap::new(),
            generations: BTreeMap::new(),
            asked: Vec::new(),
            instead: BTreeMap::new(),
        }
    }

    /// From now on, requests whose `METHOD PATH` begins with `what` get this.
    pub fn answers(&mut self, what: &str, status: u16, body: &str) {
        self.instead.insert(what.into(), Ok(Response { status, headers: Vec::new(), body: body.into() }));
    }
    pub fn fails(&mut self, what: &str, error: HttpError) {
        self.instead.insert(what.into(), Err(error));
    }
    pub fn import(&mut self, name: &str, gib: u64, unsafe_because: Option<&str>) {
        let file = json!({ "name": name, "size_bytes": gib * GIB, "size_gib": gib, "unsafe_because": unsafe_because });
        self.imports.insert(name.into(), file);
    }

    fn answer(&mut self, request: &Request, target: &str) -> Result<Response, HttpError> {
        let method = match request.method {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
            other => panic!("{other:?} is not used"),
        };
        self.asked.push(format!("{method} {target}"));
        if let Some((_, answer)) = self.instead.iter().find(|(what, _)| format!("{method} {target}").starts_with(what.as_str())) {
            return answer.clone();
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let answered = self.allowed(request, path).and_then(|()| self.carry_out(method, path, query, request.body.as_deref()));
        let (status, body) =
            answered.unwrap_or_else(|(status, kind, message)| (status, json!({ "error": { "kind": kind, "message": message } })));
        let body = if status == 204 { Vec::new() } else { serde_json::to_vec(&body).unwrap() };
        Ok(Response { status, headers: vec![Header { name: "content-type".into(), value: "application/json".into() }], body })
    }

    fn allowed(&mut self, request: &Request, path: &str) -> Result<(), (u16, &'static str, String)> {
        let header = |name: &str| request.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value.clone());
        assert_eq!(header("stowage-request-id").as_deref(), Some("req-00000000-0000-4000-8000-000000000002"));
        if !matches!(&request.credentials, Some(Credentials::Bearer(option)) if option == "token") {
            return refuse(401, "auth", "no token");
        }
        if request.method == Method::Get {
            return Ok(());
        }
        assert_eq!(header("stowage-operation").as_deref(), Some("00000000-0000-4000-8000-000000000001"));
        let Some(generation) = header("stowage-generation").and_then(|g| g.parse::<u64>().ok()) else {
            return refuse(400, "invalid", "Stowage-Generation is missing");
        };
        // The object is what stands before the verb.
        let object: Vec<&str> = path.split('/').take(if path.contains("/attachments/") { 6 } else { 4 }).collect();
        let seen = self.generations.entry(object.join("/")).or_insert(generation);
        if generation < *seen {
            return refuse(409, "stale-generation", format!("{generation} is older than {seen}"));
        }
        *seen = generation;
        Ok(())
    }

    fn carry_out(&mut self, method: &str, path: &str, query: &str, body: Option<&[u8]>) -> Answered {
        let body: Json = body.map_or(Json::Null, |b| serde_json::from_slice(b).unwrap());
        let known = ["size_gib", "layout", "source", "snapshot", "volume", "mode", "host", "ip", "import"];
        if let Some(unknown) = body.as_object().and_then(|o| o.keys().find(|k| !known.contains(&k.as_str()))) {
            return refuse(400, "invalid", format!("unknown member {unknown}"));
        }
        let parts: Vec<&str> = path.trim_start_matches("/v1/").split('/').collect();
        match (method, parts.as_slice()) {
            ("GET", ["node"]) => Ok((200, self.about.clone())),
            ("GET", ["capacity"]) => Ok((200, self.capacity.clone())),
            ("GET", ["volumes"]) => Ok((200, page("volumes", &self.volumes, query))),
            ("GET", ["import"]) => Ok((200, page("files", &self.imports, query))),
            ("GET", ["import", name]) => {
                self.imports.get(*name).map_or_else(|| refuse(404, "not-found", "no such file"), |f| Ok((200, f.clone())))
            }
            ("PUT", ["volumes", id]) => self.create(id, &body),
            ("GET", ["volumes", id]) => Ok((200, self.volume(id)?.clone())),
            ("DELETE", ["volumes", id]) => {
                self.unattached(id)?;
                self.volumes.remove(*id);
                Ok((204, Json::Null))
            }
            ("PUT", ["volumes", id, "size"]) => {
                let volume = self.volume(id)?;
                if body["size_gib"].as_u64() < volume["size_gib"].as_u64() {
                    return refuse(409, "data-loss-risk", "a shrink");
                }
                volume["size_gib"] = body["size_gib"].clone();
                Ok((200, volume.clone()))
            }
            ("PUT", ["volumes", id, "layout"]) => {
                if self.volume(id)?["layout"] != body["layout"] {
                    self.unattached(id)?;
                }
                let volume = self.volume(id)?;
                volume["layout"] = body["layout"].clone();
                Ok((200, volume.clone()))
            }
            ("POST", ["volumes", id, "revert"]) => {
                self.unattached(id)?;
                self.volume(id)?;
                let of = body["snapshot"].as_str().and_then(|s| self.snapshots.get(s)).map(|s| s["volume"].clone());
                if of != Some(json!(id)) {
                    return refuse(404, "not-found", "no such snapshot of this volume");
                }
                let volume = self.volume(id)?;
                volume["reverted_to"] = body["snapshot"].clone();
                Ok((200, volume.clone()))
            }
            ("POST", ["volumes", id, "ensure"]) => Ok((200, self.volume(id)?.clone())),
            ("POST", ["volumes", id, "release"]) => {
                self.unattached(id)?;
                let gib = self.volume(id)?["size_gib"].as_u64().unwrap();
                self.volumes.remove(*id);
                self.import(&format!("{id}.raw"), gib, None);
                Ok((200, json!({ "import": format!("{id}.raw") })))
            }
            ("PUT", ["snapshots", id]) => {
                let of = body["volume"].as_str().unwrap().to_owned();
                let gib = self.volume(&of)?["size_gib"].clone();
                let snapshot = self.snapshots.entry((*id).into()).or_insert_with(|| json!({ "id": id, "volume": of, "size_gib": gib }));
                if snapshot["volume"] != json!(of) { refuse(409, "conflict", "of another volume") } else { Ok((200, snapshot.clone())) }
            }
            ("DELETE", ["snapshots", id]) => {
                self.snapshots.remove(*id);
                Ok((204, Json::Null))
            }
            ("GET", ["volumes", id, "attachments"]) => {
                self.volume(id)?;
                let of: Vec<&Json> = self.attachments.iter().filter(|((v, _), _)| v == id).map(|(_, a)| a).collect();
                Ok((200, json!({ "attachments": of })))
            }
            ("DELETE", ["volumes", id, "attachments"]) => {
                self.attachments.retain(|(volume, _), _| volume != id);
                Ok((204, Json::Null))
            }
            ("PUT", ["volumes", id, "attachments", initiator]) => self.attach(id, initiator, &body),
            ("DELETE", ["volumes", id, "attachments", initiator]) => {
                self.attachments.remove(&((*id).into(), (*initiator).into()));
                Ok((204, Json::Null))
            }
            _ => refuse(404, "unsupported", format!("no such path: {method} {path}")),
        }
    }

    fn volume(&mut self, id: &str) -> Result<&mut Json, (u16, &'static str, String)> {
        self.volumes.get_mut(id).map_or_else(|| refuse(404, "not-found", format!("no volume {id}")), Ok)
    }

    fn unattached(&self, id: &str) -> Result<(), (u16, &'static str, String)> {
        match self.attachments.keys().find(|(volume, _)| volume == id) {
            Some((_, initiator)) => refuse(409, "busy", format!("volume {id} is attached to {initiator}")),
            None => Ok(()),
        }
    }

    fn create(&mut self, id: &str, body: &Json) -> Answered {
        if let Some(there) = self.volumes.get(id) {
            let same = there["source"] == body["source"] && (body["size_gib"].is_null() || body["size_gib"] == there["size_gib"]);
            return if same { Ok((200, there.clone())) } else { refuse(409, "conflict", "it is something else") };
        }
        let source = &body["source"];
        let of = |kind: &str| source[kind].as_str().map(str::to_owned);
        let mut size = body["size_gib"].clone();
        if let Some(of) = of("volume") {
            self.volume(&of)?;
        } else if let Some(of) = of("snapshot") {
            self.snapshots.get(&of).map_or_else(|| refuse(404, "not-found", "no such snapshot"), Ok)?;
        } else if let Some(name) = of("import") {
            let file = self.imports.remove(&name).map_or_else(|| refuse(404, "not-found", "no such import file"), Ok)?;
            size = file["size_gib"].clone();
        }
        let volume =
            json!({ "id": id, "size_gib": size, "layout": body["layout"], "source": source, "allocated_bytes": 0, "attachments": [] });
        self.volumes.insert(id.into(), volume.clone());
        Ok((200, volume))
    }

    fn attach(&mut self, id: &str, initiator: &str, body: &Json) -> Answered {
        let shared = self.volume(id)?["layout"] == "target-per-initiator";
        let of = if shared { format!("ini.{initiator}") } else { format!("vol.{id}") };
        let attachment = json!({
            "volume": id, "initiator": initiator, "mode": body["mode"], "host": body["host"], "ip": body["ip"],
            "connection": {
                "protocol": "iscsi", "portals": PORTALS, "iqn": format!("iqn.2026-01.test:{of}"), "lun": 1, "discard": true,
                "auth": { "method": "CHAP", "username": "user1", "password": "secret-of-the-node" },
            },
        });
        self.attachments.insert((id.into(), initiator.into()), attachment.clone());
        Ok((200, attachment))
    }
}

/// A page of a list, as `after` and `limit` in the query say.
fn page(name: &str, of: &BTreeMap<String, Json>, query: &str) -> Json {
    let value = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let limit = value("limit").map_or(100, |n| n.parse::<usize>().unwrap());
    assert!((1..=1_000).contains(&limit), "limit {limit}");
    let after = value("after");
    let wanted: Vec<(&String, &Json)> = of.iter().filter(|(key, _)| after.is_none_or(|a| key.as_str() > a)).collect();
    let next = if wanted.len() > limit { wanted[limit - 1].0.clone().into() } else { Json::Null };
    let items: Vec<&Json> = wanted.iter().take(limit).map(|(_, item)| *item).collect();
    json!({ name: items, "next": next })
}
