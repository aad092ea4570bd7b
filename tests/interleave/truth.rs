//! What must be true once nothing is under way: the rows, the API and the arrays say the same.
//!
//! Each violation begins with the name of its rule in brackets. Where a rule makes an exception, the reason stands there.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use support::{Persona, array::Object};

use crate::{
    book::Book,
    plan::Kind,
    world::{BACKENDS, POOL_GIB, World},
};

/// Reports come every second, events go out every second.
const NEXT_REPORT: Duration = Duration::from_secs(20);

/// States that a job owns. `attaching` and `reserved` are the client's: it has yet to connect, or to say `os-complete`.
const VOLUME_MOVES: &[&str] =
    &["creating", "downloading", "deleting", "detaching", "extending", "retyping", "reverting", "maintenance", "uploading", "managing"];
const SNAPSHOT_MOVES: &[&str] = &["creating", "deleting", "restoring", "updating", "backing-up", "unmanaging"];

const ATTACHMENTS: &str = "SELECT id || '|' || volume_id || '|' || status || '|' || COALESCE(connector_host, '') || '|' || \
    CASE WHEN connection_info IS NULL THEN '' ELSE 'connected' END || '|' || COALESCE(work, '') || '|' || COALESCE(work_connector, '') FROM attachments ORDER BY id";
const WORK: &str = "SELECT id || ' extend_to ' || COALESCE(CAST(extend_to AS TEXT), '') || ' retype_to ' || COALESCE(retype_to, '') || ' previous_status ' || \
    COALESCE(previous_status, '') FROM volumes WHERE extend_to IS NOT NULL OR retype_to IS NOT NULL OR previous_status IS NOT NULL";
const ATTACH_STATUS: &str = "SELECT id || '|' || attach_status FROM volumes";
const NOT_BACKED: &str = "SELECT id FROM snapshots WHERE NOT backed";
const CLAIMS: &str = "SELECT resource_id || ' on ' || pool || ' for ' || operation || ' of ' || CAST(gib AS TEXT) || CASE WHEN settled_at IS NULL THEN ', open' ELSE ', settled' END \
    FROM capacity_claims";
const POOLS: &str = "SELECT name || '|' || CAST(claimed_gib AS TEXT) || '|' || CAST(allocated_gib AS TEXT) || '|' || CAST(resources AS TEXT) || '|' || free FROM pools";
const ALLOCATIONS: &str = "SELECT resource_id || '|' || pool || '|' || CAST(gib AS TEXT) FROM pool_allocations ORDER BY resource_id";
const OUTBOX: &str = "SELECT event_type || ' of ' || resource_id || ', attempts ' || CAST(attempts AS TEXT) FROM outbox ORDER BY seq";

type Objects = BTreeMap<String, Object>;

/// An attachment as the database has it.
struct Attachment {
    id: String,
    volume: String,
    status: String,
    host: String,
    connected: bool,
    work: String,
    /// The host of a connect that failed and left, perhaps, something on the array.
    leftover: Option<String>,
}

/// Everything that is compared.
struct Scene {
    volumes: Vec<Value>,
    snapshots: Vec<Value>,
    attachments: Vec<Attachment>,
    /// By array.
    held: Vec<BTreeMap<String, Objects>>,
    not_backed: BTreeSet<String>,
}

/// All that is not so.
pub async fn violations(world: &World, book: &Book) -> Vec<String> {
    violations_after(world, book, NEXT_REPORT).await
}

/// As [`violations`], with as much time for the figures that follow with the next report.
pub async fn violations_after(world: &World, book: &Book, patience: Duration) -> Vec<String> {
    let scene = Scene::read(world).await;
    let mut broken = Vec::new();
    scene.rests(world, &mut broken).await;
    scene.volumes_are_held(world, &mut broken).await;
    scene.snapshots_are_held(&mut broken);
    scene.exports(book, &mut broken);
    scene.statuses(world, book, &mut broken).await;
    scene.usage(world, &mut broken).await;
    scene.reasons(world, book, &mut broken).await;
    broken.extend(scene.figures_come_true(world, patience).await);
    broken
}

