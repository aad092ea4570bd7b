//! Making, changing, deleting and looking at shares.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use support::Answer;

use super::{Player, Who};
use crate::{
    player::{FRESH, brief, text},
    shares::{
        book::Slot,
        plan::{Step, Temper},
        verdict,
    },
};

impl Player {
    pub(super) fn forget_share(&self, slot: usize, id: &str) {
        let mut held = self.book.slot(slot);
        if held.share.as_deref() == Some(id) {
            *held = Default::default();
        }
    }

    /// Puts a new share into the slot, if that is empty.
    pub(super) async fn create(&mut self, step: &Step, slot: usize, share: Value) -> String {
        if let Some(there) = self.share(slot) {
            // looks whether it is gone by now
            let gone = self.shown(&format!("/shares/{there}")).await.is_some_and(|a| a.status == 404);
            if !gone {
                return format!("{there} is there");
            }
            self.forget_share(slot, &there);
        }
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/shares", Some(json!({ "share": share }))).await else {
            return "no answer".to_owned();
        };
        if answer.status != 200 {
            return brief(&answer);
        }
        let id = text(&answer.body()["share"]["id"]);
        match self.shown(&format!("/shares/{id}")).await {
            Some(a) if a.status != 200 => self.book.breaks(format!("[read-after-write] share {id} was accepted, and then: {a:?}")),
            _ => {}
        }
        let mut held = self.book.slot(slot);
        if held.share.is_none() {
            *held = Slot { share: Some(id.clone()), ..Default::default() };
        }
        format!("200 {id}")
    }

    /// Out of a snapshot of another.
    pub(super) async fn restore(&mut self, step: &Step, slot: usize, of: usize, nth: usize, temper: Temper) -> String {
        let (Some(snapshot), Some(source)) = (self.snapshot(of, nth), self.share(of)) else { return "no snapshot".to_owned() };
        let Some(answer) = self.shown(&format!("/shares/{source}")).await.filter(|a| a.status == 200) else {
            return format!("{source} is gone");
        };
        let source = &answer.body()["share"];
        let share = json!({ "snapshot_id": snapshot, "size": source["size"], "share_proto": source["share_proto"], "name": temper.name() });
        self.create(step, slot, share).await
    }

    pub(super) async fn resize(&mut self, step: &Step, slot: usize, action: &str, by: i64) -> String {
        let Some(id) = self.share(slot) else { return "no share".to_owned() };
        let size = match self.shown(&format!("/shares/{id}")).await {
            Some(a) if a.status == 200 => a.body()["share"]["size"].as_i64().unwrap(),
            _ => return format!("{id} is gone"),
        };
        self.act(step, slot, Who::Member, action, json!({ "new_size": size + by })).await
    }

    pub(super) async fn delete(&mut self, step: &Step, slot: usize) -> String {
        let Some(id) = self.share(slot) else { return "no share".to_owned() };
        let path = format!("/shares/{id}");
        let Some(answer) = self.request(step, Who::Member, Method::DELETE, &path, None).await else { return format!("{id} no answer") };
        match answer.status.as_u16() {
            404 => self.forget_share(slot, &id),
            202 => {
                let began = Instant::now();
                let rests = |a: &Answer| a.status == 200 && a.body()["share"]["status"] == "available";
                // an operator may have said meanwhile that it is something else
                if let Some(a) = self.shown(&path).await.filter(|a| rests(a) && began.elapsed() < FRESH)
                    && !self.book.was_told(&id)
                {
                    self.book.breaks(format!("[read-after-write] the delete of share {id} was accepted, and then: {a:?}"));
                }
            }
            _ => {}
        }
        format!("{id} {}", brief(&answer))
    }

    pub(super) async fn look(&mut self, step: &Step, slot: usize) -> String {
        let Some(id) = self.share(slot) else { return "no share".to_owned() };
        let Some(answer) = self.shown(&format!("/shares/{id}")).await else { return format!("{id} no answer") };
        if answer.status == 404 {
            self.forget_share(slot, &id);
            return format!("{id} 404");
        }
        if let Some(objection) = verdict::objection(step, &answer, self.doors.restarted) {
            self.book.breaks(objection);
            return format!("{id} {}", answer.status);
        }
        format!("{id} {}", text(&answer.body()["share"]["status"]))
    }

    pub(super) async fn rest(&mut self, slot: usize) -> String {
        for _ in 0..20 {
            let Some(id) = self.share(slot) else { break };
            let Some(answer) = self.shown(&format!("/shares/{id}")).await else { break };
            if answer.status == 404 {
                self.forget_share(slot, &id);
                break;
            }
            let share = answer.body()["share"].clone();
            let status = text(&share["status"]);
            if !status.contains("ing") && share["access_rules_status"] != "syncing" {
                return format!("{id} {status}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        "waited".to_owned()
    }
}
