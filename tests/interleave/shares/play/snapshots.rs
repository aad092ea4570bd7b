//! Taking and deleting snapshots.

use std::time::Instant;

use http::Method;
use serde_json::json;

use super::{Player, Who};
use crate::{
    player::{FRESH, brief, text},
    shares::plan::{Step, Temper},
};

impl Player {
    pub(super) async fn take_snapshot(&mut self, step: &Step, slot: usize, temper: Temper) -> String {
        let Some(share) = self.share(slot) else { return "no share".to_owned() };
        let body = json!({ "snapshot": { "share_id": share, "force": true, "name": temper.name() } });
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/snapshots", Some(body)).await else {
            return format!("{share} no answer");
        };
        if answer.status != 202 {
            return format!("{share} {}", brief(&answer));
        }
        let id = text(&answer.body()["snapshot"]["id"]);
        let mut held = self.book.slot(slot);
        if held.share.as_ref() == Some(&share) {
            held.snapshots.push(id.clone());
        }
        format!("{share} 202 snapshot {id}")
    }

    pub(super) async fn drop_snapshot(&mut self, step: &Step, slot: usize, nth: usize) -> String {
        let Some(id) = self.snapshot(slot, nth) else { return "no snapshot".to_owned() };
        let path = format!("/snapshots/{id}");
        let Some(answer) = self.request(step, Who::Member, Method::DELETE, &path, None).await else { return format!("{id} no answer") };
        match answer.status.as_u16() {
            404 => {
                let mut held = self.book.slot(slot);
                held.snapshots.retain(|s| *s != id);
                held.snapshot_rules.retain(|(s, _)| *s != id);
            }
            202 => {
                let began = Instant::now();
                if let Some(a) = self.shown(&path).await.filter(|a| a.status == 200 && began.elapsed() < FRESH)
                    && a.body()["snapshot"]["status"] == "available"
                {
                    self.book.breaks(format!("[read-after-write] the delete of snapshot {id} was accepted, and then: {a:?}"));
                }
            }
            _ => {}
        }
        format!("{id} {}", brief(&answer))
    }
}