fn id(v: &Value) -> &str {
    v["id"].as_str().unwrap_or_default()
}
fn status(v: &Value) -> &str {
    v["status"].as_str().unwrap_or_default()
}
fn on_host(v: &Value) -> Option<&str> {
    v["os-vol-host-attr:host"].as_str()
}
/// The array that a volume is on.
fn place(v: &Value) -> Option<usize> {
    let backend = on_host(v)?.split_once('#')?.0;
    BACKENDS.iter().position(|b| *b == backend)
}

impl Scene {
    async fn read(world: &World) -> Self {
        let attachments = world.database.texts(ATTACHMENTS).await.iter().map(|row| Attachment::parse(row)).collect();
        let mut held = Vec::new();
        for array in &world.arrays {
            held.push(array.control.objects().await.unwrap());
        }
        Self {
            volumes: world.all("volumes").await,
            snapshots: world.all("snapshots").await,
            attachments,
            held,
            not_backed: world.database.texts(NOT_BACKED).await.into_iter().collect(),
        }
    }

    fn held(&self, array: usize, kind: &str) -> Objects {
        self.held[array].get(kind).cloned().unwrap_or_default()
    }
    fn volume(&self, wanted: &str) -> Option<&Value> {
        self.volumes.iter().find(|v| id(v) == wanted)
    }
    fn attachments_of<'a>(&'a self, volume: &'a str) -> impl Iterator<Item = &'a Attachment> {
        self.attachments.iter().filter(move |a| a.volume == volume)
    }

    /// Nothing is in a state that a job would have to end.
    async fn rests(&self, world: &World, broken: &mut Vec<String>) {
        for v in self.volumes.iter().filter(|v| VOLUME_MOVES.contains(&status(v))) {
            broken.push(format!("[in-motion] volume {} is {}", id(v), status(v)));
        }
        for s in self.snapshots.iter().filter(|s| SNAPSHOT_MOVES.contains(&status(s))) {
            broken.push(format!("[in-motion] snapshot {} is {}", id(s), status(s)));
        }
        for a in self.attachments.iter().filter(|a| a.status == "detaching" || !a.work.is_empty()) {
            broken.push(format!("[in-motion] attachment {} of {} is {} {}", a.id, a.volume, a.status, a.work));
        }
        broken.extend(world.database.texts(WORK).await.into_iter().map(|row| format!("[in-motion] volume {row}")));
    }

    /// The objects of the arrays are the rows: no orphan, none lost, each of its row's size and type, on its row's back end.
    async fn volumes_are_held(&self, world: &World, broken: &mut Vec<String>) {
        for v in &self.volumes {
            let own = place(v);
            for (array, backend) in BACKENDS.iter().enumerate() {
                let object = self.held(array, "volumes").remove(id(v));
                let found = object.is_some();
                match (own == Some(array), status(v)) {
                    (false, _) if found => {
                        broken.push(format!("[orphan-object] {} ({}) is on {:?}, and {backend} holds it", id(v), status(v), on_host(v)));
                    }
                    // a delete that failed may have been done
                    (true, "error_deleting") | (false, _) => {}
                    (true, _) if !found => {
                        broken.push(format!("[lost-object] {} is {} on {:?}, which does not hold it", id(v), status(v), on_host(v)));
                    }
                    (true, _) => {}
                }
                if let Some(object) = object.filter(|_| own == Some(array)) {
                    self.looks_as_said(world, v, &object, broken).await;
                }
            }
        }
        for (array, backend) in BACKENDS.iter().enumerate() {
            for object in self.held(array, "volumes").keys().filter(|o| self.volume(o).is_none()) {
                broken.push(format!("[orphan-object] {backend} holds volume {object}, which has no row"));
            }
        }
    }

