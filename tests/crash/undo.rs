//! A call that is still on its way when it is taken back arrives too late.

use std::time::Duration;

use serde_json::json;
use support::{
    Persona, TestApp,
    array::{Action, Array, Fault},
    wait,
};

use crate::world::{connector, create_volume, on_array};

#[tokio::test(flavor = "multi_thread")]
async fn a_connect_that_arrives_after_it_was_taken_back_is_refused_by_the_array() {
    let array = Array::start().await.unwrap();
    let app = TestApp::builder()
        .config(|c| {
            on_array(c, array.url());
            c.backends[0].grants.call_timeout = Duration::from_secs(2);
        })
        .start()
        .await;
    let member = app.block(Persona::Member).await.at("3.54");
    let pools = "/scheduler-stats/get_pools";
    app.block(Persona::Admin).await.until(pools, |a| !a.expect(200)["pools"].as_array().unwrap().is_empty()).await;
    let volume = create_volume(&member).await.unwrap();
    member.volume_until(&volume, "available").await;
    // every try is on its way for longer than the service waits
    let held = Fault { method: "PUT".into(), kind: "connections".into(), action: Action::HoldCall, times: 100, ..Fault::default() };
    array.control.fault(held).await.unwrap();
    let body = json!({ "attachment": { "volume_uuid": volume, "connector": connector() } });
    let text = member.post("/attachments", body).await.fault(500);
    assert!(text.starts_with("Unable to create attachment"), "{text}");
    let on_the_way = async || array.control.changes().await.unwrap().into_iter().filter(|c| c.kind == "connections").collect::<Vec<_>>();
    let undone = on_the_way().await;
    assert!(undone.iter().all(|c| c.method == "DELETE") && !undone.is_empty(), "{undone:?}");

    array.control.release().await.unwrap();
    let late = wait::until("the calls to arrive", || async {
        let puts: Vec<_> = on_the_way().await.into_iter().filter(|c| c.method == "PUT").collect();
        (puts.len() >= 3).then_some(puts)
    })
    .await;
    assert!(late.iter().all(|c| c.status == 412), "{late:?}");
    assert!(array.control.ids("connections").await.unwrap().is_empty());
    // and the next attach is newer than all of it
    array.control.clear_faults().await.unwrap();
    let listed = member.get("/attachments").await.expect(200);
    let id = listed["attachments"][0]["id"].as_str().unwrap();
    member.put(&format!("/attachments/{id}"), json!({ "attachment": { "connector": connector() } })).await.expect(200);
    assert_eq!(array.control.ids("connections").await.unwrap().len(), 1);
}
