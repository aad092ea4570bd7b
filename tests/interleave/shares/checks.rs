//! The checks can fail: one falsehood of each kind, forged behind the service's back, is found and named.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use support::{db::is_wanted, wait};

use super::{
    book::Book,
    plan::{Kind, Plan},
    truth::{violations, violations_after},
    world::{World, named},
};
use crate::{forger::Forger, half::On, player::text, quiet::quiet};

/// A world with one share on a server, with a rule and a snapshot that has one, too; and one share without a server.
struct Stage {
    world: World,
    book: Arc<Book>,
    served: String,
    /// Of `served`.
    instance: String,
    plain: String,
    rule: String,
    snapshot: String,
    /// Of `snapshot`.
    snapshot_instance: String,
    server: String,
    network: String,
    /// Of the array that `served` is on.
    array: usize,
    forger: Forger,
}

impl Stage {
    async fn set() -> Self {
        let world = World::start(On::Sqlite, 1).await;
        let (member, admin) = (world.member(), world.admin());
        let network = member.post("/share-networks", json!({ "share_network": named("blue") })).await.expect(200);
        let network = text(&network["share_network"]["id"]);
        let mut made = Vec::new();
        for (kind, of) in [(Kind::Plain, Value::Null), (Kind::Served, json!(network))] {
            let share = json!({
                "share_proto": "NFS", "size": 1, "name": "even", "share_type": kind.type_name(), "share_network_id": of,
            });
            let id = text(&member.post("/shares", json!({ "share": share })).await.expect(200)["share"]["id"]);
            member.share_until(&id, "available").await;
            made.push(id);
        }
        let (served, plain) = (made.remove(1), made.remove(0));
        let allow = json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.1" } });
        let rule = text(&member.post(&format!("/shares/{served}/action"), allow.clone()).await.expect(200)["access"]["id"]);
        member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
        let snapshot = member.post("/snapshots", json!({ "snapshot": { "share_id": served } })).await.expect(202);
        let snapshot = text(&snapshot["snapshot"]["id"]);
        member.until(&format!("/snapshots/{snapshot}"), |a| a.body()["snapshot"]["status"] == "available").await;
        member.post(&format!("/snapshots/{snapshot}/action"), allow).await.expect(202);
        let instance = admin.get(&format!("/shares/{served}/instances")).await.expect(200)["share_instances"][0].clone();
        let list = admin.get(&format!("/snapshot-instances?snapshot_id={snapshot}")).await.expect(200);
        let array = if text(&instance["host"]).starts_with("stowage@s") { 1 } else { 2 };
        Self {
            instance: text(&instance["id"]),
            server: text(&instance["share_server_id"]),
            snapshot_instance: text(&list["snapshot_instances"][0]["id"]),
            forger: Forger::on(world.arrays[array].url()).await,
            book: Arc::new(Book::new(Plan::of(0, 1))),
            world,
            served,
            plain,
            rule,
            snapshot,
            network,
            array,
        }
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
    let Stage { world, served, instance, plain, rule, snapshot, snapshot_instance, server, network, forger, array, .. } = &stage;
    let held = world.arrays[*array].control.objects().await.unwrap();
    let object = |kind: &str, id: &str| json!(held[kind][id]);

    // the arrays: what nobody knows, what is lost, what is another
    let nobodys = uuid::Uuid::new_v4().to_string();
    for (kind, of) in [("shares", instance), ("servers", server), ("rules", instance)] {
        forger.put(kind, &nobodys, &object(kind, of)).await;
        stage.finds("orphan-object", &nobodys).await;
        forger.delete(kind, &nobodys).await;
    }
    let (of_share, of_snapshot) = (format!("{instance}.{snapshot_instance}"), format!("{instance}.{nobodys}"));
    forger.put("share-snapshots", &of_snapshot, &object("share-snapshots", &of_share)).await;
    stage.finds("orphan-object", &nobodys).await;
    forger.delete("share-snapshots", &of_snapshot).await;
    for (kind, id, broken, what) in [
        ("shares", instance, "lost-object", served),
        ("share-snapshots", &of_share, "lost-object", snapshot),
        ("servers", server, "lost-object", server),
        ("rules", instance, "rule-not-held", rule),
        ("rules", snapshot_instance, "rule-not-held", snapshot),
    ] {
        forger.delete(kind, id).await;
        stage.finds(broken, what).await;
        forger.put(kind, id, &object(kind, id)).await;
    }
    for (kind, id, pointer, value, broken, what) in [
        ("shares", instance, "/gib", json!(2), "wrong-size", served),
        ("shares", instance, "/data/server", json!(nobodys), "wrong-server", served),
        ("rules", instance, "/data/0/read_only", json!(true), "wrong-rule", rule),
        ("rules", instance, "/data/0/to", json!("10.9.9.9"), "wrong-rule", rule),
        ("rules", instance, "/data/0/id", json!(nobodys), "rule-without-row", &nobodys),
        ("servers", server, "/data/subnets/0/1/0", json!("10.1.0.200"), "wrong-addresses", server),
        ("servers", server, "/data/subnets/0/1/0", json!("10.1.0.200"), "wrong-locations", served),
        ("servers", server, "/data/admin", json!([]), "wrong-addresses", server),
    ] {
        let mut other = object(kind, id);
        *other.pointer_mut(pointer).unwrap() = value;
        forger.delete(kind, id).await;
        forger.put(kind, id, &other).await;
        stage.finds(broken, what).await;
        forger.delete(kind, id).await;
        forger.put(kind, id, &object(kind, id)).await;
    }

    // the rows
    let set = |table: &str, id: &str, set: &str| format!("UPDATE {table} SET {set} WHERE id = '{id}'");
    let now = "idle_since = 1";
    for (broken, what, table, id, forge, undo) in [
        ("in-motion", plain, "shares", plain, "status = 'extending'", "status = 'available'"),
        ("in-motion", plain, "shares", plain, "resize_to = 7", "resize_to = NULL"),
        ("wrong-status", plain, "shares", plain, "status = 'error'", "status = 'available'"),
        ("no-reason", plain, "shares", plain, "status = 'error'", "status = 'available'"),
        ("in-motion", snapshot, "share_snapshots", snapshot, "status = 'deleting'", "status = 'available'"),
        ("in-motion", rule, "share_access_rules", rule, "state = 'denying'", "state = 'active'"),
        ("wrong-status", served, "share_access_rules", rule, "state = 'error'", "state = 'active'"),
        ("wrong-rule", rule, "share_access_rules", rule, "access_level = 'ro'", "access_level = 'rw'"),
        ("in-motion", server, "share_servers", server, "status = 'network_change'", "status = 'active'"),
        (
            "wrong-list",
            server,
            "share_servers",
            server,
            &format!("share_network_id = '{nobodys}'"),
            &format!("share_network_id = '{network}'"),
        ),
        ("wrong-idle", server, "share_servers", server, now, "idle_since = NULL"),
        ("in-motion", network, "share_networks", network, "status = 'network_change'", "status = 'active'"),
        ("wrong-usage", &"share_networks".to_owned(), "share_networks", network, "deleting = TRUE", "deleting = FALSE"),
        ("wrong-size", served, "shares", served, "size_gib = 2", "size_gib = 1"),
        ("wrong-server", served, "share_instances", instance, "share_server_id = NULL", &format!("share_server_id = '{server}'")),
        ("orphan-object", snapshot, "share_snapshot_instances", snapshot_instance, "backed = FALSE", "backed = TRUE"),
    ] {
        stage.forged(broken, what, &set(table, id, forge), &set(table, id, undo)).await;
    }
    // a server that was never built has nothing
    let never = |what: &str| format!("UPDATE share_servers SET {what} WHERE id = '{server}'");
    for (broken, what) in [("address-left", server), ("orphan-object", server)] {
        let (forge, undo) = (never("status = 'error', failed_detail = '002'"), never("status = 'active', failed_detail = NULL"));
        stage.forged(broken, what, &forge, &undo).await;
    }
    let subnet = |applied: &str| format!("UPDATE share_server_subnets SET applied = {applied}");
    stage.forged("in-motion", server, &subnet("FALSE"), &subnet("TRUE")).await;
    let path = |path: &str| format!("UPDATE share_export_locations SET path = {path} WHERE share_instance_id = '{instance}'");
    stage.forged("wrong-locations", served, &path("'x' || path"), &path("substr(path, 2)")).await;
    let preferred =
        |yes: &str| format!("UPDATE share_export_locations SET preferred = {yes} WHERE share_instance_id = '{instance}' AND position = 0");
    stage.forged("wrong-locations", served, &preferred("FALSE"), &preferred("TRUE")).await;
    let path = |path: &str| format!("UPDATE snapshot_export_locations SET path = {path}");
    stage.forged("wrong-locations", snapshot, &path("'x' || path"), &path("substr(path, 2)")).await;

    // the addresses
    let free = |change: &str| {
        format!("UPDATE network_free SET last_position = last_position {change} WHERE network_key = 'blue' AND last_position > 200")
    };
    stage.forged("lost-address", "blue", &free("- 1"), &free("+ 1")).await;
    let given = |server: &str| format!("UPDATE network_allocations SET share_server_id = '{server}' WHERE subnet_id IS NULL");
    stage.forged("address-left", &nobodys, &given(&nobodys), &given(server)).await;

    // what is held up
    for (broken, what, forge, undo) in [
        (
            "in-motion",
            plain.as_str(),
            format!("INSERT INTO job_holds (order_key, holder) VALUES ('{plain}', 'forged')"),
            "DELETE FROM job_holds WHERE holder = 'forged'".to_owned(),
        ),
        (
            "no-share",
            nobodys.as_str(),
            format!("UPDATE share_access_rules SET share_id = '{nobodys}' WHERE id = '{rule}'"),
            format!("UPDATE share_access_rules SET share_id = '{served}' WHERE id = '{rule}'"),
        ),
    ] {
        stage.forged(broken, what, &forge, &undo).await;
    }

    // the figures, and what users read of them
    let figure = |change: &str| format!("UPDATE quota_usage SET used = used {change} WHERE resource = 'share:share_networks'");
    stage.forged("wrong-usage", "share_networks", &figure("+ 1"), &figure("- 1")).await;
    let pool = |change: &str| format!("UPDATE pools SET allocated_gib = allocated_gib {change}");
    stage.forged("wrong-pool", "stowage@a", &pool("+ 1"), &pool("- 1")).await;
    let place = |change: &str| format!("UPDATE pool_allocations SET gib = gib {change} WHERE resource_id = '{plain}'");
    stage.forged("wrong-place", plain, &place("+ 1"), &place("- 1")).await;

    // nothing of it is left
    wait::until("everything to be true again", || async {
        violations_after(world, &stage.book, Duration::ZERO).await.is_empty().then_some(())
    })
    .await;
}