    async fn looks_as_said(&self, world: &World, v: &Value, object: &Object, broken: &mut Vec<String>) {
        let said = messages(world, id(v)).await;
        let failed =
            |action: &str| said.iter().any(|m| m["event_id"].as_str().is_some_and(|e| e.starts_with(&format!("VOLUME_VOLUME_{action}_"))));
        let size = v["size"].as_u64().unwrap_or_default();
        // an extend that failed may have been done; its user was told
        if object.gib != size && !(object.gib > size && failed("007")) {
            broken.push(format!("[wrong-size] {} is {size} GiB, its object {}", id(v), object.gib));
        }
        let kind = [Kind::Gold, Kind::Multi].into_iter().find(|k| v["volume_type"] == k.type_name());
        let specs = match kind {
            Some(Kind::Gold) => json!([["vendor:tier", "gold"]]),
            Some(_) => json!([["multiattach", "<is> True"]]),
            None => Value::Null,
        };
        // likewise
        if object.data["specs"] != specs && !failed("103") {
            broken.push(format!("[wrong-type] {} is of type {}, its object has {}", id(v), v["volume_type"], object.data["specs"]));
        }
        if v["multiattach"] != json!(kind == Some(Kind::Multi)) {
            broken.push(format!("[wrong-type] {} is of type {} and multiattach {}", id(v), v["volume_type"], v["multiattach"]));
        }
    }

    fn snapshots_are_held(&self, broken: &mut Vec<String>) {
        let mut expected = BTreeSet::new();
        for s in &self.snapshots {
            let volume = s["volume_id"].as_str().unwrap_or_default();
            let key = format!("{volume}.{}", id(s));
            let Some(array) = self.volume(volume).and_then(place) else {
                broken.push(format!("[no-volume] snapshot {} is of {volume}, which is not there, or nowhere", id(s)));
                continue;
            };
            let found = self.held(array, "snapshots").contains_key(&key);
            expected.insert((array, key));
            // what failed may have been done, unless the row knows that it was not
            match (status(s), found) {
                ("available", false) => broken.push(format!("[lost-object] snapshot {} of {volume} is available and not held", id(s))),
                (_, true) if self.not_backed.contains(id(s)) => {
                    broken.push(format!("[orphan-object] snapshot {} of {volume} is said not to be held, and is", id(s)));
                }
                _ => {}
            }
        }
        for (array, backend) in BACKENDS.iter().enumerate() {
            for key in self.held(array, "snapshots").into_keys() {
                if !expected.contains(&(array, key.clone())) {
                    broken.push(format!("[orphan-object] {backend} holds snapshot {}, which has no row", key.replace('.', " of ")));
                }
            }
        }
    }

    /// No export without an attachment; no connected attachment without its export; none of a volume that is not there.
    fn exports(&self, book: &Book, broken: &mut Vec<String>) {
        for (array, backend) in BACKENDS.iter().enumerate() {
            for key in self.held(array, "connections").into_keys() {
                let Some((volume, host)) = key.split_once('.') else { continue };
                let known = self.attachments_of(volume).any(|a| (a.connected && a.host == host) || a.leftover.as_deref() == Some(host));
                if !known || self.volume(volume).and_then(place) != Some(array) {
                    broken.push(format!("[export-without-attachment] {backend} exports {volume} to {host}"));
                }
            }
        }
        for a in &self.attachments {
            let Some(volume) = self.volume(&a.volume) else {
                broken.push(format!("[no-volume] attachment {} is of {}, which is not there", a.id, a.volume));
                continue;
            };
            let exported =
                place(volume).is_some_and(|array| self.held(array, "connections").contains_key(&format!("{}.{}", a.volume, a.host)));
            // as upstream, a detach (or the first half of a move to another host) whose back end failed has changed nothing here;
            // it may have been done there, and its caller, who was told of the failure, asks again
            let doubtful = || book.doubts().moves.iter().any(|d| self.attachments_of(&a.volume).any(|b| b.id == *d && b.host == a.host));
            if a.connected && !exported && !doubtful() {
                broken.push(format!("[attachment-without-export] {} ({}) of {} on {}", a.id, a.status, a.volume, a.host));
            }
            let odd = match a.status.as_str() {
                "reserved" => a.connected,
                "attaching" => !a.connected,
                // completed by a client that never connected it
                "attached" => false,
                _ => true,
            };
            if odd {
                let connected = if a.connected { "connected" } else { "not connected" };
                broken.push(format!("[odd-attachment] {} of {} is {} and {connected}", a.id, a.volume, a.status));
            }
        }
    }

