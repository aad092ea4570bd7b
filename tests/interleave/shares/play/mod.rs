//! One client that takes its steps.

mod networks;
mod rules;
mod servers;
mod shares;
mod snapshots;

use std::{sync::Arc, time::Instant};

use http::Method;
use serde_json::{Value, json};
use stowage::api::route::Api;
use support::{
    Answer, Persona,
    array::{Control, Fault},
};

use crate::{
    player::{Doors, breath, brief, pick},
    shares::{
        book::Book,
        plan::{Kind, Step},
        verdict,
        world::World,
    },
};

/// Every client begins its steps.
pub fn start(world: &World, book: &Arc<Book>) -> Vec<tokio::task::JoinHandle<()>> {
    (0..book.plan.clients.len()).map(|number| tokio::spawn(Player::new(world, book, number).play())).collect()
}

/// In whose name, and of which API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Member,
    Admin,
    /// At our own API.
    Operator,
}

struct Player {
    number: usize,
    /// For each of [`Who`].
    doors: Doors,
    controls: [Control; 3],
    book: Arc<Book>,
}

impl Player {
    fn new(world: &World, book: &Arc<Book>, number: usize) -> Self {
        let doors = [(Api::Share, Persona::Member), (Api::Share, Persona::Admin), (Api::Admin, Persona::Admin)];
        Self {
            number,
            doors: Doors::new(doors.map(|(api, p)| world.clients(api, p)).into(), number, world.recounted),
            controls: [0, 1, 2].map(|n: usize| world.arrays[n].control.clone()),
            book: Arc::clone(book),
        }
    }

    async fn play(mut self) {
        let book = Arc::clone(&self.book);
        for (n, step) in book.plan.clients[self.number].iter().enumerate() {
            tokio::time::sleep(breath(self.number, n)).await;
            let began = Instant::now();
            let inside = step.about().map(|slot| book.enter(slot));
            let outcome = self.take(step).await;
            drop(inside);
            book.write(self.number, n, began, step, &outcome);
        }
    }

    async fn take(&mut self, step: &Step) -> String {
        match *step {
            Step::Create { slot, net, size, cifs, temper } => {
                let mut share = json!({ "size": size, "name": temper.name(), "share_proto": if cifs { "CIFS" } else { "NFS" } });
                match net {
                    None => share["share_type"] = json!(Kind::Plain.type_name()),
                    Some(net) => match self.network_in(step, net).await {
                        Ok(network) => {
                            share["share_type"] = json!(Kind::Served.type_name());
                            share["share_network_id"] = json!(network);
                        }
                        Err(outcome) => return outcome,
                    },
                }
                self.create(step, slot, share).await
            }
            Step::Restore { slot, of, nth, temper } => self.restore(step, slot, of, nth, temper).await,
            Step::Extend { slot, by } => self.resize(step, slot, "extend", by).await,
            Step::Shrink { slot } => self.resize(step, slot, "shrink", -1).await,
            Step::Allow { slot, target, read_only } => self.allow(step, slot, target, read_only).await,
            Step::Deny { slot, nth } => self.deny(step, slot, nth).await,
            Step::Relevel { slot, nth, read_only } => self.relevel(step, slot, nth, read_only).await,
            Step::Snapshot { slot, temper } => self.take_snapshot(step, slot, temper).await,
            Step::DropSnapshot { slot, nth } => self.drop_snapshot(step, slot, nth).await,
            Step::Revert { slot } => {
                let Some(latest) = self.book.slot(slot).snapshots.last().cloned() else { return "no snapshot".to_owned() };
                self.act(step, slot, Who::Member, "revert", json!({ "snapshot_id": latest })).await
            }
            Step::AllowSnapshot { slot, nth, target } => self.allow_snapshot(step, slot, nth, target).await,
            Step::DenySnapshot { slot, nth } => self.deny_snapshot(step, slot, nth).await,
            Step::Delete { slot } => self.delete(step, slot).await,
            Step::ForceDelete { slot } => self.act(step, slot, Who::Admin, "force_delete", Value::Null).await,
            Step::Bin { slot } => self.act(step, slot, Who::Member, "soft_delete", Value::Null).await,
            Step::Unbin { slot } => self.act(step, slot, Who::Member, "restore", Value::Null).await,
            Step::Tell { slot, status } => {
                let Some(id) = self.share(slot) else { return "no share".to_owned() };
                self.tell(step, &id, &format!("/shares/{id}/action"), status).await
            }
            Step::Look { slot } => self.look(step, slot).await,
            Step::Rest { slot } => self.rest(slot).await,
            Step::Network { net, subnet } => self.make_network(step, net, subnet).await,
            Step::DropNetwork { net } => self.drop_network(step, net).await,
            Step::AddSubnet { net, subnet } => self.add_subnet(step, net, subnet).await,
            Step::CheckSubnet { net, subnet, anew } => self.check_subnet(step, net, subnet, anew).await,
            Step::DropSubnet { net, nth } => self.drop_subnet(step, net, nth).await,
            Step::Secure { net } => self.secure(step, net).await,
            Step::DropServer { nth } => self.drop_server(step, nth).await,
            Step::RetryServer { nth } => self.retry_server(nth).await,
            Step::TellServer { nth } => self.tell_server(step, nth).await,
            Step::Sweep => self.operate("/loops/idle-servers/run").await,
            Step::Ensure { backend, strict } => self.ensure(step, backend, strict).await,
            Step::Disturb { array, verb, trouble, times } => {
                self.controls[array].fault(Fault::on(verb, trouble.action()).times(times)).await.unwrap();
                "done".to_owned()
            }
        }
    }

