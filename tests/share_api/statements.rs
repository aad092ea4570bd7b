//! No statement on a request's way reads a table whole that grows with what users have, nor sorts one to show its newest:
//! SQLite's own plans say so.

use serde_json::json;
use support::statements;

use crate::{
    listening,
    site::{Site, action, allow},
    who_may,
};

/// Small tables and parts of a statement that only this API has.
const SMALL: &[&str] = &["found", "share_group_types"];

/// What no request does, of this API's things.
const BEHIND_IT: &[&str] = &[
    // what usage should be, asked by an operator
    "WITH held AS (",
    "SELECT project_id, user_id, type_id, resource, used AS amount FROM quota_usage ORDER BY project_id",
    // what servers are called, when an operator takes one over: whatever stands around the names, no index finds it
    "SELECT id, identifier FROM share_servers ORDER BY id",
    // a pool of addresses that is made again when its subnet was configured otherwise, or never used
    "SELECT network_key, ip_address FROM network_allocations WHERE network_key <> $1",
    // from the newest on
    "SELECT seq, id, kind, resource_kind, resource_id, order_key, backend, state, worker, generation, attempts, failures, run_at, \
     created_at, expires_at, ended_at, reason, outcome, request_id, project_id FROM jobs WHERE 1 = 1",
];

/// Lists that look some rows up and sort those: of what a page is made of, of one back end, of one server, of one network. And an operator's
/// list of everybody's things in an order that has no index.
const KNOWN: &[&str] = &[" IN (SELECT ", "i.backend = ", "i.share_server_id = ", "v.share_network_id = ", " ORDER BY COALESCE("];

/// Lists in every order that has an index, and with the filters that clients send.
async fn lists(site: &Site) {
    let (member, operator) = (site.member().await, site.operator().await);
    let share = site.available_with(json!({ "name": "first", "metadata": { "k": "v" } })).await;
    let rule = allow(&member, &share, "10.0.0.1").await;
    member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
    let location = member.get(&format!("/shares/{share}/export_locations")).await.expect(200)["export_locations"][0].clone();
    let network = member.post("/share-networks", json!({ "share_network": {} })).await.expect(200)["share_network"]["id"].clone();
    for path in [
        "/shares?limit=1".to_owned(),
        "/shares/detail?limit=1&with_count=true".to_owned(),
        format!("/shares/detail?limit=1&marker={share}"),
        "/shares/detail?limit=1&offset=1&is_public=true".to_owned(),
        "/shares/detail?limit=1&with_count=true&is_public=true".to_owned(),
        format!("/shares/detail?limit=1&is_public=true&marker={share}"),
        "/shares/detail?name=first&status=available".to_owned(),
        "/shares/detail?is_soft_deleted=true".to_owned(),
        format!("/shares?export_location_id={}", location["id"].as_str().unwrap()),
        format!("/shares?export_location_path={}", location["path"].as_str().unwrap()),
        format!("/shares?share_network_id={}", network.as_str().unwrap()),
        format!("/snapshots/detail?limit=1&share_id={share}"),
        format!("/share-access-rules?share_id={share}"),
        "/share-networks/detail?limit=1".to_owned(),
        "/security-services/detail?limit=1".to_owned(),
        "/messages?limit=1".to_owned(),
        "/resource-locks?limit=1".to_owned(),
    ] {
        member.get(&path).await.expect(200);
    }
    for path in
        ["/shares/detail?all_tenants=1&limit=1", "/snapshots?all_tenants=1&limit=1", "/share_instances?limit=1", "/share-servers?limit=1"]
    {
        operator.get(path).await.expect(200);
    }
    operator.get("/shares?all_tenants=1&host=stowage@m").await.expect(200);
    member.post(&action(&share), json!({ "soft_delete": null })).await.expect(202);
}

#[tokio::test]
async fn no_request_reads_a_growing_table_whole() {
    if !statements::is_alone("statements::no_request_reads_a_growing_table_whole") {
        return;
    }
    listening::listen();
    let site = who_may::roomy().await;
    who_may::everything(&site).await;
    lists(&site).await;
    let plans = statements::plans(SMALL, BEHIND_IT).await;
    assert!(plans.explained > 150, "only {} statements were seen", plans.explained);
    let wrong = |found: Vec<String>| found.into_iter().filter(|sql| !KNOWN.iter().any(|part| sql.contains(part))).collect::<Vec<_>>();
    let (whole, sorted) = (wrong(plans.whole), wrong(plans.sorted));
    assert!(whole.is_empty() && sorted.is_empty(), "whole: {whole:#?}, sorted: {sorted:#?}");
}
