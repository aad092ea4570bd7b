//! The checks can fail: one falsehood of each kind, forged behind the service's back, is found and named.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use support::{Persona, db::is_wanted, wait};

use super::{
    book::Book,
    plan::Plan,
    truth::{violations, violations_after},
    world::{World, connection, connector, initiator},
};
use crate::{forger::Forger, half::On, quiet::quiet};

/// A world with one attached volume, one snapshot of it, and one volume at rest.
struct Stage {
    world: World,
    book: Arc<Book>,
    attached: String,
    snapshot: String,
    resting: String,
    /// Of the array that `attached` is on.
    array: usize,
    forger: Forger,
}

impl Stage {
    async fn set() -> Self {
        let world = World::start(On::Sqlite, 1).await;
        let member = world.client(Persona::Member);
        let mut made = Vec::new();
        for _ in 0..2 {
            let body = json!({ "volume": { "size": 1, "name": "even" } });
            let id = member.post("/volumes", body).await.expect(202)["volume"]["id"].as_str().unwrap().to_owned();
            member.volume_until(&id, "available").await;
            made.push(id);
        }
        let (resting, attached) = (made.remove(0), made.remove(0));
        let body = json!({ "snapshot": { "volume_id": attached } });
        let snapshot = member.post("/snapshots", body).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned();
        member.until(&format!("/snapshots/{snapshot}"), |a| a.body()["snapshot"]["status"] == "available").await;
        member.post("/attachments", json!({ "attachment": { "volume_uuid": attached, "connector": connector(0) } })).await.expect(200);
        let shown = world.admin().get(&format!("/volumes/{attached}")).await.expect(200);
        let array = usize::from(shown["volume"]["os-vol-host-attr:host"] == "stowage@b#p");
        let forger = Forger::on(world.arrays[array].url()).await;
        let book = Arc::new(Book::new(Plan::of(0, 1)));
        Self { world, book, attached, snapshot, resting, array, forger }
    }

    async fn is_true(&self) {
        assert_eq!(quiet(&self.world.arrays, &self.world.database).await, Vec::<String>::new());
        assert_eq!(violations(&self.world, &self.book).await, Vec::<String>::new());
    }

    /// The rule is named, and the one thing.
    async fn finds(&self, rule: &str, what: &str) {
        let found = violations_after(&self.world, &self.book, Duration::from_millis(100)).await;
        assert!(found.iter().any(|v| v.starts_with(&format!("[{rule}]")) && v.contains(what)), "not found: {rule} {what}: {found:#?}");
    }

