//! Letting clients in, and out.

use http::Method;
use serde_json::{Value, json};

use super::{Player, Who};
use crate::{
    player::{brief, pick, text},
    shares::plan::{Step, TARGETS},
};

fn level(read_only: bool) -> &'static str {
    if read_only { "ro" } else { "rw" }
}

impl Player {
    pub(super) async fn allow(&mut self, step: &Step, slot: usize, target: usize, read_only: bool) -> String {
        let Some(share) = self.share(slot) else { return "no share".to_owned() };
        let (kind, to) = TARGETS[target];
        let body = json!({ "allow_access": { "access_type": kind, "access_to": to, "access_level": level(read_only) } });
        let path = format!("/shares/{share}/action");
        let Some(answer) = self.request(step, Who::Member, Method::POST, &path, Some(body)).await else {
            return format!("{share} no answer");
        };
        if answer.status != 200 {
            return format!("{share} {}", brief(&answer));
        }
        let id = text(&answer.body()["access"]["id"]);
        // nobody else knows it yet: it can only go with its share
        let gone = self.shown(&format!("/share-access-rules/{id}")).await.is_some_and(|a| a.status == 404);
        if gone && self.share_status(&share).await.is_some_and(|status| status == "available") {
            self.book.breaks(format!("[read-after-write] rule {id} of share {share} was accepted, and is not there"));
        }
        let mut held = self.book.slot(slot);
        if held.share.as_ref() == Some(&share) {
            held.rules.push(id.clone());
        }
        format!("{share} 200 rule {id}")
    }

    async fn share_status(&mut self, share: &str) -> Option<Value> {
        let answer = self.shown(&format!("/shares/{share}")).await?;
        (answer.status == 200).then(|| answer.body()["share"]["status"].clone())
    }

    pub(super) async fn deny(&mut self, step: &Step, slot: usize, nth: usize) -> String {
        let (Some(share), Some(id)) = (self.share(slot), pick(&self.book.slot(slot).rules, nth)) else { return "no rule".to_owned() };
        let body = json!({ "deny_access": { "access_id": id } });
        let path = format!("/shares/{share}/action");
        let Some(answer) = self.request(step, Who::Member, Method::POST, &path, Some(body)).await else {
            return format!("{share} rule {id} no answer");
        };
        match answer.status.as_u16() {
            404 => self.book.slot(slot).rules.retain(|r| *r != id),
            202 => {
                if let Some(a) = self.shown(&format!("/share-access-rules/{id}")).await.filter(|a| a.status == 200)
                    && a.body()["access"]["state"] == "active"
                {
                    self.book.breaks(format!("[read-after-write] the deny of rule {id} of share {share} was accepted, and then: {a:?}"));
                }
            }
            _ => {}
        }
        format!("{share} rule {id} {}", brief(&answer))
    }

    pub(super) async fn relevel(&mut self, step: &Step, slot: usize, nth: usize, read_only: bool) -> String {
        let Some(id) = pick(&self.book.slot(slot).rules, nth) else { return "no rule".to_owned() };
        let body = json!({ "update_access": { "access_level": level(read_only) } });
        let path = format!("/share-access-rules/{id}");
        match self.request(step, Who::Member, Method::PUT, &path, Some(body)).await {
            Some(answer) => format!("rule {id} {}", brief(&answer)),
            None => format!("rule {id} no answer"),
        }
    }

    pub(super) async fn allow_snapshot(&mut self, step: &Step, slot: usize, nth: usize, target: usize) -> String {
        let Some(snapshot) = self.snapshot(slot, nth) else { return "no snapshot".to_owned() };
        let (kind, to) = TARGETS[target];
        let body = json!({ "allow_access": { "access_type": kind, "access_to": to } });
        let path = format!("/snapshots/{snapshot}/action");
        let Some(answer) = self.request(step, Who::Member, Method::POST, &path, Some(body)).await else {
            return format!("{snapshot} no answer");
        };
        if answer.status != 202 {
            return format!("{snapshot} {}", brief(&answer));
        }
        let id = text(&answer.body()["snapshot_access"]["id"]);
        let mut held = self.book.slot(slot);
        if held.snapshots.contains(&snapshot) {
            held.snapshot_rules.push((snapshot.clone(), id.clone()));
        }
        format!("{snapshot} 202 rule {id}")
    }

    pub(super) async fn deny_snapshot(&mut self, step: &Step, slot: usize, nth: usize) -> String {
        let rules = self.book.slot(slot).snapshot_rules.clone();
        let Some((snapshot, id)) = rules.get(nth % rules.len().max(1)).cloned() else { return "no rule".to_owned() };
        let body = json!({ "deny_access": { "access_id": id } });
        match self.request(step, Who::Member, Method::POST, &format!("/snapshots/{snapshot}/action"), Some(body)).await {
            Some(answer) => {
                if answer.status == 404 {
                    self.book.slot(slot).snapshot_rules.retain(|(_, rule)| *rule != id);
                }
                format!("{snapshot} rule {id} {}", brief(&answer))
            }
            None => format!("{snapshot} rule {id} no answer"),
        }
    }
}
