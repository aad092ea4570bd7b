//! One client that takes its steps.

mod attachments;
mod older;
mod snapshots;
mod transfers;
mod volumes;

use std::{sync::Arc, time::Instant};

use http::Method;
use serde_json::{Value, json};
use support::{
    Answer, Persona,
    array::{Control, Fault},
};

use crate::{
    block::{
        book::Book,
        plan::Step,
        verdict,
        world::{BACKENDS, World, connector},
    },
    player::{Doors, breath, brief, pick},
};

/// Every client begins its steps.
pub fn start(world: &World, book: &Arc<Book>) -> Vec<tokio::task::JoinHandle<()>> {
    (0..book.plan.clients.len()).map(|number| tokio::spawn(Player::new(world, book, number).play())).collect()
}

/// In whose name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Member,
    Admin,
    /// The compute service, for the member.
    Service,
    /// Somebody of another project.
    Stranger,
}

struct Player {
    number: usize,
    /// For each of [`Who`].
    doors: Doors,
    controls: [Control; 2],
    book: Arc<Book>,
}

impl Player {
    fn new(world: &World, book: &Arc<Book>, number: usize) -> Self {
        let doors = [Persona::Member, Persona::Admin, Persona::Service, Persona::Stranger];
        Self {
            number,
            doors: Doors::new(doors.map(|p| world.clients(p)).into(), number, world.recounted),
            controls: [0, 1].map(|n: usize| world.arrays[n].control.clone()),
            book: Arc::clone(book),
        }
    }

    async fn play(mut self) {
        let book = Arc::clone(&self.book);
        for (n, step) in book.plan.clients[self.number].iter().enumerate() {
            tokio::time::sleep(breath(self.number, n)).await;
            let began = Instant::now();
            let inside = step.slot().map(|slot| book.enter(slot));
            let outcome = self.take(step).await;
            drop(inside);
            book.write(self.number, n, began, step, &outcome);
        }
    }

    async fn take(&mut self, step: &Step) -> String {
        match *step {
            Step::Create { slot, size, kind, temper } => {
                let volume = json!({ "size": size, "name": temper.name(), "volume_type": kind.type_name() });
                self.create(step, slot, volume).await
            }
            Step::Copy { slot, of, temper } => match self.volume(of) {
                Some(source) => self.create(step, slot, json!({ "source_volid": source, "name": temper.name() })).await,
                None => "no source".to_owned(),
            },
            Step::Restore { slot, of, nth, temper } => match self.snapshot(of, nth) {
                Some(source) => self.create(step, slot, json!({ "snapshot_id": source, "name": temper.name() })).await,
                None => "no snapshot".to_owned(),
            },
            Step::Reserve { slot, instance } => self.attach(step, slot, json!({}), instance).await,
            Step::Attach { slot, host, instance, mode } => {
                let mut body = json!({ "connector": connector(host) });
                if let Some(mode) = mode {
                    body["mode"] = json!(mode);
                }
                self.attach(step, slot, body, instance).await
            }
            Step::Connect { slot, nth, host } => {
                let Some(id) = self.attachment(slot, nth) else { return "no attachment".to_owned() };
                let body = json!({ "attachment": { "connector": connector(host) } });
                let path = format!("/attachments/{id}");
                // what a server uses moves for the compute service alone
                let who = if (nth + host) % 2 == 0 { Who::Service } else { Who::Member };
                let (outcome, answer) = self.about(step, slot, &id, who, Method::PUT, &path, Some(body)).await;
                if answer.is_none_or(|a| a.status.is_server_error()) {
                    self.book.doubts().moves.insert(id);
                }
                outcome
            }
            Step::Complete { slot, nth } => {
                let Some(id) = self.attachment(slot, nth) else { return "no attachment".to_owned() };
                let path = format!("/attachments/{id}/action");
                self.about(step, slot, &id, Who::Member, Method::POST, &path, Some(json!({ "os-complete": null }))).await.0
            }
            Step::Detach { slot, nth, as_service } => self.detach(step, slot, nth, as_service).await,
            Step::ForceDetach { slot, nth } => {
                let Some(id) = self.attachment(slot, nth) else { return "no attachment".to_owned() };
                let (outcome, answer) = self.act(step, slot, Who::Admin, "os-force_detach", json!({ "attachment_id": id })).await;
                if answer.is_none_or(|a| a.status.is_server_error()) {
                    self.book.doubts().moves.insert(id);
                }
                outcome
            }
            Step::Extend { slot, by } => self.extend(step, slot, by).await,
            Step::Retype { slot, to, on_demand } => self.retype(step, slot, to, on_demand).await,
            Step::Migrate { slot, to, lock } => {
                let slot = self.at_rest(slot).await;
                let members = json!({ "host": BACKENDS[to], "force_host_copy": false, "lock_volume": lock });
                self.act(step, slot, Who::Admin, "os-migrate_volume", members).await.0
            }
            Step::Snapshot { slot, temper } => self.take_snapshot(step, slot, temper).await,
            Step::DropSnapshot { slot, nth } => self.drop_snapshot(step, slot, nth).await,
            Step::Revert { slot } => {
                let Some(latest) = self.book.slot(slot).snapshots.last().cloned() else { return "no snapshot".to_owned() };
                self.act(step, slot, Who::Member, "revert", json!({ "snapshot_id": latest })).await.0
            }
            Step::Delete { slot, cascade } => {
                let query = if cascade { "?cascade=true" } else { "" };
                self.delete(step, slot, Who::Member, |id| (Method::DELETE, format!("/volumes/{id}{query}"), None)).await
            }
            Step::ForceDelete { slot } => {
                let call = |id: &str| (Method::POST, format!("/volumes/{id}/action"), Some(json!({ "os-force_delete": {} })));
                self.delete(step, slot, Who::Admin, call).await
            }
            Step::Readonly { slot, on } => self.act(step, slot, Who::Member, "os-update_readonly_flag", json!({ "readonly": on })).await.0,
            Step::Tell { slot, status } => {
                let Some(id) = self.volume(slot) else { return "no volume".to_owned() };
                self.book.doubts().told.insert(id);
                self.act(step, slot, Who::Admin, "os-reset_status", json!({ "status": status })).await.0
            }
            Step::Older { slot, host, action } => self.older(step, slot, host, action).await.0,
            Step::OlderWay { slot, host, leave } => self.older_way(step, slot, host, leave).await,
            Step::Offer { slot } => self.offer(step, slot).await,
            Step::Take { slot, stranger } => self.take_over(step, slot, stranger).await,
            Step::Withdraw { slot } => self.withdraw(step, slot).await,
            Step::Look { slot } => self.look(step, slot).await,
            Step::Rest { slot } => self.rest(slot).await,
            Step::Disturb { array, verb, trouble, times } => {
                self.controls[array].fault(Fault::on(verb, trouble.action()).times(times)).await.unwrap();
                "done".to_owned()
            }
        }
    }

