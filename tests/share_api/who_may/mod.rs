//! Who may call what: every route of the share API, with every persona, on things of the own project and of another one,
//! against upstream's table of operations and roles (`tests/upstream/share-operations.txt`).

mod maker;

use http::Method;
use serde_json::json;
use stowage::api::{
    self,
    route::{Api, Route},
};
use support::{Answer, Client, callers::callers, coverage, record};

use self::maker::{Call, Maker};
use crate::{
    served::{SERVED, servers, subnet},
    site::{LATEST, Site, action, backend, snapshot, snapshot_action, text, uuid},
};

/// Whether the operation is about something that belongs to a project other than by being the caller's.
fn about_a_project(operation: &str) -> bool {
    let theirs = [
        "/shares/{}",
        "/snapshots/{}",
        "/share-access-rules",
        "/messages/{}",
        "quota-sets/{}",
        "/share-networks/{}",
        "/security-services/{}",
    ];
    theirs.iter().any(|path| operation.contains(path)) || operation == "POST /v2/snapshots"
}

fn path(route: &Route, ids: &[String]) -> String {
    let mut ids = ids.iter();
    let path: Vec<&str> = route.path.split('/').map(|s| if s.starts_with('{') { ids.next().unwrap().as_str() } else { s }).collect();
    format!("{}{}", path.join("/"), ids.next().map_or("", String::as_str))
}

/// The newest version that has the route.
fn version(route: &Route) -> String {
    if route.until == u16::MAX { LATEST.to_owned() } else { format!("2.{}", route.until) }
}

/// Calls it as `client`, in the newest version that has it.
async fn send(client: &Client, route: &Route, call: &Call) -> Answer {
    let root = if route.rooted { "" } else { "/v2" };
    let mut client = client.at(&version(route)).rooted_at(root);
    if route.experimental {
        client = client.with_header("X-OpenStack-Manila-API-Experimental", "True");
    }
    client.send(route.method.http(), &path(route, &call.ids), call.body.clone()).await
}

/// A service on which everything can be called.
pub async fn roomy() -> Site {
    let idle = backend("idle", json!({ "share_protocols": ["cifs"], "driver_handles_share_servers": "yes" }));
    let (from, to) = (servers("from", json!({})), servers("to", json!({ "pools": ["p1:100"] })));
    let site = Site::configured(vec![backend("m", json!({})), backend("spare", json!({ "pools": ["p1:1"] })), idle, from, to], |c| {
        c.network.subnets = vec![subnet("blue", "10.1.0.0/16", None)];
        c.network.default_subnet = "blue".to_owned();
        let quota = &mut c.quota.share;
        (quota.shares, quota.gigabytes, quota.snapshots, quota.snapshot_gigabytes, quota.share_networks) = (-1, -1, -1, -1, -1);
    })
    .await;
    let specs = ["snapshot_support", "create_share_from_snapshot_support", "revert_to_snapshot_support", "mount_snapshot_support"];
    site.share_type(SERVED, json!({ "driver_handles_share_servers": "True" })).await;
    site.share_type("whole", specs.iter().map(|s| ((*s).to_owned(), json!("True"))).collect::<serde_json::Map<_, _>>().into()).await;
    site
}

