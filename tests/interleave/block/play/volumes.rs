//! Making, changing, deleting and looking at volumes.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use support::Answer;

use super::{Player, Who};
use crate::block::{
    book::Slot,
    plan::{Kind, SLOTS, Step},
    verdict,
};
use crate::player::{FRESH, brief, text};

impl Player {
    /// Puts a new volume into the slot, if that is empty.
    pub(super) async fn create(&mut self, step: &Step, slot: usize, volume: Value) -> String {
        if let Some(there) = self.volume(slot) {
            // looks whether it is gone by now
            let gone = self.shown(&there).await.is_some_and(|a| a.status == 404);
            if !gone {
                return format!("{there} is there");
            }
            self.forget_volume(slot, &there);
        }
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/volumes", Some(json!({ "volume": volume }))).await else {
            return "no answer".to_owned();
        };
        if answer.status != 202 {
            return brief(&answer);
        }
        let id = text(&answer.body()["volume"]["id"]);
        match self.shown(&id).await {
            Some(a) if a.status != 200 => self.book.breaks(format!("[read-after-write] {id} was accepted, and then: {a:?}")),
            _ => {}
        }
        let mut held = self.book.slot(slot);
        if held.volume.is_none() {
            *held = Slot { volume: Some(id.clone()), ..Default::default() };
        }
        format!("202 {id}")
    }

    pub(super) async fn extend(&mut self, step: &Step, slot: usize, by: i64) -> String {
        let Some(id) = self.volume(slot) else { return "no volume".to_owned() };
        let size = match self.shown(&id).await {
            Some(a) if a.status == 200 => a.body()["volume"]["size"].as_i64().unwrap(),
            _ => return format!("{id} is gone"),
        };
        self.act(step, slot, Who::Member, "os-extend", json!({ "new_size": size + by })).await.0
    }

    pub(super) async fn retype(&mut self, step: &Step, slot: usize, to: Kind, on_demand: bool) -> String {
        let policy = if on_demand { "on-demand" } else { "never" };
        let members = json!({ "new_type": to.type_name(), "migration_policy": policy });
        self.act(step, slot, Who::Member, "os-retype", members).await.0
    }

    /// The slot, or the next one whose volume can move: most are attached or have snapshots.
    pub(super) async fn at_rest(&mut self, slot: usize) -> usize {
        for slot in (0..SLOTS).map(|n| (slot + n) % SLOTS) {
            let Some(id) = self.volume(slot) else { continue };
            let available = self.shown(&id).await.is_some_and(|a| a.body()["volume"]["status"] == "available");
            if available && self.book.slot(slot).snapshots.is_empty() {
                return slot;
            }
        }
        slot
    }

    pub(super) async fn delete(
        &mut self,
        step: &Step,
        slot: usize,
        who: Who,
        call: impl Fn(&str) -> (Method, String, Option<Value>),
    ) -> String {
        let Some(id) = self.volume(slot) else { return "no volume".to_owned() };
        let (method, path, body) = call(&id);
        let Some(answer) = self.request(step, who, method, &path, body).await else { return format!("{id} no answer") };
        match answer.status.as_u16() {
            404 => self.forget_volume(slot, &id),
            202 => {
                let began = Instant::now();
                let after = self.shown(&id).await;
                let rests = |a: &Answer| {
                    ["available", "reserved", "attaching", "in-use"].contains(&a.body()["volume"]["status"].as_str().unwrap_or_default())
                };
                // an operator may have said meanwhile that it is something else
                if let Some(a) = after.filter(|a| a.status == 200 && rests(a) && began.elapsed() < FRESH)
                    && !self.book.was_told(&id)
                {
                    self.book.breaks(format!("[read-after-write] the delete of volume {id} was accepted, and then: {a:?}"));
                }
            }
            _ => {}
        }
        format!("{id} {}", brief(&answer))
    }

    pub(super) async fn look(&mut self, step: &Step, slot: usize) -> String {
        let Some(id) = self.volume(slot) else { return "no volume".to_owned() };
        let Some(answer) = self.shown(&id).await else { return format!("{id} no answer") };
        if answer.status == 404 {
            self.forget_volume(slot, &id);
            return format!("{id} 404");
        }
        if let Some(objection) = verdict::objection(step, &answer, self.doors.restarted) {
            self.book.breaks(objection);
            return format!("{id} {}", answer.status);
        }
        self.learn(slot, &id).await;
        format!("{id} {}", text(&answer.body()["volume"]["status"]))
    }

    pub(super) async fn rest(&mut self, slot: usize) -> String {
        for _ in 0..15 {
            let Some(id) = self.volume(slot) else { break };
            let Some(answer) = self.shown(&id).await else { break };
            if answer.status == 404 {
                self.forget_volume(slot, &id);
                break;
            }
            let status = text(&answer.body()["volume"]["status"]);
            if !status.ends_with("ing") || status == "attaching" {
                return format!("{id} {status}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        "waited".to_owned()
    }
}
