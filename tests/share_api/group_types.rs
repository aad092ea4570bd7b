//! Share group types: created and deleted by operators, for share types that are there, private ones for chosen projects.

use serde_json::{Value, json};

use crate::site::{Site, keys, text, uuid};

const TYPES: &str = "/share-group-types";

async fn create(site: &Site, members: Value) -> Value {
    site.operator().await.post(TYPES, json!({ "share_group_type": members })).await.expect(200)["share_group_type"].clone()
}

#[tokio::test]
async fn a_type_is_for_share_types_named_by_name_or_id() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    let share_type = site.share_type("gold", json!({})).await;
    for named in [json!([share_type]), json!(["gold"]), json!(["gold", share_type])] {
        let made = create(&site, json!({ "name": named.to_string(), "share_types": named, "group_specs": { "a": "b" } })).await;
        assert_eq!(keys(&made), ["group_specs", "id", "is_default", "is_public", "name", "share_types"]);
        assert_eq!(
            (&made["share_types"], &made["group_specs"], &made["is_public"]),
            (&json!([share_type]), &json!({ "a": "b" }), &json!(true))
        );
        let path = format!("{TYPES}/{}", text(&made["id"]));
        assert_eq!(member.get(&path).await.expect(200)["share_group_type"], made);
        assert!(member.get(TYPES).await.expect(200)["share_group_types"].as_array().unwrap().contains(&made));
        member.delete(&path).await.expect(403);
        operator.delete(&path).await.expect(204);
        operator.get(&path).await.expect(404);
        operator.delete(&path).await.expect(404);
    }
    operator.get(&format!("{TYPES}/default")).await.expect(404);
}

#[tokio::test]
async fn what_cannot_be_a_type_is_refused() {
    let site = Site::start().await;
    let operator = site.operator().await;
    site.share_type("gold", json!({})).await;
    for (members, status) in [
        (json!({ "share_types": ["gold"] }), 400),
        (json!({ "name": "", "share_types": ["gold"] }), 400),
        (json!({ "name": "x".repeat(256), "share_types": ["gold"] }), 400),
        (json!({ "name": "none" }), 400),
        (json!({ "name": "words", "share_types": ["gold"], "group_specs": "words" }), 400),
        (json!({ "name": "key", "share_types": ["gold"], "group_specs": { "a/b": "c" } }), 400),
        (json!({ "name": "public", "share_types": ["gold"], "is_public": "perhaps" }), 400),
        (json!({ "name": "unknown", "share_types": ["lead"] }), 404),
    ] {
        let answer = operator.post(TYPES, json!({ "share_group_type": members })).await;
        assert_eq!(answer.status, status, "{members}");
    }
    create(&site, json!({ "name": "twice", "share_types": ["gold"] })).await;
    operator.post(TYPES, json!({ "share_group_type": { "name": "twice", "share_types": ["gold"] } })).await.expect(409);
    site.member().await.post(TYPES, json!({ "share_group_type": { "name": "mine", "share_types": ["gold"] } })).await.expect(403);
}

#[tokio::test]
async fn a_share_type_stays_while_a_group_type_is_for_it() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let share_type = site.share_type("gold", json!({})).await;
    let made = create(&site, json!({ "name": "g", "share_types": ["gold"] })).await;
    operator.delete(&format!("/types/{share_type}")).await.expect(400);
    operator.delete(&format!("{TYPES}/{}", text(&made["id"]))).await.expect(204);
    operator.delete(&format!("/types/{share_type}")).await.expect(202);
}

