//! Shares' metadata.

use serde_json::json;
use support::Persona;

use crate::{
    net,
    site::{Site, allow, snapshot, text, try_create, try_snapshot},
};

#[tokio::test]
async fn pairs_are_merged_replaced_set_and_removed() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available_with(json!({ "metadata": { "a": "1" } })).await;
    let all = format!("/shares/{id}/metadata");
    assert_eq!(member.get(&all).await.expect(200), json!({ "metadata": { "a": "1" } }));
    let merged = member.post(&all, json!({ "metadata": { "b": "2" } })).await.expect(200);
    assert_eq!(merged, json!({ "metadata": { "a": "1", "b": "2" } }));
    assert_eq!(member.get(&format!("{all}/b")).await.expect(200), json!({ "meta": { "b": "2" } }));
    let one = member.post(&format!("{all}/b"), json!({ "metadata": { "b": "3" } })).await.expect(200);
    assert_eq!(one, json!({ "metadata": { "b": "3" } }));
    let replaced = member.put(&all, json!({ "metadata": { "c": "4" } })).await.expect(200);
    assert_eq!(replaced, json!({ "metadata": { "c": "4" } }));
    member.delete(&format!("{all}/c")).await.expect(200);
    assert_eq!(member.get(&all).await.expect(200), json!({ "metadata": {} }));
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_what_is_bad_refused() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.available().await;
    let all = format!("/shares/{id}/metadata");
    member.get(&format!("{all}/none")).await.expect(404);
    member.delete(&format!("{all}/none")).await.expect(404);
    member.get("/shares/none/metadata").await.expect(404);
    for bad in [
        json!({}),
        json!({ "metadata": "text" }),
        json!({ "metadata": { "": "v" } }),
        json!({ "metadata": { "k": "" } }),
        json!({ "metadata": { "k": 1 } }),
        json!({ "metadata": { "k".repeat(256): "v" } }),
        json!({ "metadata": { "k": "v".repeat(1024) } }),
    ] {
        assert_eq!(member.post(&all, bad.clone()).await.status, 400, "{bad}");
        assert_eq!(member.put(&all, bad.clone()).await.status, 400, "{bad}");
    }
    member.post(&format!("{all}/a"), json!({ "metadata": { "b": "v" } })).await.expect(400);
    member.post(&format!("{all}/a"), json!({ "metadata": { "a": "v", "b": "v" } })).await.expect(400);
    let longest = json!({ "metadata": { "k".repeat(255): "v".repeat(1023) } });
    assert_eq!(member.put(&all, longest.clone()).await.expect(200), longest);
}

#[tokio::test]
async fn some_keys_are_the_operators() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.available().await;
    let all = format!("/shares/{id}/metadata");
    let theirs = json!({ "metadata": { "__affinity_same_host": "x" } });
    member.post(&all, theirs.clone()).await.expect(403);
    member.put(&all, theirs.clone()).await.expect(403);
    operator.post(&all, theirs.clone()).await.expect(200);
    member.delete(&format!("{all}/__affinity_same_host")).await.expect(403);
    // it stays when the owner replaces all pairs
    let replaced = member.put(&all, json!({ "metadata": { "own": "1" } })).await.expect(200);
    assert_eq!(replaced, json!({ "metadata": { "__affinity_same_host": "x", "own": "1" } }));
    operator.delete(&format!("{all}/__affinity_same_host")).await.expect(200);
}

#[tokio::test]
async fn readers_read() {
    let site = Site::start().await;
    let reader = site.share(Persona::Reader).await;
    let id = site.available().await;
    let all = format!("/shares/{id}/metadata");
    reader.get(&all).await.expect(200);
    reader.post(&all, json!({ "metadata": { "a": "1" } })).await.expect(403);
    site.stranger().await.get(&all).await.expect(404);
    site.stranger().await.post(&all, json!({ "metadata": { "a": "1" } })).await.expect(404);
}

/// Pairs by their number.
fn many(from: usize, to: usize) -> serde_json::Value {
    let pairs: serde_json::Map<_, _> = (from..to).map(|n| (format!("k{n}"), json!("v"))).collect();
    serde_json::Value::Object(pairs)
}

#[tokio::test]
async fn nothing_has_more_than_128_pairs_for_drivers_are_given_all_of_them() {
    let site = Site::start().await;
    let member = site.member().await;
    try_create(&member, json!({ "metadata": many(0, 129) })).await.expect(413);
    let share = site.available_with(json!({ "metadata": many(0, 128) })).await;
    try_snapshot(&member, &share, json!({ "metadata": many(0, 129) })).await.expect(413);
    let taken = snapshot(&member, &share).await;
    let rule = allow(&member, &share, "10.0.0.1").await;
    let listed = member.get(&format!("/shares/{share}/export_locations")).await.expect(200);
    let location = text(&listed["export_locations"][0]["id"]);
    let network = net::network(&member, json!({})).await;
    let subnet = net::subnet_ids(&member, &network).await.remove(0);
    for (path, merges_by) in [
        (format!("/shares/{share}/metadata"), "POST"),
        (format!("/snapshots/{taken}/metadata"), "POST"),
        (format!("/shares/{share}/export_locations/{location}/metadata"), "POST"),
        (format!("/share-networks/{network}/subnets/{subnet}/metadata"), "POST"),
        (format!("/share-access-rules/{rule}/metadata"), "PUT"),
    ] {
        let merge = async |pairs| {
            let body = json!({ "metadata": pairs });
            if merges_by == "POST" { member.post(&path, body).await } else { member.put(&path, body).await }
        };
        merge(many(0, 128)).await.expect(200);
        assert_eq!(merge(many(128, 129)).await.status, 413, "{path}");
        assert_eq!(merge(many(0, 129)).await.status, 413, "{path}");
        merge(many(5, 6)).await.expect(200);
        member.delete(&format!("{path}/k0")).await.expect(200);
        merge(many(128, 129)).await.expect(200);
        if merges_by == "POST" {
            member.put(&path, json!({ "metadata": many(200, 328) })).await.expect(200);
        }
    }
}
