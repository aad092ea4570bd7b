//! Instances of snapshots, for administrators.

use serde_json::json;

use crate::site::{Site, keys, snapshot, text};

#[tokio::test]
async fn a_snapshot_has_one_instance() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let (one, _two) = (snapshot(&member, &share).await, snapshot(&member, &share).await);
    let all = operator.get("/snapshot-instances").await.expect(200)["snapshot_instances"].clone();
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(keys(&all[0]), ["id", "snapshot_id", "status"]);
    let found = operator.get(&format!("/snapshot-instances/detail?snapshot_id={one}")).await.expect(200)["snapshot_instances"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1);
    let instance = &found[0];
    assert_eq!((&instance["snapshot_id"], &instance["share_id"], &instance["progress"]), (&json!(one), &json!(share), &json!("100%")));
    assert_ne!(instance["id"], json!(one));
    let shown = operator.get(&format!("/snapshot-instances/{}", text(&instance["id"]))).await.expect(200);
    assert_eq!(&shown["snapshot_instance"], instance);
    assert_eq!(
        keys(instance),
        ["created_at", "id", "progress", "provider_location", "share_id", "share_instance_id", "snapshot_id", "status", "updated_at"]
    );
}

#[tokio::test]
async fn instances_are_the_operators_and_came_with_2_19() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    for path in ["/snapshot-instances", "/snapshot-instances/detail", "/snapshot-instances/none"] {
        member.get(path).await.expect(403);
        operator.at("2.18").get(path).await.expect(404);
    }
    operator.get("/snapshot-instances/none").await.expect(404);
}

#[tokio::test]
async fn an_operator_says_an_instances_status_and_so_its_snapshots() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = snapshot(&member, &site.available().await).await;
    let found = operator.get(&format!("/snapshot-instances?snapshot_id={id}")).await.expect(200);
    let action = format!("/snapshot-instances/{}/action", text(&found["snapshot_instances"][0]["id"]));
    operator.post(&action, json!({ "reset_status": { "status": "error" } })).await.expect(202);
    assert_eq!(member.get(&format!("/snapshots/{id}")).await.expect(200)["snapshot"]["status"], "error");
    operator.post(&action, json!({ "reset_status": { "status": "nonsense" } })).await.expect(400);
    member.post(&action, json!({ "reset_status": { "status": "error" } })).await.expect(403);
}