    fn share(&self, slot: usize) -> Option<String> {
        self.book.slot(slot).share.clone()
    }
    fn snapshot(&self, slot: usize, nth: usize) -> Option<String> {
        pick(&self.book.slot(slot).snapshots, nth)
    }

    async fn ask(&mut self, who: Who, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let book = Arc::clone(&self.book);
        self.doors.ask(&book, who as usize, method, path, body).await
    }

    /// A request of the plan: counted, and its answer judged.
    async fn request(&mut self, step: &Step, who: Who, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let answer = self.ask(who, method, path, body).await;
        self.book.count(answer.as_ref().is_some_and(|a| a.status.is_success()));
        if let Some(objection) = answer.as_ref().and_then(|a| verdict::objection(step, a, self.doors.restarted)) {
            self.book.breaks(format!("{objection} (client {})", self.number));
        }
        answer
    }

    /// An operator says what a share or a server is.
    async fn tell(&mut self, step: &Step, id: &str, path: &str, status: &str) -> String {
        self.book.tell(id);
        let body = json!({ "reset_status": { "status": status } });
        let Some(answer) = self.request(step, Who::Admin, Method::POST, path, Some(body)).await else { return format!("{id} no answer") };
        if answer.status.is_client_error() {
            self.book.untell(id);
        }
        format!("{id} {}", brief(&answer))
    }

    /// What a member sees at a path now.
    async fn shown(&mut self, path: &str) -> Option<Answer> {
        self.ask(Who::Member, Method::GET, path, None).await
    }

    /// An action on the share in the slot.
    async fn act(&mut self, step: &Step, slot: usize, who: Who, action: &str, members: Value) -> String {
        let Some(id) = self.share(slot) else { return "no share".to_owned() };
        let path = format!("/shares/{id}/action");
        let Some(answer) = self.request(step, who, Method::POST, &path, Some(json!({ action: members }))).await else {
            return format!("{id} no answer");
        };
        if answer.status == 404 && self.shown(&format!("/shares/{id}")).await.is_some_and(|a| a.status == 404) {
            self.forget_share(slot, &id);
        }
        format!("{id} {}", brief(&answer))
    }
}
