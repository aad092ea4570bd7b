//! What the outbox tells: each state change, in order per volume, and nothing that did not happen.

use std::{fmt, sync::Mutex};

use serde_json::{Value, json};
use stowage::driver::ErrorKind;
use support::wait;
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;

use crate::{
    array::Fault,
    listening,
    site::{Site, attach, connect, create, detach, reserve},
    snapshots::snapshot,
    volume_actions::act,
};

/// What the log sink was given: (resource, event type, payload).
static TOLD: Mutex<Vec<(String, String, Value)>> = Mutex::new(Vec::new());

/// Listens where the log sink writes.
pub struct Recorder;

#[derive(Default)]
struct Fields {
    resource: String,
    kind: String,
    payload: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "resource_id" => self.resource = text,
            "event_type" => self.kind = text,
            "payload" => self.payload = text,
            _ => {}
        }
    }
}

impl<S: tracing::Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        TOLD.lock().unwrap().push((fields.resource, fields.kind, serde_json::from_str(&fields.payload).unwrap()));
    }
}

async fn start() -> Site {
    listening::listen();
    Site::start().await
}

fn told(volume: &str) -> Vec<String> {
    TOLD.lock().unwrap().iter().filter(|(id, ..)| id == volume).map(|(_, kind, _)| kind.clone()).collect()
}

fn payload(volume: &str, kind: &str) -> Value {
    TOLD.lock().unwrap().iter().find(|(id, k, _)| id == volume && k == kind).unwrap().2.clone()
}

/// Everything told of a volume once `last` was.
async fn until_told(volume: &str, last: &str) -> Vec<String> {
    wait::until(&format!("{last} to be told"), || async { told(volume).iter().any(|k| k == last).then_some(()) }).await;
    told(volume)
}

#[tokio::test]
async fn a_volumes_life_is_told_in_its_order() {
    let site = start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    member.put(&format!("/volumes/{volume}"), json!({ "volume": { "name": "named" } })).await.expect(200);
    let attachment = attach(&member, &volume, "c1").await;
    detach(&member, &attachment).await.expect(200);
    member.delete(&format!("/volumes/{volume}")).await.expect(202);
    let expected = [
        "volume.create.start",
        "volume.create.end",
        "volume.update.start",
        "volume.update.end",
        "volume.attach.start",
        "volume.attach.end",
        "volume.detach.start",
        "volume.detach.end",
        "volume.delete.start",
        "volume.delete.end",
    ];
    assert_eq!(until_told(&volume, "volume.delete.end").await, expected);
    let of = |kind: &str, key: &str| payload(&volume, kind)[key].clone();
    assert_eq!((of("volume.create.start", "status"), of("volume.create.end", "status")), (json!("creating"), json!("available")));
    assert_eq!((of("volume.update.start", "display_name"), of("volume.update.end", "display_name")), (json!(null), json!("named")));
    assert_eq!((of("volume.attach.end", "status"), of("volume.detach.start", "status")), (json!("attaching"), json!("detaching")));
    assert_eq!((of("volume.detach.end", "status"), of("volume.delete.start", "status")), (json!("available"), json!("deleting")));
    assert_eq!(
        (of("volume.create.end", "tenant_id"), of("volume.create.end", "host"), of("volume.create.end", "size")),
        (json!(member.project_id), json!("stowage@a#p1"), json!(1))
    );
}

#[tokio::test]
async fn a_create_that_fails_is_told_as_an_error_and_its_delete_as_any_other() {
    let site = start().await;
    let member = site.member().await;
    site.array.fault("create", Fault::Refuse(ErrorKind::Invalid));
    let refused = create(&member, json!({})).await;
    member.until(&format!("/volumes/{refused}"), |a| a.body()["volume"]["status"] == "error").await;
    member.delete(&format!("/volumes/{refused}")).await.expect(202);
    let expected = ["volume.create.start", "volume.create.error", "volume.delete.start", "volume.delete.end"];
    assert_eq!(until_told(&refused, "volume.delete.end").await, expected);
}

