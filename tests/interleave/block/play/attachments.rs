//! Attaching and detaching.

use http::Method;
use serde_json::{Value, json};

use super::{Player, Who};
use crate::block::plan::Step;
use crate::player::{brief, text};

impl Player {
    pub(super) async fn attach(&mut self, step: &Step, slot: usize, mut body: Value, instance: bool) -> String {
        let Some(volume) = self.volume(slot) else { return "no volume".to_owned() };
        body["volume_uuid"] = json!(volume);
        if instance {
            body["instance_uuid"] = json!(uuid::Uuid::from_u128(0xfeed_0000 + slot as u128));
        }
        let body = Some(json!({ "attachment": body }));
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/attachments", body).await else {
            return format!("{volume} no answer");
        };
        if answer.status != 200 {
            self.learn(slot, &volume).await;
            return format!("{volume} {}", brief(&answer));
        }
        let made = answer.body()["attachment"].clone();
        let id = text(&made["id"]);
        let mut held = self.book.slot(slot);
        if held.volume.as_ref() == Some(&volume) {
            held.attachments.push(id.clone());
        }
        format!("{volume} 200 attachment {id} {}", text(&made["status"]))
    }

    /// What is on a volume that others changed, or whose answer was an error: others may go on with that.
    pub(super) async fn learn(&mut self, slot: usize, volume: &str) {
        let Some(answer) = self.ask(Who::Member, Method::GET, &format!("/attachments?volume_id={volume}"), None).await else { return };
        if answer.status != 200 {
            return self.book.breaks(format!("[unexpected-status] list of attachments: {answer:?}"));
        }
        let found: Vec<String> = answer.body()["attachments"].as_array().unwrap().iter().map(|a| text(&a["id"])).collect();
        let mut held = self.book.slot(slot);
        if held.volume.as_deref() == Some(volume) {
            held.attachments = found;
        }
    }

    pub(super) async fn detach(&mut self, step: &Step, slot: usize, nth: usize, as_service: bool) -> String {
        let Some(id) = self.attachment(slot, nth) else { return "no attachment".to_owned() };
        let who = if as_service { Who::Service } else { Who::Member };
        let path = format!("/attachments/{id}");
        let (outcome, answer) = self.about(step, slot, &id, who, Method::DELETE, &path, None).await;
        match answer.map(|a| (a.status.as_u16(), a)) {
            Some((200, answer)) => {
                self.book.slot(slot).attachments.retain(|a| *a != id);
                if answer.body()["attachments"].as_array().is_none_or(|left| left.iter().any(|a| a["id"] == id)) {
                    self.book.breaks(format!("[read-after-write] the delete of attachment {id} answered that it is left: {answer:?}"));
                }
                match self.ask(Who::Member, Method::GET, &path, None).await {
                    Some(a) if a.status != 404 => {
                        self.book.breaks(format!("[read-after-write] attachment {id} was deleted, and then: {a:?}"))
                    }
                    _ => {}
                }
            }
            Some((400 | 404 | 409, _)) => {}
            _ => {
                self.book.doubts().moves.insert(id);
            }
        }
        outcome
    }
}
