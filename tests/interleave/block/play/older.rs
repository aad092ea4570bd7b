//! Attaching and detaching with the actions that name a volume.

use serde_json::{Value, json};

use super::{Player, Who};
use crate::block::{
    plan::{Older, Step},
    world::{connector, host as name_of},
};

impl Player {
    /// One of them; whether it was accepted.
    pub(super) async fn older(&mut self, step: &Step, slot: usize, host: usize, action: Older) -> (String, bool) {
        let (name, members, who) = call(action, host);
        let Some(volume) = self.volume(slot) else { return ("no volume".to_owned(), false) };
        let (outcome, answer) = self.act(step, slot, who, name, members).await;
        let ends = matches!(action, Older::Connect | Older::Disconnect | Older::Detach);
        if ends && answer.as_ref().is_none_or(|a| a.status.is_server_error()) {
            self.book.doubts().let_go.insert(volume.clone());
        }
        let accepted = answer.is_some_and(|a| a.status.is_success());
        if accepted {
            // others go on with what it made as with any attachment
            self.learn(slot, &volume).await;
        }
        (format!("{name} {outcome}"), accepted)
    }

    pub(super) async fn older_way(&mut self, step: &Step, slot: usize, host: usize, leave: bool) -> String {
        let mut outcomes = Vec::new();
        for action in if leave { Older::GO } else { Older::COME } {
            let (outcome, accepted) = self.older(step, slot, host, action).await;
            outcomes.push(outcome);
            if !accepted {
                break;
            }
        }
        outcomes.join(", ")
    }
}

/// Its name, its members, and who asks: detaching is for the compute service, which also announces it.
fn call(action: Older, host: usize) -> (&'static str, Value, Who) {
    match action {
        Older::Reserve => ("os-reserve", json!({}), Who::Member),
        Older::Unreserve => ("os-unreserve", json!({}), Who::Member),
        Older::Connect => ("os-initialize_connection", json!({ "connector": connector(host) }), Who::Member),
        Older::Attach => ("os-attach", json!({ "mountpoint": "/dev/vdb", "host_name": name_of(host) }), Who::Member),
        Older::Announce => ("os-begin_detaching", json!({}), Who::Service),
        Older::Roll => ("os-roll_detaching", json!({}), Who::Service),
        Older::Disconnect => ("os-terminate_connection", json!({ "connector": connector(host) }), Who::Service),
        Older::Detach => ("os-detach", json!({}), Who::Service),
    }
}
