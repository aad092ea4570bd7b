//! Why something that was accepted came to nothing, as its owner reads it.

use serde_json::{Value, json};
use support::Client;

use crate::site::{Site, create, keys, text, uuid};

/// A share that no back end has room for; its id.
async fn too_large(site: &Site, member: &Client) -> String {
    let id = create(member, json!({ "size": 999_999, "name": uuid() })).await;
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error").await;
    assert!(!site.messages(&id).await.is_empty());
    id
}

async fn unlimited() -> Site {
    Site::configured(vec![crate::site::backend("m", json!({}))], |c| c.quota.share.gigabytes = -1).await
}

async fn list(client: &Client, query: &str) -> Vec<Value> {
    client.get(&format!("/messages{query}")).await.expect(200)["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_message_says_what_failed_and_goes_when_it_is_deleted() {
    let site = unlimited().await;
    let member = site.member().await;
    let share = too_large(&site, &member).await;
    let listed = list(&member, "").await;
    assert_eq!(listed.len(), 1);
    let message = &listed[0];
    assert_eq!(
        keys(message),
        [
            "action_id",
            "created_at",
            "detail_id",
            "expires_at",
            "id",
            "links",
            "message_level",
            "project_id",
            "request_id",
            "resource_id",
            "resource_type",
            "user_message"
        ]
    );
    assert_eq!((&message["resource_id"], &message["resource_type"]), (&json!(share), &json!("SHARE")));
    assert_eq!((&message["action_id"], &message["message_level"]), (&json!("001"), &json!("ERROR")));
    assert!(text(&message["user_message"]).starts_with("allocate host: No storage could be allocated"), "{message}");
    let path = format!("/messages/{}", text(&message["id"]));
    assert_eq!(&member.get(&path).await.expect(200)["message"], message);
    assert!(text(&message["links"][0]["href"]).ends_with(&format!("/v2{path}")));
    site.stranger().await.get(&path).await.expect(404);
    site.stranger().await.delete(&path).await.expect(404);
    member.delete(&path).await.expect(204);
    member.get(&path).await.expect(404);
    member.delete(&path).await.expect(404);
}

#[tokio::test]
async fn messages_came_with_2_37() {
    let site = Site::start().await;
    let member = site.member().await.at("2.36");
    for path in ["/messages", "/messages/none"] {
        member.get(path).await.expect(404);
    }
    member.at("2.37").get("/messages").await.expect(200);
}

#[tokio::test]
async fn a_list_has_filters_sorts_and_pages() {
    let site = unlimited().await;
    let member = site.member().await;
    let (one, two) = (too_large(&site, &member).await, too_large(&site, &member).await);
    let of = |messages: Vec<Value>| messages.iter().map(|m| text(&m["resource_id"])).collect::<Vec<_>>();
    assert_eq!(of(list(&member, "").await), [two.clone(), one.clone()], "the newest first");
    assert_eq!(of(list(&member, "?sort_key=created_at&sort_dir=asc").await), [one.clone(), two.clone()]);
    for key in ["id", "request_id", "resource_type", "action_id", "detail_id", "message_level", "expires_at", "resource_id"] {
        assert_eq!(list(&member, &format!("?sort_key={key}&sort_dir=asc")).await.len(), 2, "{key}");
    }
    member.get("/messages?sort_key=color").await.expect(400);
    assert_eq!(of(list(&member, &format!("?resource_id={one}")).await), [one.clone()]);
    let first = list(&member, &format!("?resource_id={one}")).await[0].clone();
    assert_eq!(list(&member, &format!("?request_id={}", text(&first["request_id"]))).await, [first.clone()]);
    for (query, found) in [
        ("?resource_type=SHARE&message_level=ERROR&action_id=001", 2),
        ("?resource_type=SHARE_SNAPSHOT", 0),
        ("?detail_id=none", 0),
        ("?color=red", 2),
        ("?created_since=2020-01-01T00:00:00", 2),
        ("?created_before=2020-01-01T00:00:00", 0),
        ("?limit=1&offset=1", 1),
    ] {
        assert_eq!(list(&member, query).await.len(), found, "{query}");
    }
    assert_eq!(list(&member.at("2.51"), "?created_before=2020-01-01T00:00:00").await.len(), 2);
    member.get("/messages?created_since=yesterday").await.expect(400);
    let page = member.get("/messages?limit=1").await.expect(200);
    let next = text(&page["messages_links"][0]["href"]);
    let marker = next.split("marker=").nth(1).unwrap();
    member.delete(&format!("/messages/{marker}")).await.expect(204);
    assert_eq!(of(list(&member, &format!("?limit=1&marker={marker}")).await), [one]);
}

#[tokio::test]
async fn operators_read_every_projects_and_the_block_services_are_apart() {
    let site = unlimited().await;
    let member = site.member().await;
    let share = too_large(&site, &member).await;
    assert!(list(&site.stranger().await, "").await.is_empty());
    let all = list(&site.operator().await, "").await;
    assert_eq!(all[0]["resource_id"], json!(share));
    let block = site.block(support::Persona::Member).await.at("3.71");
    assert_eq!(block.get("/messages").await.expect(200)["messages"], json!([]));
    block.get(&format!("/messages/{}", text(&all[0]["id"]))).await.expect(404);
}
