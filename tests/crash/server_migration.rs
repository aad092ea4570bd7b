//! A share server moves between two back ends that lie in one array, cut short: it ends on one of them, with all that is on it, and
//! array, addresses and service agree on where.

use serde_json::{Value, json};
use support::{
    Client, Persona,
    array::{Action, Fault},
    wait,
};

use crate::share_servers::World;

const COPIED: &str = "migration_driver_phase1_done";

struct Moving {
    world: World,
    share: String,
    server: String,
}

impl Moving {
    /// A share on a server of the first back end.
    async fn start() -> Self {
        let world = World::with(&["one", "two"]).await;
        let network = world.network().await;
        let share = world.create(&network).await;
        world.share(Persona::Member).share_until(&share, "available").await;
        let servers = world.servers().await;
        assert_eq!((servers.len(), &servers[0]["host"]), (1, &json!("stowage@one")));
        let server = servers[0]["id"].as_str().unwrap().to_owned();
        Self { world, share, server }
    }

    fn operator(&self) -> Client {
        self.world.share(Persona::Admin).with_header("X-OpenStack-Manila-API-Experimental", "True")
    }

    async fn ask(&self, verb: &str, inner: Value) -> Value {
        let status = if verb == "migration_complete" { 200 } else { 202 };
        self.operator().post(&format!("/share-servers/{}/action", self.server), json!({ verb: inner })).await.expect(status)
    }

    async fn begin(&self) {
        let inner = json!({ "host": "stowage@two", "writable": true, "nondisruptive": false, "preserve_snapshots": true });
        self.ask("migration_start", inner).await;
    }

    async fn until_task(&self, task: &str) {
        self.operator().until(&format!("/share-servers/{}", self.server), |a| a.body()["share_server"]["task_state"] == task).await;
    }

    async fn destination(&self) -> String {
        let path = format!("/share-servers?source_share_server_id={}", self.server);
        self.operator().get(&path).await.expect(200)["share_servers"][0]["id"].as_str().unwrap().to_owned()
    }

    /// The array's next write of this verb, or its answer, is held until the process is dead.
    async fn killed_in(&mut self, verb: &str, action: Action, doing: impl AsyncFnOnce(&Self)) {
        let writes = ["PUT", "DELETE"].map(|method| Fault { method: method.into(), ..Fault::on(verb, action.clone()) });
        for fault in writes {
            self.world.array.control.fault(fault).await.unwrap();
        }
        doing(self).await;
        self.world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
        self.world.array.control.clear_faults().await.unwrap();
        self.world.kill_and_restart().await;
        self.world.array.control.release().await.unwrap();
    }

    async fn has_moved(self, destination: &str) {
        let operator = self.operator();
        let path = format!("/share-servers/{destination}");
        operator.until(&path, |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        operator.until_gone(&format!("/share-servers/{}", self.server)).await;
        self.ends_on(destination, "stowage@two#pool1").await;
    }

    async fn ends_on(self, server: &str, host: &str) {
        let share = self.operator().get(&format!("/shares/{}", self.share)).await.expect(200)["share"].clone();
        assert_eq!((&share["status"], &share["host"], &share["share_server_id"]), (&json!("available"), &json!(host), &json!(server)));
        assert_eq!(self.world.servers().await.len(), 1);
        let held = self.world.array.control.objects().await.unwrap();
        assert_eq!(held["shares"].len(), 1, "{held:?}");
        let (id, object) = held["shares"].iter().next().unwrap();
        assert_eq!((&object.data["server"], host.rsplit('#').next()), (&json!(server), Some(object.pool.as_str())));
        assert_eq!((object.gib, object.data["content"].clone()), (1, json!(format!("empty {id}"))));
        assert!(held.get("copies").is_none_or(|copies| copies.is_empty()), "{held:?}");
        self.world.holds_true().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_the_destination_is_built_or_copied_to_ends_with_all_copied() {
    for verb in ["share-servers.setup", "share-server-migration.start"] {
        for action in [Action::HoldCall, Action::HoldAnswer] {
            let mut moving = Moving::start().await;
            moving.killed_in(verb, action, Moving::begin).await;
            moving.until_task(COPIED).await;
            let destination = moving.destination().await;
            moving.ask("migration_complete", Value::Null).await;
            moving.has_moved(&destination).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_the_last_step_or_after_it_ends_on_the_destination() {
    for verb in ["share-server-migration.complete", "share-servers.teardown"] {
        for action in [Action::HoldCall, Action::HoldAnswer] {
            let mut moving = Moving::start().await;
            moving.begin().await;
            moving.until_task(COPIED).await;
            let destination = moving.destination().await;
            moving.killed_in(verb, action, async |m: &Moving| drop(m.ask("migration_complete", Value::Null).await)).await;
            moving.has_moved(&destination).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_it_is_cancelled_ends_on_the_source() {
    for verb in ["share-server-migration.cancel", "share-servers.teardown"] {
        for action in [Action::HoldCall, Action::HoldAnswer] {
            let mut moving = Moving::start().await;
            moving.begin().await;
            moving.until_task(COPIED).await;
            moving.killed_in(verb, action, async |m: &Moving| drop(m.ask("migration_cancel", Value::Null).await)).await;
            moving.until_task("migration_cancelled").await;
            let server = moving.server.clone();
            moving.ends_on(&server, "stowage@one#pool0").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_waits_for_an_operator_does_so_in_the_next_process() {
    let mut moving = Moving::start().await;
    moving.begin().await;
    moving.until_task(COPIED).await;
    moving.world.kill_and_restart().await;
    moving.until_task(COPIED).await;
    let destination = moving.destination().await;
    moving.ask("migration_complete", Value::Null).await;
    moving.has_moved(&destination).await;
}