#[tokio::test]
async fn specs_are_added_changed_and_removed_by_operators() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    site.share_type("gold", json!({})).await;
    let made = create(&site, json!({ "name": "g", "share_types": ["gold"], "group_specs": { "a": "1", "b": "2" } })).await;
    let specs = format!("{TYPES}/{}/group-specs", text(&made["id"]));
    member.get(&specs).await.expect(403);
    assert_eq!(operator.get(&specs).await.expect(200), json!({ "group_specs": { "a": "1", "b": "2" } }));
    assert_eq!(operator.get(&format!("{specs}/a")).await.expect(200), json!({ "a": "1" }));
    operator.get(&format!("{specs}/c")).await.expect(404);
    assert_eq!(operator.put(&format!("{specs}/a"), json!({ "a": "3" })).await.expect(200), json!({ "a": "3" }));
    operator.put(&format!("{specs}/a"), json!({ "b": "3" })).await.expect(400);
    let merged = operator.post(&specs, json!({ "group_specs": { "c": "4" } })).await.expect(200);
    assert_eq!(merged, json!({ "group_specs": { "c": "4" } }));
    operator.post(&specs, json!({ "group_specs": {} })).await.expect(400);
    operator.delete(&format!("{specs}/b")).await.expect(204);
    operator.delete(&format!("{specs}/b")).await.expect(404);
    assert_eq!(operator.get(&specs).await.expect(200), json!({ "group_specs": { "a": "3", "c": "4" } }));
    operator.get(&format!("{TYPES}/nothing/group-specs")).await.expect(404);
}

#[tokio::test]
async fn a_private_type_is_seen_by_the_projects_it_was_given_to() {
    let site = Site::start().await;
    let (operator, member) = (site.operator().await, site.member().await);
    site.share_type("gold", json!({})).await;
    let made = create(&site, json!({ "name": "g", "share_types": ["gold"], "is_public": false })).await;
    let id = text(&made["id"]);
    let (path, access, action) = (format!("{TYPES}/{id}"), format!("{TYPES}/{id}/access"), format!("{TYPES}/{id}/action"));
    member.get(&path).await.expect(404);
    let grant = json!({ "addProjectAccess": { "project": member.project_id } });
    operator.post(&action, grant.clone()).await.expect(202);
    operator.post(&action, grant.clone()).await.expect(409);
    member.get(&path).await.expect(200);
    let listed = json!({ "share_group_type_access": [{ "share_group_type_id": id, "project_id": member.project_id }] });
    assert_eq!(operator.get(&access).await.expect(200), listed);
    let withdraw = json!({ "removeProjectAccess": { "project": member.project_id } });
    operator.post(&action, withdraw.clone()).await.expect(202);
    operator.post(&action, withdraw).await.expect(404);
    member.get(&path).await.expect(404);
    // a public one is everybody's already
    let public = text(&create(&site, json!({ "name": "p", "share_types": ["gold"] })).await["id"]);
    operator.get(&format!("{TYPES}/{public}/access")).await.expect(404);
    operator.post(&format!("{TYPES}/{public}/action"), grant.clone()).await.expect(409);
    operator.post(&format!("{TYPES}/{}/action", uuid()), grant).await.expect(404);
}

#[tokio::test]
async fn before_2_55_they_were_an_experiment() {
    let site = Site::start().await;
    let old = site.operator().await.at("2.54");
    old.get(TYPES).await.expect(404);
    let experimental = old.with_header("X-OpenStack-Manila-API-Experimental", "True");
    experimental.get(TYPES).await.expect(200);
    site.share_type("gold", json!({})).await;
    let body = json!({ "share_group_type": { "name": "g", "share_types": ["gold"] } });
    let made = experimental.at("2.45").post(TYPES, body).await.expect(200)["share_group_type"].clone();
    assert_eq!(keys(&made), ["group_specs", "id", "is_public", "name", "share_types"]);
    experimental.at("2.30").get(TYPES).await.expect(404);
}

#[tokio::test]
async fn types_are_found_by_their_specs_from_2_66() {
    let site = Site::start().await;
    let member = site.member().await;
    site.share_type("gold", json!({})).await;
    for (name, value) in [("one", "1"), ("two", "2")] {
        create(&site, json!({ "name": name, "share_types": ["gold"], "group_specs": { "n": value } })).await;
    }
    let path = format!("{TYPES}?group_specs={{'n':'2'}}");
    let found = member.get(&path).await.expect(200)["share_group_types"].clone();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["name"]), (1, &json!("two")));
    member.at("2.65").get(&path).await.expect(400);
}
