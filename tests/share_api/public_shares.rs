//! A public share is everybody's to see. Only its own project does anything with it.

use serde_json::{Value, json};

use crate::site::{Site, action, allow, create, snapshot, text, try_snapshot};

#[tokio::test]
async fn whoever_only_sees_a_public_share_changes_nothing_of_it() {
    let site = Site::start().await;
    let (member, operator, stranger) = (site.member().await, site.operator().await, site.stranger().await);
    let id = site.available_with(json!({ "metadata": { "k": "v" } })).await;
    operator.put(&format!("/shares/{id}"), json!({ "share": { "is_public": true } })).await.expect(200);
    let rule = allow(&member, &id, "10.0.0.1").await;
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["access_rules_status"] == "active").await;
    let taken = snapshot(&member, &id).await;
    let listed = member.get(&format!("/shares/{id}/export_locations")).await.expect(200);
    let location = text(&listed["export_locations"][0]["id"]);
    let located = format!("/shares/{id}/export_locations/{location}/metadata");
    member.post(&located, json!({ "metadata": { "k": "v" } })).await.expect(200);

    stranger.get(&format!("/shares/{id}")).await.expect(200);
    let pair = json!({ "metadata": { "k": "changed" } });
    let writes: Vec<(&str, String, Value)> = vec![
        ("PUT", format!("/shares/{id}"), json!({ "share": { "display_name": "mine" } })),
        ("DELETE", format!("/shares/{id}"), Value::Null),
        ("POST", action(&id), json!({ "extend": { "new_size": 2 } })),
        ("POST", action(&id), json!({ "shrink": { "new_size": 1 } })),
        ("POST", action(&id), json!({ "soft_delete": null })),
        ("POST", action(&id), json!({ "restore": null })),
        ("POST", action(&id), json!({ "revert": { "snapshot_id": taken } })),
        ("POST", action(&id), json!({ "reset_status": { "status": "error" } })),
        ("POST", action(&id), json!({ "force_delete": null })),
        ("POST", action(&id), json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.2" } })),
        ("POST", action(&id), json!({ "deny_access": { "access_id": rule } })),
        ("POST", format!("/shares/{id}/metadata"), pair.clone()),
        ("PUT", format!("/shares/{id}/metadata"), pair.clone()),
        ("DELETE", format!("/shares/{id}/metadata/k"), Value::Null),
        ("POST", located.clone(), pair.clone()),
        ("PUT", located.clone(), pair.clone()),
        ("POST", format!("{located}/k"), pair.clone()),
        ("DELETE", format!("{located}/k"), Value::Null),
        ("PUT", format!("/share-access-rules/{rule}"), json!({ "update_access": { "access_level": "ro" } })),
        ("PUT", format!("/share-access-rules/{rule}/metadata"), pair.clone()),
        ("POST", "/snapshots".to_owned(), json!({ "snapshot": { "share_id": id } })),
        ("POST", "/resource-locks".to_owned(), json!({ "resource_lock": { "resource_id": id, "resource_type": "share" } })),
        ("POST", "/resource-locks".to_owned(), json!({ "resource_lock": { "resource_id": rule, "resource_type": "access_rule" } })),
    ];
    for (verb, path, body) in writes {
        let answer = match verb {
            "PUT" => stranger.put(&path, body.clone()).await,
            "POST" => stranger.post(&path, body.clone()).await,
            _ => stranger.delete(&path).await,
        };
        assert!(matches!(answer.status.as_u16(), 400 | 403 | 404), "{verb} {path} {body}: {answer:?}");
    }

    let share = member.share_until(&id, "available").await;
    assert_eq!((&share["name"], &share["size"], &share["metadata"]), (&Value::Null, &json!(1), &json!({ "k": "v" })), "{share}");
    assert_eq!(member.get(&located).await.expect(200)["metadata"], json!({ "k": "v" }));
    let rules = member.get(&format!("/share-access-rules?share_id={id}")).await.expect(200);
    assert_eq!((rules["access_list"].as_array().map(Vec::len), &rules["access_list"][0]["access_level"]), (Some(1), &json!("rw")));
    let locks = operator.get("/resource-locks?all_projects=1").await.expect(200);
    assert_eq!(locks["resource_locks"], json!([]), "{locks}");
    assert_eq!(member.get("/snapshots").await.expect(200)["snapshots"].as_array().map(Vec::len), Some(1));
    assert_eq!(site.used(&stranger, "snapshots").await, 0);
    // and nothing keeps its own project from anything
    try_snapshot(&member, &id, json!({})).await.expect(202);
}

#[tokio::test]
async fn whoever_only_sees_a_public_share_reads_nothing_of_who_mounts_it() {
    let site = Site::start().await;
    let (member, operator, stranger) = (site.member().await, site.operator().await, site.stranger().await);
    let id = site.available().await;
    operator.put(&format!("/shares/{id}"), json!({ "share": { "is_public": true } })).await.expect(200);
    let rule = allow(&member, &id, "10.0.0.1").await;
    let taken = snapshot(&member, &id).await;
    stranger.get(&format!("/share-access-rules?share_id={id}")).await.expect(403);
    stranger.get(&format!("/share-access-rules/{rule}")).await.expect(403);
    stranger.at("2.44").post(&action(&id), json!({ "access_list": null })).await.expect(403);
    stranger.get(&format!("/snapshots/{taken}")).await.expect(404);
    stranger.get(&format!("/shares/{id}/instances")).await.expect(403);
    assert_eq!(stranger.get(&format!("/snapshots?share_id={id}")).await.expect(200)["snapshots"], json!([]));
}

#[tokio::test]
async fn what_is_ones_own_and_public_counts_once() {
    let site = Site::start().await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    let mine = [create(&member, json!({})).await, create(&member, json!({})).await];
    let theirs = [create(&stranger, json!({})).await, create(&stranger, json!({})).await];
    for id in [&mine[0], &theirs[0]] {
        operator.put(&format!("/shares/{id}"), json!({ "share": { "is_public": true } })).await.expect(200);
    }
    let listed = member.get("/shares?is_public=true&with_count=true").await.expect(200);
    assert_eq!((&listed["count"], listed["shares"].as_array().unwrap().len()), (&json!(3), 3), "{listed}");
}
