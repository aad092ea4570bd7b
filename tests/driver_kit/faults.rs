//! The memory driver's faults, seen through the host: what each looks like to whoever calls a driver.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::driver::{
    Backend, DriverError, ErrorKind,
    types::{Answer, PollOutcome, Volume},
};
use support::lab::{Lab, call, call_within};
use uuid::Uuid;

fn volume() -> Volume {
    Volume { id: Uuid::new_v4().to_string(), name: "v".into(), pool: "pool0".into(), size_gib: 3, ..Volume::default() }
}

async fn create(backend: &Backend, v: &Volume) -> Result<(), DriverError> {
    backend.need_volumes()?.create(&call(&v.id), v).await.map(drop)
}

async fn free(backend: &Backend) -> f64 {
    backend.refresh(&call("report")).await.unwrap().report.pools[0].free.gib().unwrap()
}

async fn memory(faults: &[&str], more: Value) -> (Lab, Backend) {
    let lab = Lab::new().await;
    let mut options = more;
    options["faults"] = json!(faults);
    let backend = lab.open("memory", &options).await.unwrap();
    (lab, backend)
}

#[tokio::test]
async fn each_refusal_arrives_as_its_kind() {
    for (name, kind) in [
        ("invalid", ErrorKind::Invalid),
        ("not-found", ErrorKind::NotFound),
        ("busy", ErrorKind::Busy),
        ("exhausted", ErrorKind::Exhausted),
        ("transient", ErrorKind::Transient),
        ("auth", ErrorKind::Auth),
        ("unsupported", ErrorKind::Unsupported),
        ("data-loss-risk", ErrorKind::DataLossRisk),
        ("internal", ErrorKind::Internal),
    ] {
        let (_lab, backend) = memory(&[&format!("volumes.create=refuse:{name}")], json!({})).await;
        assert_eq!(create(&backend, &volume()).await.unwrap_err().kind, kind);
    }
}

#[tokio::test]
async fn a_lost_answer_leaves_work_behind_that_a_repeat_finds() {
    let (_lab, backend) = memory(&["volumes.create#1=lose-answer"], json!({ "pools": ["pool0:10"] })).await;
    let v = volume();
    let lost = create(&backend, &v).await.unwrap_err();
    assert!(lost.may_have_happened());
    assert_eq!(free(&backend).await, 7.0);
    create(&backend, &v).await.unwrap();
    assert_eq!(free(&backend).await, 7.0);
}

#[tokio::test]
async fn a_trap_after_the_work_is_a_lost_answer_too() {
    let (_lab, backend) = memory(&["volumes.create#1=trap-after"], json!({ "pools": ["pool0:10"] })).await;
    let v = volume();
    assert_eq!(create(&backend, &v).await.unwrap_err().kind, ErrorKind::Trap);
    create(&backend, &v).await.unwrap();
    assert_eq!(free(&backend).await, 7.0);
}

#[tokio::test]
async fn a_driver_that_hangs_is_ended_at_the_deadline() {
    let (_lab, backend) = memory(&["volumes.create=hang"], json!({})).await;
    let v = volume();
    let ended = backend.need_volumes().unwrap().create(&call_within("hang", Duration::from_millis(300)), &v).await;
    assert_eq!(ended.unwrap_err().kind, ErrorKind::Deadline);
}

#[tokio::test]
async fn a_wrong_answer_is_told_from_an_error() {
    let (_lab, backend) = memory(&["volumes.create=wrong-answer"], json!({})).await;
    assert_eq!(create(&backend, &volume()).await.unwrap_err().kind, ErrorKind::WrongAnswer);
}

#[tokio::test]
async fn pending_work_ends_by_polling_in_whatever_instance() {
    let (_lab, backend) = memory(&["volumes.create=pending:2"], json!({})).await;
    let v = volume();
    let Answer::Pending(pending) = backend.need_volumes().unwrap().create(&call(&v.id), &v).await.unwrap() else { panic!("not pending") };
    let poll = || async { backend.need_poll().unwrap().poll(&call("poll"), &pending.token).await.unwrap() };
    assert!(matches!(poll().await, PollOutcome::Pending(_)));
    assert!(matches!(poll().await, PollOutcome::Volume(_)));
}

#[tokio::test]
async fn creates_side_by_side_fill_a_pool_exactly() {
    let (_lab, backend) = memory(&[], json!({ "pools": ["pool0:30"] })).await;
    let volumes: Vec<Volume> = (0..16).map(|_| volume()).collect();
    let made = futures::future::join_all(volumes.iter().map(|v| create(&backend, v))).await;
    let (fit, refused): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
    assert_eq!((fit.len(), refused.len()), (10, 6));
    assert!(refused.into_iter().all(|r| r.unwrap_err().kind == ErrorKind::Exhausted));
    assert_eq!(free(&backend).await, 0.0);
}

#[tokio::test]
async fn bad_options_keep_the_driver_out_of_service() {
    let lab = Lab::new().await;
    for (options, named) in [
        (json!({ "pools": ["gold:plenty"] }), "gold:plenty"),
        (json!({ "faults": ["volumes.create=explode"] }), "explode"),
        (json!({ "colour": "blue" }), "colour"),
        (json!({ "block_protocol": "pigeon" }), "block_protocol"),
    ] {
        let refused = lab.open("memory", &options).await.err().unwrap_or_else(|| panic!("{options} was accepted"));
        assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
        assert!(refused.message.contains(named), "{refused}");
    }
}