    /// A volume shows what its attachments make of it, and lists say the same as the rows.
    async fn statuses(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        let attach: BTreeMap<String, String> = pairs(world.database.texts(ATTACH_STATUS).await);
        for v in &self.volumes {
            let statuses = self.attachments_of(id(v)).map(|a| a.status.as_str()).filter(|s| !s.starts_with("error_"));
            let first = statuses.min();
            let (wanted, wanted_attach) = match first {
                None => ("available", "detached"),
                Some("attached") => ("in-use", "attached"),
                Some(other) => (other, other),
            };
            // others are a verb's or an operator's word about the volume itself
            let follows = ["available", "reserved", "attaching", "in-use", "detaching"].contains(&status(v));
            // what an operator said holds until the next change of an attachment
            if follows && !book.was_told(id(v)) && (status(v) != wanted || attach[id(v)] != wanted_attach) {
                broken.push(format!("[wrong-status] {} is {}/{}, its attachments are {first:?} first", id(v), status(v), attach[id(v)]));
            }
            let shown: BTreeSet<_> =
                v["attachments"].as_array().into_iter().flatten().map(|a| a["attachment_id"].as_str().unwrap_or_default()).collect();
            let attached: BTreeSet<_> = self.attachments_of(id(v)).filter(|a| a.status == "attached").map(|a| a.id.as_str()).collect();
            if shown != attached {
                broken.push(format!("[wrong-list] {} shows attachments {shown:?}, and has {attached:?}", id(v)));
            }
        }
        let listed: BTreeSet<String> = world.all("attachments").await.iter().map(|a| id(a).to_owned()).collect();
        let rows: BTreeSet<String> = self.attachments.iter().map(|a| a.id.clone()).collect();
        if listed != rows {
            broken.push(format!("[wrong-list] attachments {listed:?} are listed, and there are {rows:?}"));
        }
    }

    /// The usage that the API shows is what the lists add up to.
    async fn usage(&self, world: &World, broken: &mut Vec<String>) {
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        let mut count = |what: &str, type_name: &str, amount: u64| {
            for key in [what.to_owned(), format!("{what}_{type_name}")] {
                *counted.entry(key).or_default() += amount;
            }
        };
        let type_of = |v: &Value| v["volume_type"].as_str().unwrap_or_default().to_owned();
        for v in &self.volumes {
            count("volumes", &type_of(v), 1);
            count("gigabytes", &type_of(v), v["size"].as_u64().unwrap_or_default());
        }
        for s in &self.snapshots {
            let of = self.volume(s["volume_id"].as_str().unwrap_or_default()).map(type_of).unwrap_or_default();
            count("snapshots", &of, 1);
            count("gigabytes", &of, s["size"].as_u64().unwrap_or_default());
        }
        let path = format!("/os-quota-sets/{}?usage=true", world.project_id());
        let shown = world.admin().get(&path).await.expect(200)["quota_set"].clone();
        for (key, figure) in shown.as_object().into_iter().flatten().filter(|(_, f)| f.is_object()) {
            let (used, counted) = (figure["in_use"].as_u64(), counted.remove(key).unwrap_or_default());
            if used != Some(counted) || figure["reserved"] != 0 {
                broken.push(format!("[wrong-usage] {key} is {figure}, and there are {counted}"));
            }
        }
        if counted.values().any(|n| *n > 0) {
            broken.push(format!("[wrong-usage] nothing is shown of {counted:?}"));
        }
    }

    /// Whoever owns what ended badly was told why.
    async fn reasons(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        // what an operator called an error has no reason
        let volumes = self.volumes.iter().filter(|v| status(v).contains("error") && !book.was_told(id(v)));
        for one in volumes.chain(self.snapshots.iter().filter(|s| status(s).contains("error"))) {
            let told = messages(world, id(one)).await;
            let reason = told
                .iter()
                .any(|m| m["user_message"].as_str().and_then(|t| t.split_once(':')).is_some_and(|(_, why)| !why.trim().is_empty()));
            if !reason {
                broken.push(format!("[no-reason] {} is {}, and nobody was told why: {told:?}", id(one), status(one)));
            }
        }
    }

