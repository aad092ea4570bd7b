//! The objects of the arrays are the rows: no orphan, none lost, each of its row's size and type, on its row's back end.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::array::Object;

use super::{Scene, id, messages, object_id, on_host, place, status};
use crate::block::{
    book::Book,
    plan::Kind,
    world::{BACKENDS, World},
};

const EXTEND: &str = "007";
const DELETE: &str = "101";
const RETYPE: &str = "103";

/// What messages say that this action failed.
fn failed<'m>(said: &'m [Value], action: &str) -> impl Iterator<Item = &'m Value> {
    let start = format!("VOLUME_VOLUME_{action}_");
    said.iter().filter(move |m| m["event_id"].as_str().is_some_and(|e| e.starts_with(&start)))
}

impl Scene {
    /// The objects of the arrays are the rows: no orphan, none lost, each of its row's size and type, on its row's back end.
    pub(super) async fn volumes_are_held(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        for v in &self.volumes {
            let own = place(v);
            for (array, backend) in BACKENDS.iter().enumerate() {
                let object = self.held(array, "volumes").remove(object_id(v));
                let found = object.is_some();
                match (own == Some(array), status(v)) {
                    (false, _) if found => {
                        broken.push(format!("[orphan-object] {} ({}) is on {:?}, and {backend} holds it", id(v), status(v), on_host(v)));
                    }
                    // a delete that failed may have been done
                    (true, "error_deleting") | (false, _) => {}
                    // and an operator may have said since that it is something else
                    (true, _) if !found && book.was_told(id(v)) && failed(&messages(world, id(v)).await, DELETE).next().is_some() => {}
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
            for object in self.held(array, "volumes").keys().filter(|o| self.of_object(o).is_none()) {
                broken.push(format!("[orphan-object] {backend} holds volume {object}, which has no row"));
            }
        }
    }

    pub(super) async fn looks_as_said(&self, world: &World, v: &Value, object: &Object, broken: &mut Vec<String>) {
        let said = messages(world, id(v)).await;
        let size = v["size"].as_u64().unwrap_or_default();
        // an extend that failed may have been done; its user was told
        if object.gib != size && !(object.gib > size && failed(&said, EXTEND).next().is_some()) {
            broken.push(format!("[wrong-size] {} is {size} GiB, its object {}", id(v), object.gib));
        }
        let kind = [Kind::Gold, Kind::Multi].into_iter().find(|k| v["volume_type"] == k.type_name());
        let specs = match kind {
            Some(Kind::Gold) => json!([["vendor:tier", "gold"]]),
            Some(_) => json!([["multiattach", "<is> True"]]),
            None => Value::Null,
        };
        // a retype that failed was undone, or its user was told that nobody knows
        let maybe =
            |m: &Value| m["user_message"].as_str().is_some_and(|text| text.contains("may have given it properties of the new type"));
        if object.data["specs"] != specs && !failed(&said, RETYPE).any(maybe) {
            broken.push(format!("[wrong-type] {} is of type {}, its object has {}", id(v), v["volume_type"], object.data["specs"]));
        }
        if v["multiattach"] != json!(kind == Some(Kind::Multi)) {
            broken.push(format!("[wrong-type] {} is of type {} and multiattach {}", id(v), v["volume_type"], v["multiattach"]));
        }
    }

    pub(super) fn snapshots_are_held(&self, broken: &mut Vec<String>) {
        let mut expected = BTreeSet::new();
        for s in &self.snapshots {
            let volume = s["volume_id"].as_str().unwrap_or_default();
            let row = self.volume(volume);
            let key = format!("{}.{}", row.map_or(volume, object_id), id(s));
            let Some(array) = row.and_then(place) else {
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
}
