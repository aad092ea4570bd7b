//! How fast the shares of a back end are compared with what its driver finds: alone, and while shares are created there.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};

use crate::{
    create::{self, What},
    http::Connection,
    report::{self, Column, Report, per_second},
    scale::Scale,
    service::{SHARES, Service},
};

/// What a run may take.
const PATIENCE: Duration = Duration::from_secs(600);

pub async fn measure(report: &mut Report, column: Column, service: &Service, scale: &Scale, say: &impl Fn(&str)) {
    let many = report::thousands(scale.shares);
    let name = format!("ensure {many} shares");
    say(&name);
    begin(service).await;
    report.put(column, &name, end(service, scale).await);
    report.put(column, "memory after that (RSS)", report::mib(service.rss_kib()));

    let name = format!("ensure {many} shares, while shares are created");
    say(&name);
    begin(service).await;
    let ended = tokio::select! {
        biased;
        ended = end(service, scale) => ended,
        () = creates(report, column, service, &many) => unreachable!("creates go on"),
    };
    report.put(column, &name, ended);
}

/// Creates one after the other, as long as somebody waits; the row is that of what was created so far.
async fn creates(report: &mut Report, column: Column, service: &Service, many: &str) {
    let (mut all, begun) = (Vec::new(), Instant::now());
    loop {
        let (_, sample) = create::create(service, What::Share, 1, 1).await;
        all.extend(sample.latencies());
        let sample = crate::http::Sample::new(all.clone(), begun.elapsed());
        report.rate(column, &format!("create until available while {many} are ensured, 1 at once"), sample.rate(), per_second(&sample));
    }
}

async fn begin(service: &Service) {
    let mut share = Connection::open(&service.share(), &service.token).await;
    let asked = json!({ "ensure_shares": { "host": SHARES } });
    share.expect(202, Method::POST, "/v2/services/ensure-shares", Some(&asked)).await;
}

/// The run's rate, when it has ended well.
async fn end(service: &Service, scale: &Scale) -> String {
    let mut admin = Connection::open(&service.admin(), &service.token).await;
    let path = format!("/stowage/v1/backends/{SHARES}/ensure");
    let run = until(&mut admin, &path, |found| found["ensure"]["state"] != "running").await;
    let run = &run["ensure"];
    assert!(run["state"] == "done" && run["unchanged"].as_u64() >= Some(scale.shares as u64), "{run}");
    format!("{:.0} a second", run["rate"].as_f64().unwrap())
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
