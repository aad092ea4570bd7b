//! What must be true once nothing is under way: the rows, the API and the arrays say the same.
//!
//! Each violation begins with the name of its rule in brackets. Where a rule makes an exception, the reason stands there.

mod attached;
mod held;
mod offers;
mod told;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::Value;
use support::{Persona, array::Object};

use crate::{
    block::{
        book::Book,
        world::{BACKENDS, World},
    },
    figures::Room,
};

/// Reports come every second, events go out every second.
const NEXT_REPORT: Duration = Duration::from_secs(20);

/// States that a job owns. `attaching` and `reserved` are the client's: it has yet to connect, or to say `os-complete`.
const VOLUME_MOVES: &[&str] =
    &["creating", "downloading", "deleting", "detaching", "extending", "retyping", "reverting", "maintenance", "uploading", "managing"];
const SNAPSHOT_MOVES: &[&str] = &["creating", "deleting", "restoring", "updating", "backing-up", "unmanaging"];

const ATTACHMENTS: &str = "SELECT id || '|' || volume_id || '|' || status || '|' || COALESCE(connector, '') || '|' || \
    CASE WHEN connection_info IS NULL THEN '' ELSE 'connected' END || '|' || COALESCE(work, '') || '|' || COALESCE(work_connector, '') || '|' || COALESCE(leftovers, '') || '|' || \
    COALESCE(older, '') || CASE WHEN leaving THEN ' leaving' ELSE '' END || '|' || mode \
    FROM attachments ORDER BY id";
const WORK: &str = "SELECT id || ' extend_to ' || COALESCE(CAST(extend_to AS TEXT), '') || ' retype_to ' || COALESCE(retype_to, '') || ' previous_status ' || \
    COALESCE(previous_status, '') || ' migration ' || COALESCE(migration_status, '') || ' ' || COALESCE(migration_job, '') \
    FROM volumes WHERE extend_to IS NOT NULL OR retype_to IS NOT NULL OR previous_status IS NOT NULL OR migration_job IS NOT NULL \
    OR migration_status NOT IN ('success', 'error')";
const NOT_BACKED: &str = "SELECT id FROM snapshots WHERE NOT backed";

type Objects = BTreeMap<String, Object>;

/// An attachment as the database has it.
struct Attachment {
    id: String,
    volume: String,
    status: String,
    /// Of its connector.
    initiator: String,
    connected: bool,
    /// `rw`, `ro`, or neither yet.
    mode: String,
    work: String,
    /// `os-reserve` made it: it waits for the other two actions.
    reserved_by_action: bool,
    /// Its detach was announced: its volume is `detaching` for as long as its client likes.
    leaving: bool,
    /// An older action made it, or spoke of it last.
    older: bool,
    /// Initiators of connects that failed and left, perhaps, something on the array.
    leftovers: Vec<String>,
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
    scene.volumes_are_held(world, book, &mut broken).await;
    scene.snapshots_are_held(&mut broken);
    scene.exports(book, &mut broken);
    scene.offers(world, book, &mut broken).await;
    scene.statuses(world, book, &mut broken).await;
    scene.usage(world, &mut broken).await;
    scene.reasons(world, book, &mut broken).await;
    broken.extend(scene.room().figures_come_true(&world.database, patience).await);
    broken
}

fn id(v: &Value) -> &str {
    v["id"].as_str().unwrap_or_default()
}
fn status(v: &Value) -> &str {
    v["status"].as_str().unwrap_or_default()
}
/// What arrays call it: since it moved, not by its id.
fn object_id(v: &Value) -> &str {
    v["os-vol-mig-status-attr:name_id"].as_str().unwrap_or_else(|| id(v))
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
    /// The volume that an array's object is.
    fn of_object(&self, wanted: &str) -> Option<&Value> {
        self.volumes.iter().find(|v| object_id(v) == wanted)
    }
    fn attachments_of<'a>(&'a self, volume: &'a str) -> impl Iterator<Item = &'a Attachment> {
        self.attachments.iter().filter(move |a| a.volume == volume)
    }

    /// What lies where.
    fn room(&self) -> Room {
        let size = |v: &Value| v["size"].as_u64().unwrap_or_default();
        let lying = self.volumes.iter().filter_map(|v| Some((id(v).to_owned(), (on_host(v)?.to_owned(), size(v))))).collect();
        let used = |n: usize| self.held[n].values().flat_map(BTreeMap::values).map(|o| o.gib).sum();
        Room { lying, used: BACKENDS.iter().enumerate().map(|(n, backend)| (*backend, used(n))).collect() }
    }

    /// Nothing is in a state that a job would have to end.
    async fn rests(&self, world: &World, broken: &mut Vec<String>) {
        let announced = |v: &Value| status(v) == "detaching" && self.attachments_of(id(v)).any(|a| a.leaving);
        for v in self.volumes.iter().filter(|v| VOLUME_MOVES.contains(&status(v)) && !announced(v)) {
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
}

impl Attachment {
    fn parse(row: &str) -> Self {
        let parts: Vec<&str> = row.split('|').collect();
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        let left = json(parts[7]).as_array().cloned().unwrap_or_default();
        let leftovers = left.iter().chain([&json(parts[6])]).filter_map(|c| c["initiator"].as_str().map(str::to_owned)).collect();
        Self {
            id: parts[0].to_owned(),
            volume: parts[1].to_owned(),
            status: parts[2].to_owned(),
            initiator: json(parts[3])["initiator"].as_str().unwrap_or_default().to_owned(),
            connected: parts[4] == "connected",
            mode: parts[9].to_owned(),
            work: parts[5].to_owned(),
            reserved_by_action: parts[8].starts_with("reserve"),
            leaving: parts[8].ends_with(" leaving"),
            older: !parts[8].trim_end_matches(" leaving").is_empty(),
            leftovers,
        }
    }
}

/// What the owner was told about something.
async fn messages(world: &World, resource: &str) -> Vec<Value> {
    let answer = world.client(Persona::Member).at("3.5").get(&format!("/messages?resource_uuid={resource}")).await.expect(200);
    answer["messages"].as_array().unwrap().clone()
}
