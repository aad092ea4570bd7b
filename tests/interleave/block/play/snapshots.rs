//! Taking and deleting snapshots.

use std::time::Instant;

use http::Method;
use serde_json::json;

use super::{Player, Who};
use crate::block::plan::{Step, Temper};
use crate::player::{FRESH, brief, text};

impl Player {
    pub(super) async fn take_snapshot(&mut self, step: &Step, slot: usize, temper: Temper) -> String {
        let Some(volume) = self.volume(slot) else { return "no volume".to_owned() };
        let body = json!({ "snapshot": { "volume_id": volume, "force": true, "name": temper.name() } });
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/snapshots", Some(body)).await else {
            return format!("{volume} no answer");
        };
        if answer.status != 202 {
            return format!("{volume} {}", brief(&answer));
        }
        let id = text(&answer.body()["snapshot"]["id"]);
        let mut held = self.book.slot(slot);
        if held.volume.as_ref() == Some(&volume) {
            held.snapshots.push(id.clone());
        }
        format!("{volume} 202 snapshot {id}")
    }

    pub(super) async fn drop_snapshot(&mut self, step: &Step, slot: usize, nth: usize) -> String {
        let Some(id) = self.snapshot(slot, nth) else { return "no snapshot".to_owned() };
        let path = format!("/snapshots/{id}");
        let (outcome, answer) = self.about(step, slot, &id, Who::Member, Method::DELETE, &path, None).await;
        if answer.is_some_and(|a| a.status == 202) {
            let began = Instant::now();
            match self.ask(Who::Member, Method::GET, &path, None).await {
                Some(a) if a.status == 200 && a.body()["snapshot"]["status"] == "available" && began.elapsed() < FRESH => {
                    self.book.breaks(format!("[read-after-write] the delete of snapshot {id} was accepted, and then: {a:?}"));
                }
                _ => {}
            }
        }
        outcome
    }
}