    /// Claims, pools and the outbox: true with the next report and the next delivery.
    async fn figures_come_true(&self, world: &World, patience: Duration) -> Vec<String> {
        let began = Instant::now();
        loop {
            let broken = self.figures(world).await;
            if broken.is_empty() || began.elapsed() > patience {
                return broken;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn figures(&self, world: &World) -> Vec<String> {
        let mut broken: Vec<String> = Vec::new();
        broken.extend(world.database.texts(OUTBOX).await.into_iter().map(|row| format!("[event-left] {row}")));
        broken.extend(world.database.texts(CLAIMS).await.into_iter().map(|row| format!("[claim-left] {row}")));
        let places: BTreeMap<String, String> = pairs(world.database.texts(ALLOCATIONS).await);
        let lie = self.volumes.iter().filter_map(|v| Some((id(v).to_owned(), format!("{}|{}", on_host(v)?, v["size"]))));
        let wanted: BTreeMap<String, String> = lie.collect();
        if places != wanted {
            let differ: BTreeSet<_> =
                places.iter().chain(&wanted).filter(|(id, at)| places.get(*id) != Some(at) || wanted.get(*id) != Some(at)).collect();
            broken.push(format!("[wrong-place] allocations and volumes differ: {differ:?}"));
        }
        for row in world.database.texts(POOLS).await {
            let parts: Vec<&str> = row.split('|').collect();
            let [name, claimed, allocated, resources, free] = parts[..] else { continue };
            let here: Vec<(&str, u64)> =
                self.volumes.iter().filter(|v| on_host(v) == Some(name)).map(|v| (id(v), v["size"].as_u64().unwrap_or_default())).collect();
            let array = BACKENDS.iter().position(|b| name.starts_with(b)).unwrap_or_default();
            let used: u64 = self.held[array].values().flat_map(BTreeMap::values).map(|o| o.gib).sum();
            let left = POOL_GIB.saturating_sub(used) as f64;
            let true_now = claimed == "0"
                && allocated == here.iter().map(|(_, gib)| gib).sum::<u64>().to_string()
                && resources == here.len().to_string()
                && free.parse::<f64>().is_ok_and(|f| (f - left).abs() < 0.01);
            if !true_now {
                broken.push(format!("[wrong-pool] {row}: it has volumes {here:?}, and the array has {left} GiB left"));
            }
        }
        broken
    }
}

impl Attachment {
    fn parse(row: &str) -> Self {
        let parts: Vec<&str> = row.splitn(7, '|').collect();
        let leftover = serde_json::from_str::<Value>(parts[6]).ok().and_then(|c| c["host"].as_str().map(str::to_owned));
        Self {
            id: parts[0].to_owned(),
            volume: parts[1].to_owned(),
            status: parts[2].to_owned(),
            host: parts[3].to_owned(),
            connected: parts[4] == "connected",
            work: parts[5].to_owned(),
            leftover,
        }
    }
}

/// `KEY|REST`.
fn pairs(rows: Vec<String>) -> BTreeMap<String, String> {
    rows.iter().filter_map(|row| row.split_once('|')).map(|(key, rest)| (key.to_owned(), rest.to_owned())).collect()
}

/// What the owner was told about something.
async fn messages(world: &World, resource: &str) -> Vec<Value> {
    let answer = world.client(Persona::Member).at("3.5").get(&format!("/messages?resource_uuid={resource}")).await.expect(200);
    answer["messages"].as_array().unwrap().clone()
}

/// Events that were told, for the first time, after their resource had gone. From one service's log.
pub fn events_out_of_order(log: &str) -> Vec<String> {
    let (mut seen, mut gone, mut wrong) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for line in log.lines().filter(|l| l.contains("stowage::event")) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let of = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let (resource, kind) = (of("resource_id"), of("event_type"));
        if !seen.insert(of("event_id")) {
            continue;
        }
        if gone.contains(&resource) {
            wrong.push(format!("{kind} of {resource} after its end"));
        }
        if ["volume.delete.end", "snapshot.delete.end"].contains(&kind.as_str()) {
            gone.insert(resource);
        }
    }
    assert!(!seen.is_empty(), "no event is in the log");
    wrong
}
