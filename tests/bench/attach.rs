//! The cycle of one attachment as Nova drives it, and what a driver call costs in it.

use std::time::Instant;

use hyper::Method;
use serde_json::{Value, json};

use crate::{
    http::{Connection, Sample},
    report::{self, Column, Report, per_second},
    scale::Scale,
    service::Service,
};

pub async fn measure(report: &mut Report, column: Column, service: &Service, volumes: &[String], scale: &Scale, say: &impl Fn(&str)) {
    for (at_once, count) in scale.cycles {
        let name = format!("attachment create + update + complete + delete, {at_once} at once");
        say(&name);
        let before = driver_calls(service).await;
        let sample = cycles(service, &volumes[..at_once], count / at_once).await;
        let after = driver_calls(service).await;
        report.rate(column, &name, sample.rate(), per_second(&sample));
        if at_once == 1 {
            let text = match (before, after) {
                (Some((n0, s0)), Some((n1, s1))) if n1 > n0 => format!("{:.3} ms", 1000.0 * (s1 - s0) / (n1 - n0)),
                _ => "not measured".to_owned(),
            };
            report.put(column, "one driver call through the sandbox (connect, disconnect)", text);
        }
    }
    report.put(column, "memory after the load (RSS)", report::mib(service.rss_kib()));
}

async fn cycles(service: &Service, volumes: &[String], each: usize) -> Sample {
    let begun = Instant::now();
    let workers = volumes.iter().enumerate().map(|(n, volume)| {
        let (address, token, project) = (service.block(), service.token.clone(), service.project_id.clone());
        let volume = volume.clone();
        tokio::spawn(async move {
            let mut connection = Connection::open(&address, &token).await;
            let mut latencies = Vec::with_capacity(each);
            for _ in 0..each {
                let sent = Instant::now();
                cycle(&mut connection, &project, &volume, n).await;
                latencies.push(sent.elapsed());
            }
            latencies
        })
    });
    let all = futures::future::join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    Sample::new(all, begun.elapsed())
}

async fn cycle(connection: &mut Connection, project: &str, volume: &str, worker: usize) {
    let all = format!("/v3/{project}/attachments");
    // without a server: the attachment of a server is only deleted for the compute service
    let body = json!({ "attachment": { "volume_uuid": volume } });
    let made = connection.json(200, Method::POST, &all, Some(&body)).await;
    let one = format!("{all}/{}", made["attachment"]["id"].as_str().unwrap());
    connection.expect(200, Method::PUT, &one, Some(&json!({ "attachment": { "connector": connector(worker) } }))).await;
    connection.expect(204, Method::POST, &format!("{one}/action"), Some(&json!({ "os-complete": null }))).await;
    connection.expect(200, Method::DELETE, &one, None).await;
}

fn connector(worker: usize) -> Value {
    json!({
        "host": format!("compute-{worker}"), "ip": "192.0.2.7", "initiator": format!("iqn.2026-11.org.example:{worker}"), "platform": "x86_64",
        "os_type": "linux", "multipath": false, "do_local_attach": false,
    })
}

/// Count and seconds of all driver calls so far.
async fn driver_calls(service: &Service) -> Option<(f64, f64)> {
    let mut connection = Connection::open(&service.admin(), &service.token).await;
    let text = connection.expect(200, Method::GET, "/metrics", None).await;
    let text = String::from_utf8_lossy(&text);
    let sum = |name: &str| -> Option<f64> {
        let lines = text.lines().filter(|l| l.starts_with(name));
        let values: Vec<f64> = lines.filter_map(|l| l.rsplit(' ').next()?.parse().ok()).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    };
    Some((sum("stowage_driver_call_seconds_count")?, sum("stowage_driver_call_seconds_sum")?))
}
