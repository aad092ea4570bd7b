//! One rule of a share: allowed until it is active, denied until it is gone.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};

use crate::{
    http::{Connection, Sample},
    report::{Column, Report, per_second},
    scale::Scale,
    service::Service,
};

pub async fn measure(report: &mut Report, column: Column, service: &Service, shares: &[String], scale: &Scale, say: &impl Fn(&str)) {
    for (at_once, count) in scale.cycles {
        let name = format!("access rule: allow until active, deny until gone, {at_once} at once");
        say(&name);
        let (whole, until_active) = cycles(service, &shares[..at_once], count / at_once).await;
        report.rate(column, &name, whole.rate(), per_second(&whole));
        let ms = |q| until_active.quantile(q).as_secs_f64() * 1000.0;
        let name = format!("access rule: allow until active, {at_once} at once");
        report.put(column, &name, format!("p50 {:.1} ms, p99 {:.1} ms", ms(0.5), ms(0.99)));
    }
}

/// Whole cycles, and what of each was the time until the rule was active. A share of its own for each worker.
async fn cycles(service: &Service, shares: &[String], each: usize) -> (Sample, Sample) {
    let begun = Instant::now();
    let workers = shares.iter().enumerate().map(|(worker, share)| {
        let (address, token, share, at_once) = (service.share(), service.token.clone(), share.clone(), shares.len());
        tokio::spawn(async move {
            let mut connection = Connection::open(&address, &token).await;
            let mut latencies = Vec::with_capacity(each);
            for n in 0..each {
                let address = format!("198.18.{worker}.{}", n % 256);
                latencies.push(cycle(&mut connection, &share, &address, at_once).await);
            }
            latencies
        })
    });
    let all: Vec<_> = futures::future::join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    let elapsed = begun.elapsed();
    let (whole, until_active) = all.into_iter().unzip();
    (Sample::new(whole, elapsed), Sample::new(until_active, elapsed))
}

async fn cycle(connection: &mut Connection, share: &str, to: &str, at_once: usize) -> (Duration, Duration) {
    let sent = Instant::now();
    let action = format!("/v2/shares/{share}/action");
    let allow = json!({ "allow_access": { "access_type": "ip", "access_to": to, "access_level": "rw" } });
    let made = connection.json(200, Method::POST, &action, Some(&allow)).await;
    let id = made["access"]["id"].as_str().unwrap().to_owned();
    let rule = format!("/v2/share-access-rules/{id}");
    until(connection, &rule, at_once, |status, found| {
        assert_eq!(status, 200, "{found}");
        assert_ne!(found["access"]["state"], "error", "{found}");
        found["access"]["state"] == "active"
    })
    .await;
    let until_active = sent.elapsed();
    connection.expect(202, Method::POST, &action, Some(&json!({ "deny_access": { "access_id": id } }))).await;
    until(connection, &rule, at_once, |status, _| status == 404).await;
    (sent.elapsed(), until_active)
}

/// Asks again and again, as clients do, with a longer pause where many wait.
async fn until(connection: &mut Connection, path: &str, at_once: usize, fits: impl Fn(u16, &Value) -> bool) {
    let begun = Instant::now();
    loop {
        tokio::time::sleep(Duration::from_millis(1 + at_once as u64)).await;
        let (status, body) = connection.send(Method::GET, path, None).await;
        let found: Value = serde_json::from_slice(&body).unwrap_or_default();
        if fits(status, &found) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{path}: {found}");
    }
}
