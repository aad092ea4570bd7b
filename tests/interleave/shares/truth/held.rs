//! The shares and snapshots of the arrays are the rows: no orphan, none lost, each of its row's size, on its row's back end
//! and server.

use std::collections::BTreeSet;

use super::{Scene, field, rows::Share};
use crate::shares::{book::Book, world::BACKENDS};

impl Scene {
    pub(super) fn shares_are_held(&self, book: &Book, broken: &mut Vec<String>) {
        for s in &self.rows.shares {
            let own = s.place();
            if s.host.is_empty() && s.status != "error" && !book.was_told(&s.id) {
                broken.push(format!("[lost-object] share {} is {} and nowhere", s.id, s.status));
            }
            for (array, backend) in BACKENDS.iter().enumerate() {
                let object = self.held(array, "shares").get(&s.instance);
                match (own == Some(array), object) {
                    (false, Some(_)) => broken.push(format!(
                        "[orphan-object] share {} ({}, instance {}) is on {:?}, and {backend} holds it",
                        s.id, s.status, s.instance, s.host
                    )),
                    // a delete that failed may have been done; what an operator said may be anything
                    (true, None) if s.status != "error_deleting" && !book.was_told(&s.id) => broken.push(format!(
                        "[lost-object] share {} (instance {}) is {} on {}, which does not hold it",
                        s.id, s.instance, s.status, s.host
                    )),
                    (true, Some(object)) => looks_as_said(s, object.gib, field(object, "server"), book.was_told(&s.id), broken),
                    _ => {}
                }
            }
        }
        let known: BTreeSet<&str> = self.rows.shares.iter().map(|s| s.instance.as_str()).collect();
        for (array, backend) in BACKENDS.iter().enumerate() {
            for id in self.held(array, "shares").keys().filter(|id| !known.contains(id.as_str())) {
                broken.push(format!("[orphan-object] {backend} holds share {id}, which has no row"));
            }
        }
    }

    pub(super) fn snapshots_are_held(&self, broken: &mut Vec<String>) {
        let mut expected = BTreeSet::new();
        for s in &self.rows.snapshots {
            let Some(array) = self.rows.share(&s.share).and_then(Share::place) else {
                broken.push(format!("[no-share] snapshot {} is of {}, which is not there, or nowhere", s.id, s.share));
                continue;
            };
            let key = format!("{}.{}", s.share_instance, s.instance);
            // what failed may have been done, unless the row knows that it was not
            match (s.status.as_str(), self.held(array, "share-snapshots").get(&key)) {
                ("available", None) => {
                    broken.push(format!("[lost-object] snapshot {} ({}) of {} is available and not held", s.id, s.instance, s.share));
                }
                ("available", Some(object)) if object.gib != s.gib => {
                    broken.push(format!("[wrong-size] snapshot {} is {} GiB, its object {}", s.id, s.gib, object.gib));
                }
                (_, Some(_)) if !s.backed => {
                    broken.push(format!("[orphan-object] snapshot {} of {} is said not to be held, and is", s.id, s.share));
                }
                _ => {}
            }
            expected.insert((array, key));
        }
        for (array, backend) in BACKENDS.iter().enumerate() {
            for key in self.held(array, "share-snapshots").keys() {
                if !expected.contains(&(array, key.clone())) {
                    broken.push(format!("[orphan-object] {backend} holds snapshot {}, which has no row", key.replace('.', " of ")));
                }
            }
        }
    }
}

fn looks_as_said(s: &Share, gib: u64, server: Option<String>, told: bool, broken: &mut Vec<String>) {
    // a resize that failed may have been done, and an operator may have said since that it did not
    let maybe = match s.status.as_str() {
        _ if told => true,
        "extending_error" => gib > s.gib,
        "shrinking_error" => gib < s.gib,
        _ => false,
    };
    if gib != s.gib && !maybe {
        broken.push(format!("[wrong-size] share {} is {} and {} GiB, its object {} {gib}", s.id, s.status, s.gib, s.instance));
    }
    if server != s.server {
        broken.push(format!(
            "[wrong-server] share {} ({}) is on server {:?}, its object {} on {server:?}",
            s.id, s.status, s.server, s.instance
        ));
    }
}
