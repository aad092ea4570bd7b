//! Limits of projects, of users and of types in them, as operators set them and everybody reads them.

use serde_json::{Value, json};
use support::{Client, Persona};

use crate::site::{Site, action, create, keys, snapshot, try_create, try_snapshot, uuid};

fn path(of: &Client) -> String {
    format!("/quota-sets/{}", of.project_id)
}

async fn show(client: &Client, path: &str) -> Value {
    client.get(path).await.expect(200)["quota_set"].clone()
}

async fn set(operator: &Client, path: &str, limits: Value) -> Value {
    operator.put(path, json!({ "quota_set": limits })).await.expect(200)["quota_set"].clone()
}

#[tokio::test]
async fn a_project_has_the_configured_limits_until_it_is_given_its_own() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let path = path(&member);
    let before = show(&member, &path).await;
    assert_eq!((&before["id"], &before["shares"], &before["per_share_gigabytes"]), (&json!(member.project_id), &json!(50), &json!(-1)));
    let after = set(&operator, &path, json!({ "shares": 1, "gigabytes": "7", "tenant_id": member.project_id, "snapshots": null })).await;
    assert_eq!((&after["shares"], &after["gigabytes"], &after["snapshots"], after.get("id")), (&json!(1), &json!(7), &json!(50), None));
    create(&member, json!({})).await;
    let refused = try_create(&member, json!({})).await.expect(413);
    assert!(refused["overLimit"]["message"].as_str().unwrap().starts_with("ShareLimitExceeded: "), "{refused}");
    assert_eq!(show(&member, &format!("{path}/defaults")).await["shares"], 50);
    operator.delete(&path).await.expect(202);
    assert_eq!(show(&member, &path).await, before);
    create(&member, json!({})).await;
}

#[tokio::test]
async fn the_keys_follow_the_version_and_the_path_lost_its_prefix() {
    let site = Site::start().await;
    let member = site.member().await;
    let (old, new) = (format!("/os-quota-sets/{}", member.project_id), path(&member));
    let base = ["gigabytes", "id", "share_networks", "shares", "snapshot_gigabytes", "snapshots"];
    assert_eq!(keys(&show(&member.at("2.6"), &old).await), base);
    assert_eq!(keys(&show(&member.at("2.6"), &format!("{old}/defaults")).await), base);
    assert_eq!(keys(&show(&member.at("2.7"), &new).await), base);
    for (version, count) in [("2.40", 8), ("2.53", 10), ("2.62", 11), ("2.80", 13), ("2.90", 14)] {
        assert_eq!(keys(&show(&member.at(version), &new).await).len(), count, "{version}");
    }
    member.at("2.6").get(&new).await.expect(404);
    member.at("2.7").get(&old).await.expect(404);
    member.at("2.24").get(&format!("{new}/detail")).await.expect(404);
    member.at("2.25").get(&format!("{new}/detail")).await.expect(200);
}

#[tokio::test]
async fn the_older_paths_take_changes_too() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await.at("2.6"));
    let path = format!("/os-quota-sets/{}", member.project_id);
    assert_eq!(set(&operator, &path, json!({ "share_networks": 3 })).await["share_networks"], 3);
    operator.delete(&path).await.expect(202);
    assert_eq!(show(&operator, &path).await["share_networks"], 10);
    let class = "/os-quota-class-sets/default";
    let body = json!({ "quota_class_set": { "class_name": "default", "share_networks": 4 } });
    assert_eq!(operator.put(class, body).await.expect(200)["quota_class_set"]["share_networks"], 4);
    assert_eq!(operator.get(class).await.expect(200)["quota_class_set"]["share_networks"], 4);
}

