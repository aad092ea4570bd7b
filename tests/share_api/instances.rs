//! Share instances, for administrators.

use serde_json::json;

use crate::site::{Site, keys, text};

#[tokio::test]
async fn a_share_has_one_instance() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let of_share = operator.get(&format!("/shares/{share}/instances")).await.expect(200)["share_instances"].clone();
    assert_eq!(of_share.as_array().unwrap().len(), 1);
    let instance = of_share[0].clone();
    assert_eq!(
        (&instance["share_id"], &instance["status"], &instance["host"]),
        (&json!(share), &json!("available"), &json!("stowage@m#p1"))
    );
    assert_ne!(instance["id"], json!(share));
    let id = text(&instance["id"]);
    assert_eq!(operator.get(&format!("/share_instances/{id}")).await.expect(200)["share_instance"], instance);
    assert_eq!(operator.get("/share_instances").await.expect(200)["share_instances"], of_share);
    operator.get("/share_instances/none").await.expect(404);
    operator.get("/shares/none/instances").await.expect(404);
    for path in ["/share_instances".to_owned(), format!("/share_instances/{id}"), format!("/shares/{share}/instances")] {
        member.get(&path).await.expect(403);
    }
}

#[tokio::test]
async fn fields_follow_the_version() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let share = site.available().await;
    let at = |version: &'static str| {
        let (client, path) = (operator.at(version), format!("/shares/{share}/instances"));
        async move { client.get(&path).await.expect(200)["share_instances"][0].clone() }
    };
    let base = [
        "availability_zone",
        "created_at",
        "export_location",
        "export_locations",
        "host",
        "id",
        "share_id",
        "share_network_id",
        "share_server_id",
        "status",
    ];
    assert_eq!(keys(&at("2.3").await), base);
    assert_eq!(keys(&at("2.71").await).len(), 14);
    let newest = at("2.71").await;
    assert_eq!((&newest["cast_rules_to_readonly"], &newest["progress"]), (&json!(false), &json!("100%")));
    operator.at("2.2").get("/share_instances").await.expect(404);
}

#[tokio::test]
async fn an_instance_is_found_by_its_location() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let (one, _two) = (site.available().await, site.available().await);
    let location = operator.get(&format!("/shares/{one}/export_locations")).await.expect(200)["export_locations"][0].clone();
    for query in [format!("export_location_id={}", text(&location["id"])), format!("export_location_path={}", text(&location["path"]))] {
        let found = operator.get(&format!("/share_instances?{query}")).await.expect(200)["share_instances"].clone();
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found[0]["share_id"], json!(one));
        let old = operator.at("2.34").get(&format!("/share_instances?{query}")).await.expect(200);
        assert_eq!(old["share_instances"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_operator_says_an_instances_status_and_deletes_it_by_force() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let id = text(&operator.get(&format!("/shares/{share}/instances")).await.expect(200)["share_instances"][0]["id"]);
    let action = format!("/share_instances/{id}/action");
    operator.at("2.6").post(&action, json!({ "os-reset_status": { "status": "error" } })).await.expect(202);
    assert_eq!(member.get(&format!("/shares/{share}")).await.expect(200)["share"]["status"], "error");
    operator.post(&action, json!({ "reset_status": { "status": "nonsense" } })).await.expect(400);
    member.post(&action, json!({ "reset_status": { "status": "error" } })).await.expect(403);
    member.post(&action, json!({ "force_delete": null })).await.expect(403);
    operator.post(&action, json!({ "force_delete": null })).await.expect(202);
    member.until_gone(&format!("/shares/{share}")).await;
    operator.get(&format!("/share_instances/{id}")).await.expect(404);
}
