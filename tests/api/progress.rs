//! How far the driver of a running job is, and that it learns when nobody wants its work any more. With the memory driver, in the
//! sandbox.

use serde_json::{Value, json};
use stowage::{api::route::Api, config::BackendConfig};
use support::{Persona, TestApp, wait};

use crate::site::create;

/// A back end whose creates take longer than a test.
async fn slow() -> TestApp {
    let mut backend = BackendConfig::new("memory", "memory");
    backend.options.insert("faults".into(), json!(["volumes.create=delay:50000"]));
    let app = TestApp::builder().backends([backend]).start().await;
    let operator = app.block(Persona::Admin).await;
    operator.until("/scheduler-stats/get_pools", |a| a.status == 200 && a.body()["pools"].as_array().is_some_and(|p| !p.is_empty())).await;
    app
}

/// The create of a volume, once its driver has said how far it is.
async fn under_way(app: &TestApp, volume: &str) -> Value {
    let admin = app.admin(Persona::Admin).await;
    wait::until("the driver to say how far it is", || async {
        let jobs = admin.get(&format!("/jobs?resource_id={volume}&kind=volume.create")).await.expect(200);
        let job = jobs["jobs"][0].clone();
        job["progress"].is_object().then_some(job)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_job_shows_how_far_its_driver_is_until_that_is_told_that_its_volume_goes() {
    let app = slow().await;
    let member = app.block(Persona::Member).await;
    let id = create(&member, json!({})).await;
    let job = under_way(&app, &id).await;
    assert_eq!((&job["state"], &job["progress"]["text"]), (&json!("running"), &json!("waits as it was told to")), "{job}");
    assert!(job["progress"]["percent"].as_u64().is_some_and(|n| n <= 100), "{job}");

    let operator = app.client(Api::Block, Persona::Admin).await;
    operator.post(&format!("/volumes/{id}/action"), json!({ "os-force_delete": {} })).await.expect(202);
    // sooner than the create would have ended
    member.until_gone(&format!("/volumes/{id}")).await;
    let jobs = app.admin(Persona::Admin).await.get(&format!("/jobs?resource_id={id}")).await.expect(200);
    for job in jobs["jobs"].as_array().unwrap() {
        assert_eq!((&job["state"], &job["progress"]), (&json!("done"), &json!(null)), "{job}");
    }
}