#[tokio::test]
async fn the_detail_says_what_is_used_in_all_by_a_user_and_of_a_type() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    site.share_type("other", json!({})).await;
    let share = site.available_with(json!({ "size": 3 })).await;
    snapshot(&member, &share).await;
    site.available_with(json!({ "share_type": "other" })).await;
    let detail = format!("{}/detail", path(&member));
    let all = show(&member, &detail).await;
    assert_eq!(all["gigabytes"], json!({ "limit": 1000, "in_use": 4, "reserved": 0 }));
    assert_eq!(
        (&all["shares"]["in_use"], &all["snapshots"]["in_use"], &all["snapshot_gigabytes"]["in_use"]),
        (&json!(2), &json!(1), &json!(3))
    );
    let mine = show(&member, &format!("{detail}?user_id={}", member.user_id)).await;
    assert_eq!(mine["gigabytes"]["in_use"], 4);
    let nobodys = show(&operator, &format!("{detail}?user_id={}", uuid())).await;
    assert_eq!(nobodys["gigabytes"], json!({ "limit": 1000, "in_use": 0, "reserved": 0 }));
    let of_type = show(&member, &format!("{detail}?share_type=other")).await;
    assert_eq!(of_type["gigabytes"]["in_use"], 1);
    assert_eq!((of_type.get("share_networks"), of_type.get("share_groups")), (None, None));
}

#[tokio::test]
async fn a_users_limit_is_within_the_projects() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let (project, user) = (path(&member), format!("{}?user_id={}", path(&member), member.user_id));
    set(&operator, &project, json!({ "shares": 5 })).await;
    assert_eq!(show(&member, &user).await["shares"], 5, "the project's, until the user has one");
    for refused in [json!({ "shares": 6 }), json!({ "shares": -1 })] {
        assert_eq!(operator.put(&user, json!({ "quota_set": refused })).await.status, 400, "{refused}");
    }
    assert_eq!(set(&operator, &user, json!({ "shares": 1 })).await["shares"], 1);
    // the project's is not less than what its users were promised together
    operator.put(&project, json!({ "quota_set": { "shares": 0 } })).await.expect(400);
    create(&member, json!({})).await;
    try_create(&member, json!({})).await.expect(413);
    operator.delete(&user).await.expect(202);
    assert_eq!(show(&member, &project).await["shares"], 5, "the project's stays");
    create(&member, json!({})).await;
}

#[tokio::test]
async fn a_projects_limits_go_with_those_of_its_users_and_the_block_apis_stay() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let (project, user) = (path(&member), format!("{}?user_id={}", path(&member), member.user_id));
    let block = site.block(Persona::Admin).await;
    let blocks = format!("/os-quota-sets/{}", member.project_id);
    block.put(&blocks, json!({ "quota_set": { "gigabytes": 3 } })).await.expect(200);
    set(&operator, &project, json!({ "gigabytes": 5 })).await;
    set(&operator, &user, json!({ "gigabytes": 4 })).await;
    operator.delete(&project).await.expect(202);
    assert_eq!(show(&member, &user).await["gigabytes"], 1000);
    assert_eq!(block.get(&blocks).await.expect(200)["quota_set"]["gigabytes"], 3);
    set(&operator, &project, json!({ "gigabytes": 5 })).await;
    block.delete(&blocks).await.expect(200);
    assert_eq!(show(&member, &project).await["gigabytes"], 5);
}

#[tokio::test]
async fn a_type_has_limits_from_2_39() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    site.share_type("small", json!({ "snapshot_support": "True" })).await;
    let of_type = format!("{}?share_type=small", path(&member));
    operator.at("2.38").get(&of_type).await.expect(400);
    operator.at("2.38").put(&of_type, json!({ "quota_set": { "shares": 1 } })).await.expect(400);
    operator.at("2.38").delete(&of_type).await.expect(400);
    let limits = json!({ "shares": 1, "snapshots": 0, "per_share_gigabytes": 2 });
    assert_eq!(set(&operator.at("2.62"), &of_type, limits).await["shares"], 1);
    for refused in [json!({ "share_networks": 1 }), json!({ "share_groups": 1 })] {
        assert_eq!(operator.put(&of_type, json!({ "quota_set": refused })).await.status, 400, "{refused}");
    }
    try_create(&member, json!({ "share_type": "small", "size": 3 })).await.expect(413);
    let share = site.available_with(json!({ "share_type": "small" })).await;
    try_create(&member, json!({ "share_type": "small" })).await.expect(413);
    try_snapshot(&member, &share, json!({})).await.expect(413);
    member.post(&action(&share), json!({ "extend": { "new_size": 3 } })).await.expect(413);
    create(&member, json!({ "size": 3 })).await;
    operator.delete(&of_type).await.expect(202);
    create(&member, json!({ "share_type": "small", "size": 3 })).await;
    operator.get(&format!("{}?share_type=none", path(&member))).await.expect(404);
    operator.get(&format!("{of_type}&user_id={}", member.user_id)).await.expect(400);
}