    fn volume(&self, slot: usize) -> Option<String> {
        self.book.slot(slot).volume.clone()
    }
    fn attachment(&self, slot: usize, nth: usize) -> Option<String> {
        pick(&self.book.slot(slot).attachments, nth)
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

    /// What a volume shows now.
    async fn shown(&mut self, id: &str) -> Option<Answer> {
        self.ask(Who::Member, Method::GET, &format!("/volumes/{id}"), None).await
    }

    fn forget_volume(&self, slot: usize, id: &str) {
        let mut held = self.book.slot(slot);
        if held.volume.as_deref() == Some(id) {
            *held = Default::default();
        }
    }

    /// A request about one thing on the volume of a slot; 404 means that it is gone.
    #[expect(clippy::too_many_arguments, reason = "a request has that many parts")]
    async fn about(
        &mut self,
        step: &Step,
        slot: usize,
        id: &str,
        who: Who,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (String, Option<Answer>) {
        let Some(answer) = self.request(step, who, method, path, body).await else { return (format!("{id} no answer"), None) };
        if answer.status == 404 {
            let mut held = self.book.slot(slot);
            held.attachments.retain(|a| a != id);
            held.snapshots.retain(|s| s != id);
        }
        (format!("{id} {}", brief(&answer)), Some(answer))
    }

    /// An action on the volume in the slot.
    async fn act(&mut self, step: &Step, slot: usize, who: Who, action: &str, members: Value) -> (String, Option<Answer>) {
        let Some(id) = self.volume(slot) else { return ("no volume".to_owned(), None) };
        let path = format!("/volumes/{id}/action");
        let Some(answer) = self.request(step, who, Method::POST, &path, Some(json!({ action: members }))).await else {
            return (format!("{id} no answer"), None);
        };
        if answer.status == 404 && self.shown(&id).await.is_some_and(|a| a.status == 404) {
            self.forget_volume(slot, &id);
        }
        (format!("{id} {}", brief(&answer)), Some(answer))
    }
}
