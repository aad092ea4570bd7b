//! Attachments, exports and what volumes show of them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Attachment, Scene, id, object_id, place, status};
use crate::block::{
    book::Book,
    world::{BACKENDS, World, connection},
};
use crate::figures::pairs;

const ATTACH_STATUS: &str = "SELECT id || '|' || attach_status FROM volumes";

impl Scene {
    /// No export without an attachment; no connected attachment without its export; none of a volume that is not there.
    pub(super) fn exports(&self, book: &Book, broken: &mut Vec<String>) {
        for (array, backend) in BACKENDS.iter().enumerate() {
            for (key, object) in self.held(array, "connections") {
                let Some((volume, _)) = key.split_once('.') else { continue };
                let row = self.of_object(volume);
                let is_it = |initiator: &String| connection(volume, initiator) == key;
                let left = |a: &Attachment| a.leftovers.iter().any(is_it);
                let theirs = |a: &Attachment| (a.connected && is_it(&a.initiator)) || left(a);
                let known = row.is_some_and(|row| self.attachments_of(id(row)).any(theirs));
                if !known || row.and_then(place) != Some(array) {
                    broken.push(format!("[export-without-attachment] {backend} exports {volume} as {key}"));
                    continue;
                }
                // the widest mode of those who live on it; older actions say a mode of their own afterwards
                let live: Vec<_> =
                    row.into_iter().flat_map(|row| self.attachments_of(id(row))).filter(|a| a.connected && is_it(&a.initiator)).collect();
                let unsure = |a: &Attachment| a.older || left(a) || book.doubts().moves.contains(&a.id);
                let doubtful = row.is_some_and(|row| self.attachments_of(id(row)).any(unsure) || book.doubts().let_go.contains(id(row)));
                let read_only = live.iter().all(|a| a.mode == "ro");
                if !live.is_empty() && !doubtful && object.data["read_only"] != read_only {
                    let modes: Vec<_> = live.iter().map(|a| &a.mode).collect();
                    broken
                        .push(format!("[wrong-mode] {backend} exports {volume} as {key}: {}, its attachments are {modes:?}", object.data));
                }
            }
        }
        for a in &self.attachments {
            let Some(volume) = self.volume(&a.volume) else {
                broken.push(format!("[no-volume] attachment {} is of {}, which is not there", a.id, a.volume));
                continue;
            };
            let exported = place(volume)
                .is_some_and(|array| self.held(array, "connections").contains_key(&connection(object_id(volume), &a.initiator)));
            // as upstream, a detach (or the first half of a move to another host) whose back end failed has changed nothing here;
            // it may have been done there, and its caller, who was told of the failure, asks again
            let doubtful = || {
                book.doubts().moves.iter().any(|d| self.attachments_of(&a.volume).any(|b| b.id == *d && b.initiator == a.initiator))
                    || book.doubts().let_go.contains(&a.volume)
            };
            if a.connected && !exported && !doubtful() {
                broken.push(format!("[attachment-without-export] {} ({}) of {} on {}", a.id, a.status, a.volume, a.initiator));
            }
            let odd = match a.status.as_str() {
                "reserved" => a.connected,
                "attaching" => !a.connected && !a.reserved_by_action,
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
    pub(super) async fn statuses(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        let attach: BTreeMap<String, String> = pairs(world.database.texts(ATTACH_STATUS).await);
        for v in &self.volumes {
            let counts = |a: &Attachment| if a.leaving && a.status == "attached" { "detaching".to_owned() } else { a.status.clone() };
            let statuses = self.attachments_of(id(v)).map(counts).filter(|s| !s.starts_with("error_"));
            let first = statuses.min();
            let (wanted, wanted_attach) = match first.as_deref() {
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
}
