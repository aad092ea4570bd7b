//! Whoever the arrays let in has a rule, and whoever has an active rule is let in.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Scene, rows::Rule};
use crate::shares::{book::Book, world::BACKENDS};

/// A rule as an array keeps it.
#[derive(Debug, Deserialize)]
struct Held {
    id: String,
    to: String,
    read_only: bool,
}

/// A share or a snapshot that rules may be of.
struct Ruled<'s> {
    id: &'s str,
    instance: &'s str,
    array: Option<usize>,
    /// The word about it is nobody's, or it was being deleted: the array may hold anything of its rules, or nothing.
    doubtful: bool,
    /// The driver's levels count: of snapshots there is only one.
    levels: bool,
}

impl Scene {
    pub(super) fn rules_hold(&self, book: &Book, broken: &mut Vec<String>) {
        let mut all: Vec<Ruled<'_>> = Vec::new();
        for s in &self.rows.shares {
            let doubtful = book.was_told(&s.id) || s.status == "error_deleting";
            all.push(Ruled { id: &s.id, instance: &s.instance, array: s.place(), doubtful, levels: true });
            self.whole(&s.id, &s.rules_status, broken);
        }
        for s in &self.rows.snapshots {
            let array = self.rows.share(&s.share).and_then(|s| s.place());
            all.push(Ruled { id: &s.id, instance: &s.instance, array, doubtful: s.status == "error_deleting", levels: false });
        }
        for ruled in &all {
            let rows: Vec<&Rule> = self.rows.rules.iter().filter(|r| r.of == ruled.id).collect();
            self.of_one(ruled, &rows, broken);
        }
        let known: BTreeSet<&str> = all.iter().map(|r| r.instance).collect();
        for (array, backend) in BACKENDS.iter().enumerate() {
            for of in self.held(array, "rules").keys().filter(|of| !known.contains(of.as_str())) {
                broken.push(format!("[orphan-object] {backend} holds rules of {of}, which has no row"));
            }
        }
        let there: BTreeSet<&str> = all.iter().map(|r| r.id).collect();
        for r in self.rows.rules.iter().filter(|r| !there.contains(r.of.as_str())) {
            broken.push(format!("[no-share] rule {} is of {}, which is not there", r.id, r.of));
        }
    }

    fn of_one(&self, of: &Ruled<'_>, rows: &[&Rule], broken: &mut Vec<String>) {
        for (array, backend) in BACKENDS.iter().enumerate() {
            let held: Vec<Held> = match self.held(array, "rules").get(of.instance) {
                Some(object) => serde_json::from_value(object.data.clone()).unwrap(),
                None => Vec::new(),
            };
            let by_id: BTreeMap<&str, &Held> = held.iter().map(|h| (h.id.as_str(), h)).collect();
            for h in &held {
                // one that failed may have been applied: its owner sees that it failed
                if of.array != Some(array) || !rows.iter().any(|r| r.id == h.id) {
                    broken.push(format!("[rule-without-row] {backend} lets {} in to {} by rule {}", h.to, of.id, h.id));
                }
            }
            if of.array != Some(array) || of.doubtful {
                continue;
            }
            for r in rows.iter().filter(|r| r.state == "active") {
                match by_id.get(r.id.as_str()) {
                    None => {
                        broken.push(format!("[rule-not-held] rule {} of {} for {} is active, {backend} lets nobody in", r.id, of.id, r.to))
                    }
                    Some(h) if h.to != r.to || (of.levels && h.read_only != (r.level == "ro")) => {
                        broken.push(format!("[wrong-rule] rule {} of {} is {} for {}, {backend} has {h:?}", r.id, of.id, r.level, r.to));
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// The share says of its rules what they say.
    fn whole(&self, share: &str, said: &str, broken: &mut Vec<String>) {
        let failed = self.rows.rules.iter().any(|r| r.of == share && r.state == "error");
        if said != if failed { "error" } else { "active" } {
            broken.push(format!("[wrong-status] the rules of share {share} are said to be {said}; one has failed: {failed}"));
        }
    }
}
