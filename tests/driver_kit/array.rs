//! The fixture array outside the process, through the memory driver: what it records and what it refuses.

use serde_json::json;
use stowage::driver::{Backend, Call, ErrorKind, types::Volume};
use support::{
    array::{Action, Array, Fault},
    lab::{Lab, call},
    wait::PATIENCE,
};
use uuid::Uuid;

fn volume() -> Volume {
    Volume { id: Uuid::new_v4().to_string(), name: "v".into(), pool: "pool0".into(), size_gib: 3, ..Volume::default() }
}

async fn on(array: &Array) -> (Lab, Backend) {
    let lab = Lab::new().await;
    let authority = array.url().trim_start_matches("http://").to_owned();
    let options = json!({ "array_url": array.url(), "pools": ["pool0:10"] });
    let backend = lab.open_with("memory", &options, |config| config.grants.http = vec![authority]).await.unwrap();
    (lab, backend)
}

#[tokio::test]
async fn every_change_is_recorded_with_whose_it_was() {
    let array = Array::start().await.unwrap();
    let (_lab, backend) = on(&array).await;
    let v = volume();
    let made = call("operation-1");
    backend.need_volumes().unwrap().create(&made, &v).await.unwrap();
    let changes = array.control.changes().await.unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].method.as_str(), changes[0].id.as_str()), ("PUT", v.id.as_str()));
    assert_eq!((changes[0].verb.as_str(), changes[0].operation_id.as_str()), ("volumes.create", "operation-1"));
    assert_eq!((changes[0].generation, changes[0].request_id.as_str()), (made.generation, made.request_id.as_str()));
}

#[tokio::test]
async fn a_dropped_answer_left_the_volume_and_a_repeat_finds_it() {
    let array = Array::start().await.unwrap();
    let (_lab, backend) = on(&array).await;
    array.control.fault(Fault { method: "PUT".into(), ..Fault::on("volumes.create", Action::DropAnswer) }).await.unwrap();
    let v = volume();
    let volumes = backend.need_volumes().unwrap();
    assert_eq!(volumes.create(&call("c"), &v).await.unwrap_err().kind, ErrorKind::Transient);
    assert_eq!(array.control.ids("volumes").await.unwrap(), [v.id.clone()]);
    volumes.create(&call("c"), &v).await.unwrap();
    assert_eq!(array.control.ids("volumes").await.unwrap(), [v.id.clone()]);
}

#[tokio::test]
async fn a_late_call_of_an_older_generation_changes_nothing() {
    let array = Array::start().await.unwrap();
    let (_lab, backend) = on(&array).await;
    let v = volume();
    let volumes = backend.need_volumes().unwrap();
    let generation = |n| Call::new("c", n, "req-x", PATIENCE, stowage::jobs::Lease::unbounded());
    volumes.create(&generation(2), &v).await.unwrap();
    volumes.delete(&generation(2), &v).await.unwrap();
    assert!(volumes.create(&generation(1), &v).await.is_err());
    assert!(array.control.ids("volumes").await.unwrap().is_empty());
}

#[tokio::test]
async fn an_expired_session_is_renewed_within_the_call() {
    let array = Array::start().await.unwrap();
    let (_lab, backend) = on(&array).await;
    let volumes = backend.need_volumes().unwrap();
    volumes.create(&call("1"), &volume()).await.unwrap();
    array.control.expire_sessions().await.unwrap();
    volumes.create(&call("2"), &volume()).await.unwrap();
}

#[tokio::test]
async fn a_full_array_refuses_as_exhausted() {
    let array = Array::start().await.unwrap();
    let (_lab, backend) = on(&array).await;
    let volumes = backend.need_volumes().unwrap();
    for n in 0..3 {
        volumes.create(&call(&n.to_string()), &volume()).await.unwrap();
    }
    assert_eq!(volumes.create(&call("4"), &volume()).await.unwrap_err().kind, ErrorKind::Exhausted);
}

#[tokio::test]
async fn a_held_call_waits_until_the_test_lets_it_go() {
    let array = Array::start().await.unwrap();
    let (_lab, backend) = on(&array).await;
    array.control.fault(Fault { method: "PUT".into(), ..Fault::on("volumes.create", Action::HoldCall) }).await.unwrap();
    let v = volume();
    let volumes = backend.need_volumes().unwrap().clone();
    let held = tokio::spawn(async move { volumes.create(&call("c"), &v).await });
    array.control.wait_held(1, PATIENCE).await.unwrap();
    assert!(array.control.ids("volumes").await.unwrap().is_empty());
    array.control.release().await.unwrap();
    held.await.unwrap().unwrap();
    assert_eq!(array.control.ids("volumes").await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_array_that_is_a_process_keeps_its_objects_over_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("array.json");
    let binary = env!("CARGO_BIN_EXE_fixture-array");
    let v = volume();
    {
        let array = Array::spawn(binary, Some(&state)).await.unwrap();
        let (_lab, backend) = on(&array).await;
        backend.need_volumes().unwrap().create(&call("c"), &v).await.unwrap();
    }
    let array = Array::spawn(binary, Some(&state)).await.unwrap();
    assert_eq!(array.control.ids("volumes").await.unwrap(), [v.id]);
}
