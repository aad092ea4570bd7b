//! One client that takes its steps.

mod attachments;
mod older;
mod snapshots;
mod transfers;
mod volumes;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::Method;
use serde_json::{Value, json};
use support::{
    Answer, Client, Persona,
    array::{Action, Control, Fault},
};

use crate::{
    book::Book,
    plan::{Step, Trouble},
    verdict,
    world::{BACKENDS, World, connector},
};

/// Longer after an accepted delete, the driver's `busy` may have given the resource back.
const FRESH: Duration = Duration::from_secs(1);
/// No service answers for so long at most, in the tests that kill them.
const DOWN: Duration = Duration::from_secs(60);

/// Plays the whole plan; ends when every client has.
pub async fn play(world: &World, book: &Arc<Book>) {
    let players: Vec<_> = (0..book.plan.clients.len()).map(|number| tokio::spawn(Player::new(world, book, number).play())).collect();
    for player in players {
        player.await.unwrap();
    }
}

/// Starts playing, for tests that disturb the services meanwhile.
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
    /// Every service, for each of [`Who`].
    doors: [Vec<Client>; 4],
    /// The one that is asked.
    door: usize,
    controls: [Control; 2],
    book: Arc<Book>,
    /// A service was gone at some time.
    restarted: bool,
}

impl Player {
    fn new(world: &World, book: &Arc<Book>, number: usize) -> Self {
        Self {
            number,
            doors: [Persona::Member, Persona::Admin, Persona::Service, Persona::Stranger].map(|p| world.clients(p)),
            door: number % world.services.len(),
            controls: [0, 1].map(|n: usize| world.arrays[n].control.clone()),
            book: Arc::clone(book),
            restarted: world.recounted,
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
                let action = match trouble {
                    Trouble::LostAnswer => Action::DropAnswer,
                    Trouble::LostCall => Action::DropCall,
                    Trouble::Refuses(status) => Action::Refuse(status),
                    Trouble::Slow(milliseconds) => Action::Delay { milliseconds },
                };
                self.controls[array].fault(Fault::on(verb, action).times(times)).await.unwrap();
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

    /// Asks one service; when it is gone, says so and goes on to one that answers. None: what was asked may have been done.
    async fn ask(&mut self, who: Who, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let client = self.doors[who as usize][self.door].clone();
        let gone = match client.try_send(method, path, body).await {
            Ok(answer) => return Some(answer),
            Err(gone) => gone,
        };
        if !self.book.is_disturbed() {
            self.book.breaks(format!("[no-answer] {gone:?}"));
        }
        self.restarted = true;
        let began = Instant::now();
        loop {
            self.door = (self.door + 1) % self.doors[0].len();
            let client = self.doors[Who::Member as usize][self.door].rooted_at("");
            if client.try_send(Method::GET, "/healthcheck", None).await.is_ok() {
                return None;
            }
            assert!(began.elapsed() < DOWN, "no service answers: {gone:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// A request of the plan: counted, and its answer judged.
    async fn request(&mut self, step: &Step, who: Who, method: Method, path: &str, body: Option<Value>) -> Option<Answer> {
        let answer = self.ask(who, method, path, body).await;
        self.book.count(answer.as_ref().is_some_and(|a| a.status.is_success()));
        if let Some(objection) = answer.as_ref().and_then(|a| verdict::objection(step, a, self.restarted)) {
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

/// Between two steps: nobody is as fast as that, and what was begun gets on.
fn breath(client: usize, step: usize) -> Duration {
    Duration::from_millis((client * 7 + step * 13) as u64 % 16)
}

fn pick(from: &[String], nth: usize) -> Option<String> {
    if from.is_empty() { None } else { Some(from[nth % from.len()].clone()) }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Status and sentence.
fn brief(answer: &Answer) -> String {
    if answer.status.is_success() {
        return answer.status.as_u16().to_string();
    }
    let said: String = answer.text.chars().take(220).collect();
    format!("{} {said}", answer.status.as_u16())
}
