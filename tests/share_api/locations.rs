//! Where shares can be mounted.

use serde_json::{Value, json};
use stowage::{
    clock,
    driver::types::{ExportLocation, StringMap},
};
use support::Client;

use crate::site::{Site, keys, text};

async fn site() -> Site {
    Site::with(json!({ "export_addresses": ["192.0.2.10", "192.0.2.11"], "admin_export_address": "198.51.100.1" })).await
}

async fn locations(client: &Client, share: &str) -> Vec<Value> {
    client.get(&format!("/shares/{share}/export_locations")).await.expect(200)["export_locations"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_member_sees_paths_and_an_admin_all_of_them() {
    let site = site().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let seen = locations(&member, &share).await;
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(keys(&seen[0]), ["id", "metadata", "path", "preferred"]);
    let all = locations(&operator, &share).await;
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(keys(&all[0]), ["id", "is_admin_only", "metadata", "path", "preferred", "share_instance_id"]);
    let hidden = all.iter().find(|l| l["is_admin_only"] == true).unwrap();
    let path = |id: &Value| format!("/shares/{share}/export_locations/{}", id.as_str().unwrap());
    member.get(&path(&hidden["id"])).await.expect(403);
    operator.get(&path(&hidden["id"])).await.expect(200);
    let shown = member.get(&path(&seen[0]["id"])).await.expect(200)["export_location"].clone();
    assert_eq!(keys(&shown), ["created_at", "id", "metadata", "path", "preferred", "updated_at"]);
    assert!(shown["updated_at"].is_string());
}

#[tokio::test]
async fn fields_come_with_their_version() {
    let site = site().await;
    let member = site.member().await;
    let share = site.available().await;
    assert_eq!(keys(&locations(&member.at("2.9"), &share).await[0]), ["id", "path"]);
    assert_eq!(keys(&locations(&member.at("2.14"), &share).await[0]), ["id", "path", "preferred"]);
    member.at("2.8").get(&format!("/shares/{share}/export_locations")).await.expect(404);
}

#[tokio::test]
async fn others_are_refused_and_what_is_not_there_not_found() {
    let site = site().await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let share = site.available().await;
    stranger.get(&format!("/shares/{share}/export_locations")).await.expect(403);
    member.get("/shares/none/export_locations").await.expect(404);
    member.get(&format!("/shares/{share}/export_locations/none")).await.expect(404);
}

#[tokio::test]
async fn instances_have_the_same_locations_for_admins() {
    let site = site().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let all = locations(&operator, &share).await;
    let instance = text(&all[0]["share_instance_id"]);
    let path = format!("/share_instances/{instance}/export_locations");
    assert_eq!(operator.get(&path).await.expect(200)["export_locations"].as_array().unwrap(), &all);
    let one = operator.get(&format!("{path}/{}", text(&all[0]["id"]))).await.expect(200);
    assert_eq!(one["export_location"]["path"], all[0]["path"]);
    operator.get(&format!("{path}/none")).await.expect(404);
    operator.get("/share_instances/none/export_locations").await.expect(404);
    member.get(&path).await.expect(403);
}

#[tokio::test]
async fn locations_have_pairs_from_2_87() {
    let site = site().await;
    let member = site.member().await;
    let share = site.available().await;
    let id = text(&locations(&member, &share).await[0]["id"]);
    let all = format!("/shares/{share}/export_locations/{id}/metadata");
    member.at("2.86").get(&all).await.expect(404);
    member.post(&all, json!({ "metadata": { "a": "1" } })).await.expect(200);
    assert_eq!(member.get(&format!("{all}/a")).await.expect(200), json!({ "meta": { "a": "1" } }));
    assert_eq!(
        member.post(&format!("{all}/a"), json!({ "metadata": { "a": "2" } })).await.expect(200),
        json!({ "metadata": { "a": "2" } })
    );
    assert_eq!(locations(&member, &share).await[0]["metadata"]["a"], "2");
    member.put(&all, json!({ "metadata": { "b": "3" } })).await.expect(200);
    member.delete(&format!("{all}/b")).await.expect(200);
    member.delete(&format!("{all}/b")).await.expect(404);
    member.post(&all, json!({ "metadata": { "a": "" } })).await.expect(400);
    site.stranger().await.post(&all, json!({ "metadata": { "a": "1" } })).await.expect(404);
}

#[tokio::test]
async fn the_preferred_location_is_the_operators_choice() {
    let site = site().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let id = text(&locations(&member, &share).await[1]["id"]);
    let all = format!("/shares/{share}/export_locations/{id}/metadata");
    member.post(&all, json!({ "metadata": { "preferred": "true" } })).await.expect(403);
    operator.post(&all, json!({ "metadata": { "preferred": "true" } })).await.expect(200);
    let shown = &locations(&member, &share).await[1];
    assert_eq!((&shown["preferred"], &shown["metadata"]), (&json!(true), &json!({})));
    member.delete(&format!("{all}/preferred")).await.expect(403);
    operator.post(&all, json!({ "metadata": { "preferred": "perhaps" } })).await.expect(400);
}

#[tokio::test]
async fn what_an_operator_prefers_stays_until_he_takes_it_back() {
    let site = site().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available().await;
    let preferred = async || locations(&member, &share).await.iter().map(|l| l["preferred"] == true).collect::<Vec<_>>();
    let by_driver = preferred().await;
    let ids: Vec<String> = locations(&member, &share).await.iter().map(|l| text(&l["id"])).collect();
    let all = |n: usize| format!("/shares/{share}/export_locations/{}/metadata", ids[n]);
    let turned: Vec<bool> = by_driver.iter().map(|p| !p).collect();
    for (n, flag) in turned.iter().enumerate() {
        let word = if *flag { "Yes" } else { "off" };
        let kept = operator.post(&all(n), json!({ "metadata": { "preferred": word } })).await.expect(200);
        assert_eq!(kept["metadata"]["preferred"], flag.to_string());
    }
    assert_eq!(preferred().await, turned);
    // the driver says its own again
    let row = site.app().store.share(&share).await.unwrap().unwrap();
    let told: Vec<ExportLocation> = site
        .app()
        .store
        .share_locations(&row.instance_id)
        .await
        .unwrap()
        .into_iter()
        .map(|l| ExportLocation {
            preferred: ids.iter().position(|id| *id == l.id).is_some_and(|n| by_driver[n]),
            path: l.path,
            admin_only: l.admin_only,
            metadata: StringMap::from([("preferred".to_owned(), "maybe".to_owned())]),
        })
        .collect();
    let mut tx = site.app().store.begin().await.unwrap();
    tx.share_locations_replace(&row.instance_id, &told, clock::now()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(preferred().await, turned);
    operator.delete(&format!("{}/preferred", all(0))).await.expect(200);
    assert_eq!(preferred().await, [by_driver[0], turned[1]]);
    operator.put(&all(1), json!({ "metadata": { "a": "b" } })).await.expect(200);
    assert_eq!(preferred().await, by_driver);
}