#[tokio::test]
async fn a_limit_is_not_less_than_what_is_used_unless_it_is_forced() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    site.available_with(json!({ "size": 3 })).await;
    let path = path(&member);
    operator.put(&path, json!({ "quota_set": { "gigabytes": 2 } })).await.expect(400);
    assert_eq!(set(&operator, &path, json!({ "gigabytes": 2, "force": true })).await["gigabytes"], 2);
    assert_eq!(set(&operator, &path, json!({ "gigabytes": 1, "force": "True" })).await["gigabytes"], 1);
    assert_eq!(set(&operator, &path, json!({ "gigabytes": -1 })).await["gigabytes"], -1);
    try_create(&member, json!({ "size": 5000 })).await.expect(200);
}

#[tokio::test]
async fn what_is_not_right_is_refused_and_changes_nothing() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let path = path(&member);
    for bad in [
        json!({ "shares": "x" }),
        json!({ "shares": -2 }),
        json!({ "colors": 1 }),
        json!({ "shares": 1.5 }),
        json!({ "shares": 7, "colors": 1 }),
    ] {
        assert_eq!(operator.put(&path, json!({ "quota_set": bad })).await.status, 400, "{bad}");
    }
    operator.put(&path, json!({})).await.expect(400);
    for (name, before) in [
        ("share_groups", "2.39"),
        ("replica_gigabytes", "2.52"),
        ("per_share_gigabytes", "2.61"),
        ("backups", "2.79"),
        ("encryption_keys", "2.89"),
    ] {
        assert_eq!(operator.at(before).put(&path, json!({ "quota_set": { name: 1 } })).await.status, 400, "{name}");
    }
    assert_eq!(show(&member, &path).await["shares"], 50);
}

#[tokio::test]
async fn a_class_is_for_all_projects_without_limits_of_their_own() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let class = "/quota-class-sets/default";
    let answer = operator.put(class, json!({ "quota_class_set": { "shares": 7 } })).await.expect(200);
    assert_eq!((&answer["quota_class_set"]["shares"], answer["quota_class_set"].get("id")), (&json!(7), None));
    let shown = operator.get(class).await.expect(200)["quota_class_set"].clone();
    assert_eq!((&shown["id"], &shown["shares"], keys(&shown).len()), (&json!("default"), &json!(7), 14));
    assert_eq!(show(&member, &path(&member)).await["shares"], 7);
    member.put(class, json!({ "quota_class_set": { "shares": 9 } })).await.expect(403);
    operator.put(class, json!({ "quota_class_set": { "colors": 9 } })).await.expect(400);
}

#[tokio::test]
async fn only_operators_change_limits_and_others_are_not_read() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let path = path(&member);
    member.put(&path, json!({ "quota_set": { "shares": 99 } })).await.expect(403);
    member.delete(&path).await.expect(403);
    for of in ["", "/detail", "/defaults"] {
        stranger.get(&format!("{path}{of}")).await.expect(403);
    }
    site.share(Persona::Reader).await.at("2.99").get(&path).await.expect(200);
}

#[tokio::test]
async fn limits_in_short_say_what_is_used() {
    let site = Site::start().await;
    let member = site.member().await;
    let share = site.available_with(json!({ "size": 2 })).await;
    snapshot(&member, &share).await;
    let at = |version: &'static str| {
        let client = member.at(version);
        async move { client.get("/limits").await.expect(200)["limits"].clone() }
    };
    let newest = at("2.99").await;
    assert_eq!(newest["rate"], json!([]));
    let absolute = &newest["absolute"];
    assert_eq!((&absolute["maxTotalShares"], &absolute["totalSharesUsed"]), (&json!(50), &json!(1)));
    assert_eq!((&absolute["totalShareGigabytesUsed"], &absolute["totalSnapshotGigabytesUsed"]), (&json!(2), &json!(2)));
    assert_eq!(absolute["totalShareSnapshotsUsed"], 1);
    for (version, count) in [("2.0", 10), ("2.53", 14), ("2.58", 18), ("2.80", 22), ("2.99", 22)] {
        assert_eq!(keys(&at(version).await["absolute"]).len(), count, "{version}");
    }
}