/// Calls every route once, as an operator.
pub async fn everything(site: &Site) {
    let maker = Maker { site, member: site.member().await, operator: site.operator().await };
    for route in api::routes(Api::Share) {
        let operation = coverage::bare(&record::operation(&route));
        if let Some(call) = maker.call(&operation, route.action.unwrap_or("-")).await {
            let answer = send(&maker.operator, &route, &call).await;
            assert_eq!(answer.status.as_u16(), route.success, "{operation}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn every_route_lets_in_whom_upstreams_table_lets_in_and_nobody_else() {
    let site = roomy().await;
    let callers = callers(site.personas().await, Api::Share, &site.url(Api::Share), &site.url(Api::Identity)).await;
    let maker = Maker { site: &site, member: site.member().await, operator: site.operator().await };
    let table = coverage::upstream(Api::Share);
    let mut wrong = Vec::new();
    for route in api::routes(Api::Share) {
        let operation = coverage::bare(&record::operation(&route));
        let action = route.action.unwrap_or("-");
        // there are no extensions, so none can be shown; a lock is its user's, as its own tests say
        if operation == "GET /v2/extensions/{}" || operation.contains("/resource-locks") {
            continue;
        }
        let Some(row) = table.iter().find(|u| u.operation() == operation && u.action == action) else {
            wrong.push(format!("{operation} {action}: tests/upstream/share-operations.txt does not have it"));
            continue;
        };
        let Some(mut call) = maker.call(&operation, action).await else {
            wrong.push(format!("{operation} {action}: who_may.rs does not say how it is called"));
            continue;
        };
        let mut used = false;
        for caller in &callers {
            let allowed = caller.may(row.role, about_a_project(&operation));
            if allowed && used && route.method.http() != Method::GET {
                call = maker.call(&operation, action).await.unwrap();
            }
            used |= allowed;
            let answer = send(&caller.client, &route, &call).await;
            let status = answer.status.as_u16();
            let right = match (allowed, caller.own) {
                (true, _) => status == route.success,
                // it is there, and not for him
                (false, true) => status == 403,
                // a share that a query names and that is not there is a bad query
                (false, false) if operation == "GET /v2/share-access-rules" => status == 400 || status == 403,
                (false, false) => status == 403 || status == 404,
            };
            if !right {
                let not = if allowed { "" } else { "not " };
                wrong.push(format!("{operation} {action}: {} should {not}be let in: {answer:?}", caller.name));
            }
        }
        if row.role != "public" {
            let nobody = site.anonymous(Api::Share).at(&version(&route));
            let nobody = nobody.send(route.method.http(), &path(&route, &call.ids), call.body.clone()).await;
            if nobody.status != 401 {
                wrong.push(format!("{operation} {action}: without a token: {nobody:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_coverage_page_shows_the_route_table_as_it_is() {
    let page = include_str!("../../../docs/share-api-coverage.md");
    assert_eq!(coverage::stale(Api::Share, page), Vec::<String>::new(), "`make api-coverage` writes it anew");
}

#[tokio::test]
async fn what_belongs_to_another_project_is_not_there_for_its_users() {
    let site = Site::start().await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let share = site.available().await;
    let taken = snapshot(&member, &share).await;
    let theirs = text(&stranger.post("/shares", json!({ "share": { "share_proto": "NFS", "size": 1 } })).await.expect(200)["share"]["id"]);
    for path in [format!("/shares/{share}"), format!("/snapshots/{taken}"), format!("/snapshots/{taken}/metadata")] {
        assert_eq!(stranger.get(&path).await.status, 404, "{path}");
    }
    for path in [format!("/shares/{share}"), format!("/snapshots/{taken}"), format!("/snapshots/{taken}/metadata/k")] {
        assert_eq!(stranger.delete(&path).await.status, 404, "{path}");
    }
    for (path, body) in [
        (action(&share), json!({ "extend": { "new_size": 2 } })),
        (action(&share), json!({ "revert": { "snapshot_id": taken } })),
        (snapshot_action(&taken), json!({ "deny_access": { "access_id": uuid() } })),
        ("/snapshots".to_owned(), json!({ "snapshot": { "share_id": share } })),
        ("/shares".to_owned(), json!({ "share": { "share_proto": "NFS", "size": 1, "snapshot_id": taken } })),
    ] {
        assert_eq!(stranger.post(&path, body.clone()).await.status, 404, "{path} {body}");
    }
    // nor is another project's snapshot a state of one's own share
    stranger.share_until(&theirs, "available").await;
    let refused = stranger.post(&action(&theirs), json!({ "revert": { "snapshot_id": taken } })).await;
    assert!(refused.status == 400, "{refused:?}");
    let operators = site.operator().await.post(&action(&theirs), json!({ "revert": { "snapshot_id": taken } })).await;
    assert!(operators.status == 400, "{operators:?}");
}
