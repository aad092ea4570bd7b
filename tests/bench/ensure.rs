//! How fast the shares of a back end are compared with what its driver finds, while nobody else asks for anything.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};
use support::many_shares;

use crate::{
    http::Connection,
    report::{self, Column, Report},
    scale::Scale,
    service::{SHARES, Service},
};

/// What a run of this many may take.
const PATIENCE: Duration = Duration::from_secs(600);

pub async fn measure(report: &mut Report, column: Column, service: &Service, scale: &Scale, say: &impl Fn(&str)) {
    let name = format!("ensure {} shares", report::thousands(scale.shares));
    say(&name);
    let mut share = Connection::open(&service.share(), &service.token).await;
    let body = json!({ "share": { "share_proto": "NFS", "size": 1, "name": "bench" } });
    let made = share.json(200, Method::POST, "/v2/shares", Some(&body)).await;
    let id = made["share"]["id"].as_str().unwrap().to_owned();
    until(&mut share, &format!("/v2/shares/{id}"), |found| found["share"]["status"] == "available").await;
    many_shares::copies(&service.config().database_url(), &id, i64::try_from(scale.shares).unwrap()).await;
    let asked = json!({ "ensure_shares": { "host": SHARES } });
    share.expect(202, Method::POST, "/v2/services/ensure-shares", Some(&asked)).await;
    let mut admin = Connection::open(&service.admin(), &service.token).await;
    let run = until(&mut admin, &format!("/stowage/v1/backends/{SHARES}/ensure"), |found| found["ensure"]["state"] != "running").await;
    let run = &run["ensure"];
    assert!(run["state"] == "done" && run["unchanged"].as_u64() > Some(scale.shares as u64), "{run}");
    report.put(column, &name, format!("{:.0} a second", run["rate"].as_f64().unwrap()));
}

async fn until(connection: &mut Connection, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let found = connection.json(200, Method::GET, path, None).await;
        if fits(&found) {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{path}: {found}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
