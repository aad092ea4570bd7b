//! Giving volumes away.

use http::Method;
use serde_json::json;

use super::{Player, Who};
use crate::block::plan::Step;
use crate::player::{brief, text};

impl Player {
    pub(super) async fn offer(&mut self, step: &Step, slot: usize) -> String {
        let Some(volume) = self.volume(slot) else { return "no volume".to_owned() };
        let body = Some(json!({ "transfer": { "volume_id": volume } }));
        let Some(answer) = self.request(step, Who::Member, Method::POST, "/volume-transfers", body).await else {
            return format!("{volume} no answer");
        };
        if answer.status != 202 {
            return format!("{volume} {}", brief(&answer));
        }
        let made = answer.body()["transfer"].clone();
        let mut held = self.book.slot(slot);
        if held.volume.as_ref() == Some(&volume) {
            held.offer = Some((text(&made["id"]), text(&made["auth_key"])));
        }
        format!("{volume} 202 transfer {}", text(&made["id"]))
    }

    /// It keeps its place in the plan when its owner takes it, and leaves it when it goes to another project.
    pub(super) async fn take_over(&mut self, step: &Step, slot: usize, stranger: bool) -> String {
        let (volume, offer) = {
            let held = self.book.slot(slot);
            (held.volume.clone(), held.offer.clone())
        };
        let (Some(volume), Some((id, key))) = (volume, offer) else { return "no offer".to_owned() };
        let who = if stranger { Who::Stranger } else { Who::Member };
        let body = Some(json!({ "accept": { "auth_key": key } }));
        let Some(answer) = self.request(step, who, Method::POST, &format!("/volume-transfers/{id}/accept"), body).await else {
            return format!("{volume} transfer {id} no answer");
        };
        if answer.status == 202 && stranger {
            match self.shown(&volume).await {
                Some(a) if a.status != 404 => {
                    self.book.breaks(format!("[read-after-write] volume {volume} was given away, and then: {a:?}"));
                }
                _ => {}
            }
            self.forget_volume(slot, &volume);
        }
        format!("{volume} transfer {id} {}", brief(&answer))
    }

    pub(super) async fn withdraw(&mut self, step: &Step, slot: usize) -> String {
        let Some((id, _)) = self.book.slot(slot).offer.clone() else { return "no offer".to_owned() };
        let answer = self.request(step, Who::Member, Method::DELETE, &format!("/volume-transfers/{id}"), None).await;
        format!("transfer {id} {}", answer.as_ref().map_or_else(|| "no answer".to_owned(), brief))
    }
}
