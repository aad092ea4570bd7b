//! Requests that meet in the database, on PostgreSQL, where transactions run side by side: what one decided with stays true
//! until it has committed.

use std::future::Future;
use stowage::store::sql::types::TypeOf;

use serde_json::json;
use sqlx::{Connection, PgConnection};
use stowage::{
    clock,
    domain::volume::ATTACH_FROM,
    driver::capability::SharedTargets,
    service::{transfer, volume::follow},
    store::{
        Tx,
        sql::{attachments::NewAttachment, quota_count::is_counted, volumes::NewVolume},
    },
};
use support::{Answer, Client, Persona, db, postgres};
use tokio::task::JoinHandle;

use crate::{
    site::{Site, create, uuid},
    snapshots::snapshot,
    volume_actions::act,
};

/// A site on PostgreSQL and its database.
async fn site() -> Option<(Site, postgres::Database)> {
    if !db::is_wanted("postgres") {
        return None;
    }
    let database = postgres::database().await;
    let site = Site::start_with(|c| c.database.url = database.url.clone()).await;
    Some((site, database))
}

/// Starts `request` and returns when it waits for what the caller's open transaction holds (or has ended without waiting).
async fn meets<T: Send + 'static>(database: &postgres::Database, request: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let mut watch = PgConnection::connect(&database.url).await.unwrap();
    let running = tokio::spawn(request);
    loop {
        let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let (waiting,): (i64,) = sqlx::query_as(sql).fetch_one(&mut watch).await.unwrap();
        if waiting > 0 || running.is_finished() {
            return running;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// What an attachment's create does, not yet committed.
async fn attaching(site: &Site, volume: &str) -> Tx {
    let mut tx = site.app().store.begin().await.unwrap();
    let row = tx.volume_locked(volume).await.unwrap().unwrap();
    assert!(tx.volume_reserve(volume, ATTACH_FROM, false, clock::now()).await.unwrap());
    let new = NewAttachment {
        id: uuid(),
        volume_id: row.id,
        project_id: row.project_id,
        instance_id: None,
        mode: "rw",
        created_at: clock::now(),
    };
    tx.attachment_insert(&new).await.unwrap();
    tx.volume_follow_attachments(volume, clock::now()).await.unwrap();
    tx
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forced_delete_that_meets_an_attach_finds_the_attachment() {
    let Some((site, database)) = site().await else { return };
    let operator = site.operator().await.at("3.23");
    let id = site.volume().await;
    let tx = attaching(&site, &id).await;
    let path = format!("/volumes/{id}?force=true");
    let delete = meets(&database, async move { operator.delete(&path).await }).await;
    tx.commit().await.unwrap();
    assert!(delete.await.unwrap().fault(400).contains("reserved for an attachment"));
    assert_eq!(site.status(&id).await.0, "reserved");
    assert_eq!(site.array.volumes(), [id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_that_is_created_while_its_type_is_renamed_counts_under_the_new_name() {
    let Some((site, database)) = site().await else { return };
    let (member, operator) = (site.member().await, site.operator().await);
    let made = operator.post("/types", json!({ "volume_type": { "name": "old" } })).await.expect(200);
    let type_id = made["volume_type"]["id"].as_str().unwrap().to_owned();
    create(&member, json!({ "volume_type": "old" })).await;
    let tx = renaming(&site, &type_id, "old", "new").await;
    let other = member.clone();
    let creating = meets(&database, async move { create(&other, json!({ "volume_type": "old" })).await }).await;
    tx.commit().await.unwrap();
    member.volume_until(&creating.await.unwrap(), "available").await;
    no_drift(&site).await;
    assert_eq!(site.used(&member, "volumes_new").await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_that_is_deleted_while_its_type_is_renamed_is_counted_out_under_the_new_name() {
    let Some((site, database)) = site().await else { return };
    let (member, operator) = (site.member().await, site.operator().await);
    let made = operator.post("/types", json!({ "volume_type": { "name": "old" } })).await.expect(200);
    let type_id = made["volume_type"]["id"].as_str().unwrap().to_owned();
    let id = create(&member, json!({ "volume_type": "old" })).await;
    member.volume_until(&id, "available").await;
    site.array.hold("delete");
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    site.until("the driver to be called", || async { site.array.count("delete") == 1 }).await;
    let tx = renaming(&site, &type_id, "old", "new").await;
    let (array, member2, path) = (site.array.clone(), member.clone(), format!("/volumes/{id}"));
    let gone = meets(&database, async move {
        array.release("delete");
        member2.until_gone(&path).await;
    })
    .await;
    tx.commit().await.unwrap();
    gone.await.unwrap();
    no_drift(&site).await;
    assert_eq!(site.used(&member, "volumes_new").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_type_that_is_removed_while_a_volume_of_it_is_created_is_still_in_use() {
    let Some((site, database)) = site().await else { return };
    let (member, operator) = (site.member().await, site.operator().await);
    let made = operator.post("/types", json!({ "volume_type": { "name": "t" } })).await.expect(200);
    let type_id = made["volume_type"]["id"].as_str().unwrap().to_owned();
    let first = create(&member, json!({ "volume_type": "t" })).await;
    member.volume_until(&first, "available").await;
    let row = site.app().store.volume(&first).await.unwrap().unwrap();
    member.delete(&format!("/volumes/{first}")).await.expect(202);
    member.until_gone(&format!("/volumes/{first}")).await;
    // a create, not yet committed
    let mut tx = site.app().store.begin().await.unwrap();
    tx.type_name_kept(TypeOf::Volume, &type_id).await.unwrap().unwrap();
    let new = NewVolume {
        id: uuid(),
        project_id: row.project_id,
        user_id: row.user_id,
        name: None,
        description: None,
        size_gib: 1,
        volume_type_id: type_id.clone(),
        availability_zone: row.availability_zone,
        multiattach: false,
        bootable: false,
        snapshot_id: None,
        source_volid: None,
        created_at: clock::now(),
    };
    tx.volume_insert(&new).await.unwrap();
    let path = format!("/types/{type_id}");
    let delete = meets(&database, async move { operator.delete(&path).await }).await;
    tx.commit().await.unwrap();
    assert!(delete.await.unwrap().fault(400).contains("still in use"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn volumes_that_follow_their_back_end_while_it_becomes_safer_do_not_go_back() {
    let Some((site, database)) = site().await else { return };
    let id = site.volume().await;
    says_targets_are_its_own(&site).await;
    let tx = becoming_shared(&site).await;
    let app = site.app().clone();
    let following = meets(&database, async move { follow::follow(&app, "stowage@a").await }).await;
    tx.commit().await.unwrap();
    following.await.unwrap().unwrap();
    assert_eq!(site.app().store.volume(&id).await.unwrap().unwrap().shared_targets, Some(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_that_becomes_available_while_its_back_end_becomes_safer_carries_the_safer_value() {
    let Some((site, database)) = site().await else { return };
    let member = site.member().await;
    says_targets_are_its_own(&site).await;
    site.array.hold("create");
    let id = create(&member, json!({})).await;
    site.until("the driver to be called", || async { site.array.count("create") == 1 }).await;
    let tx = becoming_shared(&site).await;
    let (array, other, volume) = (site.array.clone(), member.clone(), id.clone());
    let made = meets(&database, async move {
        array.release("create");
        other.volume_until(&volume, "available").await
    })
    .await;
    tx.commit().await.unwrap();
    made.await.unwrap();
    assert_eq!(site.app().store.volume(&id).await.unwrap().unwrap().shared_targets, Some(true));
}

/// The back end's row says that targets are not shared; volumes made before still say they are.
async fn says_targets_are_its_own(site: &Site) {
    site.array.report(|r| r.features.shared_targets = SharedTargets::No);
    site.serve("stowage@a", &site.array).await;
}

/// A new driver is about to be swapped in and shares targets; not yet committed.
async fn becoming_shared(site: &Site) -> Tx {
    let mut tx = site.app().store.begin().await.unwrap();
    tx.shared_targets_at_least("stowage@a", Some(true)).await.unwrap();
    tx
}

/// A rename of a type, not yet committed.
async fn renaming(site: &Site, type_id: &str, old: &str, new: &str) -> Tx {
    let mut tx = site.app().store.begin().await.unwrap();
    assert_eq!(tx.type_locked(TypeOf::Volume, type_id).await.unwrap().as_deref(), Some(old));
    assert!(tx.type_update(TypeOf::Volume, type_id, Some(new), None, None, clock::now()).await.unwrap());
    for resource in ["volumes", "gigabytes"] {
        tx.quota_rename(&format!("{resource}_{old}"), &format!("{resource}_{new}")).await.unwrap();
    }
    tx
}

async fn no_drift(site: &Site) {
    let mut tx = site.app().store.begin().await.unwrap();
    tx.lock_quota().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    let found = tx.quota_check(&counted, is_counted, false).await.unwrap();
    assert!(found.is_empty(), "the figures drifted: {found:?}");
}

/// What whoever takes an offered volume does, not yet committed.
async fn accepting(site: &Site, volume: &str, to: &Client) -> Tx {
    let mut tx = site.app().store.begin().await.unwrap();
    tx.volume_locked(volume).await.unwrap().unwrap();
    let offer = tx.transfer_of(volume).await.unwrap().unwrap();
    assert!(tx.volume_give(volume, &to.project_id, &to.user_id, clock::now()).await.unwrap());
    tx.snapshots_give(volume, &offer.project_id, &to.project_id, &to.user_id, clock::now()).await.unwrap();
    assert!(transfer::forget(&mut tx, &offer, "req-accept").await.unwrap());
    tx
}

/// What an owner may do with a volume, its snapshot or its offer.
async fn as_owner(client: &Client, what: &str, volume: &str, snapshot: &str, offer: &str) -> Answer {
    match what {
        "delete" => client.delete(&format!("/volumes/{volume}?cascade=true")).await,
        "update" => client.put(&format!("/volumes/{volume}"), json!({ "volume": { "name": "mine" } })).await,
        "metadata" => client.post(&format!("/volumes/{volume}/metadata"), json!({ "metadata": { "k": "mine" } })).await,
        "os-extend" => act(client, volume, what, json!({ "new_size": 2 })).await,
        "os-retype" => act(client, volume, what, json!({ "new_type": "gold" })).await,
        "os-set_bootable" => act(client, volume, what, json!({ "bootable": true })).await,
        "os-update_readonly_flag" => act(client, volume, what, json!({ "readonly": true })).await,
        "os-reserve" => act(client, volume, what, json!({})).await,
        "revert" => act(&client.at("3.40"), volume, what, json!({ "snapshot_id": snapshot })).await,
        "attach" => client.at("3.44").post("/attachments", json!({ "attachment": { "volume_uuid": volume } })).await,
        "offer" => client.post("/volume-transfers", json!({ "transfer": { "volume_id": volume } })).await,
        "snapshot" => client.post("/snapshots", json!({ "snapshot": { "volume_id": volume } })).await,
        "copy" => client.post("/volumes", json!({ "volume": { "size": 1, "source_volid": volume } })).await,
        "copy of the snapshot" => client.post("/volumes", json!({ "volume": { "size": 1, "snapshot_id": snapshot } })).await,
        "update of the snapshot" => client.put(&format!("/snapshots/{snapshot}"), json!({ "snapshot": { "name": "mine" } })).await,
        "metadata of the snapshot" => client.post(&format!("/snapshots/{snapshot}/metadata"), json!({ "metadata": { "k": "mine" } })).await,
        "delete of the snapshot" => client.delete(&format!("/snapshots/{snapshot}")).await,
        "withdraw" => client.delete(&format!("/volume-transfers/{offer}")).await,
        other => panic!("{other}"),
    }
}

const OWNERS: [&str; 18] = [
    "delete",
    "update",
    "metadata",
    "os-extend",
    "os-retype",
    "os-set_bootable",
    "os-update_readonly_flag",
    "os-reserve",
    "revert",
    "attach",
    "offer",
    "snapshot",
    "copy",
    "copy of the snapshot",
    "update of the snapshot",
    "metadata of the snapshot",
    "delete of the snapshot",
    "withdraw",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_gave_a_volume_away_finds_it_no_more_whatever_was_being_asked_meanwhile() {
    let Some((site, database)) = site().await else { return };
    let (member, stranger) = (site.member().await, site.block(Persona::Stranger).await);
    let operator = site.operator().await;
    operator.post("/types", json!({ "volume_type": { "name": "gold" } })).await.expect(200);
    for owner in [&member, &stranger] {
        let room = json!({ "quota_set": { "volumes": -1, "snapshots": -1 } });
        operator.put(&format!("/os-quota-sets/{}", owner.project_id), room).await.expect(200);
    }
    for what in OWNERS {
        let volume = site.volume().await;
        let snapshot = snapshot(&member, &volume).await;
        let body = json!({ "transfer": { "volume_id": volume } });
        let made = member.at("3.55").post("/volume-transfers", body).await.expect(202);
        let offer = made["transfer"]["id"].as_str().unwrap().to_owned();
        let tx = accepting(&site, &volume, &stranger).await;
        let (old, ids) = (member.clone(), (volume.clone(), snapshot.clone(), offer.clone()));
        let asked = meets(&database, async move { as_owner(&old, what, &ids.0, &ids.1, &ids.2).await }).await;
        tx.commit().await.unwrap();
        let answer = asked.await.unwrap();
        assert_eq!(answer.status, 404, "{what}: {answer:?}");
        let row = site.app().store.volume(&volume).await.unwrap().unwrap();
        assert_eq!((row.project_id.as_str(), row.status.as_str()), (stranger.project_id.as_str(), "available"), "{what}");
        let row = site.app().store.snapshot(&snapshot).await.unwrap().unwrap();
        assert_eq!((row.project_id.as_str(), row.status.as_str()), (stranger.project_id.as_str(), "available"), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pairs_that_are_written_while_their_qos_specs_are_deleted_find_them_gone() {
    let Some((site, database)) = site().await else { return };
    let operator = site.operator().await;
    for what in ["update", "delete_keys", "associate"] {
        let made = operator.post("/qos-specs", json!({ "qos_specs": { "name": format!("q-{what}"), "iops": "1" } })).await.expect(200);
        let id = made["qos_specs"]["id"].as_str().unwrap().to_owned();
        let name = format!("t-{what}");
        let made = operator.post("/types", json!({ "volume_type": { "name": name } })).await.expect(200);
        let type_id = made["volume_type"]["id"].as_str().unwrap().to_owned();
        let mut tx = site.app().store.begin().await.unwrap();
        assert!(tx.qos_specs_remove(&id).await.unwrap());
        let (other, path) = (operator.clone(), format!("/qos-specs/{id}"));
        let asked = meets(&database, async move {
            match what {
                "update" => other.put(&path, json!({ "qos_specs": { "burst": "2" } })).await,
                "delete_keys" => other.put(&format!("{path}/delete_keys"), json!({ "keys": ["iops"] })).await,
                _ => other.get(&format!("{path}/associate?vol_type_id={type_id}")).await,
            }
        })
        .await;
        tx.commit().await.unwrap();
        let answer = asked.await.unwrap();
        assert_eq!(answer.status, 404, "{what}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_updates_of_qos_specs_that_meet_do_not_exceed_their_most_pairs_together() {
    let Some((site, database)) = site().await else { return };
    let operator = site.operator().await;
    let made = operator.post("/qos-specs", json!({ "qos_specs": { "name": "q" } })).await.expect(200);
    let id = made["qos_specs"]["id"].as_str().unwrap().to_owned();
    let pairs =
        |prefix: &str, n: usize| (0..n).map(|k| (format!("{prefix}{k}"), "1".to_owned())).collect::<std::collections::BTreeMap<_, _>>();
    let mut tx = site.app().store.begin().await.unwrap();
    assert!(tx.qos_specs_update(&id, None, &pairs("a", 60), clock::now()).await.unwrap());
    let (other, path, body) = (operator.clone(), format!("/qos-specs/{id}"), json!({ "qos_specs": pairs("b", 10) }));
    let asked = meets(&database, async move { other.put(&path, body).await }).await;
    tx.commit().await.unwrap();
    assert!(asked.await.unwrap().fault(400).contains("at most 64 keys"));
}