    /// Forges with SQL, looks, and takes it back.
    async fn forged(&self, rule: &str, what: &str, forge: &str, undo: &str) {
        assert!(self.world.database.execute(forge.to_owned()).await > 0, "{forge}");
        self.finds(rule, what).await;
        assert!(self.world.database.execute(undo.to_owned()).await > 0, "{undo}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_falsehood_is_found_and_named() {
    if !is_wanted(On::Sqlite.name()) {
        return;
    }
    let stage = Stage::set().await;
    stage.is_true().await;
    let Stage { world, attached, snapshot, resting, forger, array, .. } = &stage;
    let held = world.arrays[*array].control.objects().await.unwrap();
    let object = |kind: &str, id: &str| json!(held[kind][id]);

    // the arrays
    let export = connection(attached, &initiator(0));
    let nobody = connection(attached, &initiator(7));
    let nobodys = uuid::Uuid::new_v4().to_string();
    forger.put("volumes", &nobodys, &object("volumes", attached)).await;
    stage.finds("orphan-object", &nobodys).await;
    forger.delete("volumes", &nobodys).await;
    forger.put("connections", &nobody, &object("connections", &export)).await;
    stage.finds("export-without-attachment", attached).await;
    forger.delete("connections", &nobody).await;
    let mut protected = object("connections", &export);
    protected["data"]["read_only"] = json!(true);
    forger.delete("connections", &export).await;
    forger.put("connections", &export, &protected).await;
    stage.finds("wrong-mode", attached).await;
    forger.delete("connections", &export).await;
    forger.put("connections", &export, &object("connections", &export)).await;
    for (kind, id, rule, what) in [
        ("volumes", attached.clone(), "lost-object", attached),
        ("snapshots", format!("{attached}.{snapshot}"), "lost-object", snapshot),
        ("connections", export.clone(), "attachment-without-export", attached),
    ] {
        forger.delete(kind, &id).await;
        stage.finds(rule, what).await;
        forger.put(kind, &id, &object(kind, &id)).await;
    }

    // the rows
    let volume = |set: &str, id: &str| format!("UPDATE volumes SET {set} WHERE id = '{id}'");
    let attachment = |set: &str| format!("UPDATE attachments SET {set} WHERE volume_id = '{attached}'");
    for (rule, what, forge, undo) in [
        ("in-motion", resting, volume("status = 'deleting'", resting), volume("status = 'available'", resting)),
        ("in-motion", resting, volume("extend_to = 9", resting), volume("extend_to = NULL", resting)),
        ("in-motion", attached, attachment("work = 'connect'"), attachment("work = NULL")),
        ("odd-transfer", resting, volume("status = 'awaiting-transfer'", resting), volume("status = 'available'", resting)),
        ("wrong-status", resting, volume("status = 'in-use'", resting), volume("status = 'available'", resting)),
        ("wrong-status", attached, volume("attach_status = 'detached'", attached), volume("attach_status = 'attaching'", attached)),
        ("no-reason", resting, volume("status = 'error'", resting), volume("status = 'available'", resting)),
        ("wrong-size", resting, volume("size_gib = 2", resting), volume("size_gib = 1", resting)),
        ("wrong-type", resting, volume("multiattach = TRUE", resting), volume("multiattach = FALSE", resting)),
        ("odd-attachment", attached, attachment("status = 'reserved'"), attachment("status = 'attaching'")),
        (
            "no-volume",
            &nobodys,
            attachment(&format!("volume_id = '{nobodys}'")),
            format!("UPDATE attachments SET volume_id = '{attached}'"),
        ),
    ] {
        stage.forged(rule, what, &forge, &undo).await;
    }

    // the figures
    let figure = |change: &str| format!("UPDATE quota_usage SET used = used {change} WHERE resource = 'gigabytes'");
    stage.forged("wrong-usage", "gigabytes", &figure("+ 1"), &figure("- 1")).await;
    let pool = |change: &str| format!("UPDATE pools SET allocated_gib = allocated_gib {change}");
    stage.forged("wrong-pool", "stowage@a", &pool("+ 1"), &pool("- 1")).await;
    let place = |change: &str| format!("UPDATE pool_allocations SET gib = gib {change} WHERE resource_id = '{resting}'");
    stage.forged("wrong-place", resting, &place("+ 1"), &place("- 1")).await;
    let claim = format!(
        "INSERT INTO capacity_claims (id, resource_id, pool, capacity_key, operation, gib, freed, created_at) \
         VALUES ('forged', '{resting}', 'stowage@a#p', 'stowage@a#p', 'create', 0, FALSE, 0)"
    );
    stage.forged("claim-left", resting, &claim, "DELETE FROM capacity_claims WHERE id = 'forged'").await;
    let event = format!(
        "INSERT INTO outbox (id, event_type, resource_kind, resource_id, project_id, user_id, request_id, payload, created_at, attempts, next_at) \
         VALUES ('forged', 'volume.forged', 'volume', '{resting}', '', '', '', '{{}}', 0, 0, 9000000000000000)"
    );
    stage.forged("event-left", resting, &event, "DELETE FROM outbox WHERE id = 'forged'").await;

    // nothing of it is left
    wait::until("everything to be true again", || async {
        violations_after(world, &stage.book, Duration::ZERO).await.is_empty().then_some(())
    })
    .await;
}