#[tokio::test]
async fn a_snapshots_life_is_told_in_its_order() {
    let site = start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let id = snapshot(&member, &volume).await;
    member.put(&format!("/snapshots/{id}"), json!({ "snapshot": { "name": "n" } })).await.expect(200);
    member.delete(&format!("/snapshots/{id}")).await.expect(202);
    let expected = [
        "snapshot.create.start",
        "snapshot.create.end",
        "snapshot.update.start",
        "snapshot.update.end",
        "snapshot.delete.start",
        "snapshot.delete.end",
    ];
    assert_eq!(until_told(&id, "snapshot.delete.end").await, expected);
    let of = |kind: &str, key: &str| payload(&id, kind)[key].clone();
    assert_eq!((of("snapshot.create.start", "status"), of("snapshot.create.end", "status")), (json!("creating"), json!("available")));
    assert_eq!((of("snapshot.create.end", "volume_id"), of("snapshot.delete.end", "volume_size")), (json!(volume), json!(1)));
}

#[tokio::test]
async fn what_is_done_to_a_volume_where_it_lies_is_told() {
    let site = start().await;
    let member = site.member().await.at("3.40");
    let body = json!({ "volume_type": { "name": "twin" } });
    site.operator().await.post("/types", body).await.expect(200);
    let volume = site.volume().await;
    act(&member, &volume, "os-extend", json!({ "new_size": 2 })).await.expect(202);
    member.volume_until(&volume, "available").await;
    let latest = snapshot(&member, &volume).await;
    act(&member, &volume, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    member.volume_until(&volume, "available").await;
    act(&member, &volume, "os-retype", json!({ "new_type": "twin" })).await.expect(202);
    let expected = [
        "volume.create.start",
        "volume.create.end",
        "volume.resize.start",
        "volume.resize.end",
        "volume.revert.start",
        "volume.revert.end",
        "volume.retype.start",
        "volume.retype",
        "volume.retype.end",
    ];
    assert_eq!(until_told(&volume, "volume.retype.end").await, expected);
    let of_the_snapshot = ["snapshot.create.start", "snapshot.create.end", "snapshot.revert.start", "snapshot.revert.end"];
    assert_eq!(until_told(&latest, "snapshot.revert.end").await, of_the_snapshot);
    assert_eq!(
        (payload(&volume, "volume.resize.start")["size"].clone(), payload(&volume, "volume.resize.end")["size"].clone()),
        (json!(1), json!(2))
    );
}

#[tokio::test]
async fn what_was_refused_is_not_told() {
    let site = start().await;
    let member = site.member().await;
    let volume = site.volume().await;
    let reservation = reserve(&member, &volume, None).await;
    assert_eq!(member.delete(&format!("/volumes/{volume}")).await.status, 400);
    site.array.fault("connect", Fault::Refuse(ErrorKind::Unsupported));
    assert_eq!(connect(&member, &reservation, "c1").await.status, 500);
    detach(&member, &reservation).await.expect(200);
    member.delete(&format!("/volumes/{volume}")).await.expect(202);
    let expected = ["volume.create.start", "volume.create.end", "volume.attach.start", "volume.delete.start", "volume.delete.end"];
    assert_eq!(until_told(&volume, "volume.delete.end").await, expected, "a begun attach, no end of it, no detach of a reservation");
}

/// Everything told of a resource about one verb, once its end was.
async fn until_ended(resource: &str, verb: &str) -> Vec<String> {
    let ends = [format!("{verb}.end"), format!("{verb}.error")];
    wait::until(&format!("the end of {verb} to be told"), || async { told(resource).iter().any(|k| ends.contains(k)).then_some(()) }).await;
    told(resource).into_iter().filter(|k| k.starts_with(&format!("{verb}."))).collect()
}

#[tokio::test]
async fn every_verb_that_fails_tells_its_start_and_one_error_and_no_end() {
    let site = start().await;
    let member = site.member().await.at("3.40");
    let twin = json!({ "volume_type": { "name": "gold", "extra_specs": { "vendor:tier": "gold" } } });
    site.operator().await.post("/types", twin).await.expect(200);
    let volume = site.volume().await;
    let refuse = |verb| site.array.fault(verb, Fault::Refuse(ErrorKind::Unsupported));
    let error = |verb: &str| vec![format!("{verb}.start"), format!("{verb}.error")];

    refuse("retype");
    act(&member, &volume, "os-retype", json!({ "new_type": "gold" })).await.expect(202);
    assert_eq!(until_ended(&volume, "volume.retype").await, error("volume.retype"));
    member.volume_until(&volume, "available").await;

    refuse("snapshot");
    let body = json!({ "snapshot": { "volume_id": volume } });
    let failed = member.post("/snapshots", body).await.expect(202)["snapshot"]["id"].as_str().unwrap().to_owned();
    assert_eq!(until_ended(&failed, "snapshot.create").await, error("snapshot.create"));
    member.delete(&format!("/snapshots/{failed}")).await.expect(202);
    member.until_gone(&format!("/snapshots/{failed}")).await;

    let latest = snapshot(&member, &volume).await;
    refuse("revert");
    act(&member, &volume, "revert", json!({ "snapshot_id": latest })).await.expect(202);
    assert_eq!(until_ended(&volume, "volume.revert").await, error("volume.revert"));
    member.volume_until(&volume, "available").await;

    refuse("delete-snapshot");
    member.delete(&format!("/snapshots/{latest}")).await.expect(202);
    assert_eq!(until_ended(&latest, "snapshot.delete").await, error("snapshot.delete"));

    refuse("extend");
    act(&member, &volume, "os-extend", json!({ "new_size": 2 })).await.expect(202);
    assert_eq!(until_ended(&volume, "volume.resize").await, error("volume.resize"));

    let other = site.volume().await;
    refuse("delete");
    member.delete(&format!("/volumes/{other}")).await.expect(202);
    assert_eq!(until_ended(&other, "volume.delete").await, error("volume.delete"));
}

#[tokio::test]
async fn a_create_that_a_forced_delete_overtakes_has_an_end_of_its_own() {
    let site = start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    site.array.hold("create");
    let volume = create(&member, json!({})).await;
    site.until("the create to begin", || async { site.array.count("create") == 1 }).await;
    act(&operator, &volume, "os-force_delete", json!({})).await.expect(202);
    site.array.release("create");
    let expected = ["volume.create.start", "volume.delete.start", "volume.create.error", "volume.delete.end"];
    assert_eq!(until_told(&volume, "volume.delete.end").await, expected);
}

#[tokio::test]
async fn a_types_life_is_told_in_its_order() {
    let site = start().await;
    let operator = site.operator().await;
    let private = json!({ "volume_type": { "name": "told", "os-volume-type-access:is_public": false } });
    let id = operator.post("/types", private).await.expect(200)["volume_type"]["id"].as_str().unwrap().to_owned();
    let path = format!("/types/{id}");
    operator.put(&path, json!({ "volume_type": { "description": "d" } })).await.expect(200);
    operator.post(&format!("{path}/extra_specs"), json!({ "extra_specs": { "a": "1" } })).await.expect(200);
    operator.delete(&format!("{path}/extra_specs/a")).await.expect(202);
    for verb in ["addProjectAccess", "removeProjectAccess"] {
        operator.post(&format!("{path}/action"), json!({ verb: { "project": operator.project_id } })).await.expect(202);
    }
    operator.delete(&path).await.expect(202);
    let expected = [
        "volume_type.create",
        "volume_type.update",
        "volume_type_extra_specs.create",
        "volume_type_extra_specs.delete",
        "volume_type_project.access.add",
        "volume_type_project.access.remove",
        "volume_type.delete",
    ];
    assert_eq!(until_told(&id, "volume_type.delete").await, expected);
    assert_eq!(payload(&id, "volume_type_extra_specs.create"), json!({ "type_id": id, "specs": { "a": "1" } }));
}

#[tokio::test]
async fn the_life_of_qos_specs_is_told_in_its_order() {
    let site = start().await;
    let operator = site.operator().await;
    let type_id = operator.post("/types", json!({ "volume_type": { "name": "t" } })).await.expect(200)["volume_type"]["id"].clone();
    let type_id = type_id.as_str().unwrap();
    let made = operator.post("/qos-specs", json!({ "qos_specs": { "name": "q", "a": "1" } })).await.expect(200);
    let id = made["qos_specs"]["id"].as_str().unwrap();
    let path = format!("/qos-specs/{id}");
    operator.put(&path, json!({ "qos_specs": { "b": "2" } })).await.expect(200);
    operator.put(&format!("{path}/delete_keys"), json!({ "keys": ["a"] })).await.expect(202);
    for verb in ["associate", "disassociate"] {
        operator.get(&format!("{path}/{verb}?vol_type_id={type_id}")).await.expect(202);
    }
    operator.get(&format!("{path}/disassociate_all")).await.expect(202);
    operator.delete(&path).await.expect(202);
    let expected =
        ["create", "update", "delete_keys", "associate", "disassociate", "disassociate_all", "delete"].map(|v| format!("qos_specs.{v}"));
    assert_eq!(until_told(id, "qos_specs.delete").await, expected);
    assert_eq!(payload(id, "qos_specs.associate"), json!({ "qos_specs_id": id, "type_id": type_id }));
}
