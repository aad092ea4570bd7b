//! Create until available: the request, the placement, the driver, the result.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hyper::Method;
use serde_json::json;

use crate::{
    http::{Connection, Sample},
    report::{Column, Report, per_second},
    scale::Scale,
    service::Service,
};

/// Measures, and gives the volumes back that were made.
pub async fn measure(report: &mut Report, column: Column, service: &Service, scale: &Scale, say: &impl Fn(&str)) -> Vec<String> {
    let mut made = Vec::new();
    for (at_once, count) in scale.creates {
        let name = format!("create until available, {at_once} at once");
        say(&name);
        let (ids, sample) = create(service, at_once, count).await;
        made.extend(ids);
        report.rate(column, &name, sample.rate(), per_second(&sample));
    }
    made
}

/// `count` volumes, `at_once` at a time; their ids.
pub async fn create(service: &Service, at_once: usize, count: usize) -> (Vec<String>, Sample) {
    let next = Arc::new(AtomicUsize::new(0));
    let made = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let begun = Instant::now();
    let workers = (0..at_once).map(|_| {
        let (next, made) = (next.clone(), made.clone());
        let (address, token, project) = (service.block(), service.token.clone(), service.project_id.clone());
        tokio::spawn(async move {
            let mut connection = Connection::open(&address, &token).await;
            while next.fetch_add(1, Ordering::Relaxed) < count {
                let sent = Instant::now();
                let body = json!({ "volume": { "size": 1, "name": "bench" } });
                let volume = connection.json(202, Method::POST, &format!("/v3/{project}/volumes"), Some(&body)).await;
                let id = volume["volume"]["id"].as_str().unwrap().to_owned();
                until_available(&mut connection, &format!("/v3/{project}/volumes/{id}"), at_once).await;
                let mut made = made.lock().unwrap();
                made.0.push(id);
                made.1.push(sent.elapsed());
            }
        })
    });
    for worker in futures::future::join_all(workers).await {
        worker.unwrap();
    }
    let elapsed = begun.elapsed();
    let (ids, latencies) = std::mem::take(&mut *made.lock().unwrap());
    (ids, Sample::new(latencies, elapsed))
}

/// Asks again and again, as clients do; the more wait at once, the longer each pauses, so that the asking is not what is measured.
async fn until_available(connection: &mut Connection, path: &str, at_once: usize) {
    let pause = Duration::from_millis(1 + at_once as u64);
    let begun = Instant::now();
    loop {
        tokio::time::sleep(pause).await;
        let volume = connection.json(200, Method::GET, path, None).await;
        match volume["volume"]["status"].as_str() {
            Some("available") => return,
            Some("creating") => assert!(begun.elapsed() < Duration::from_secs(120), "{volume}"),
            other => panic!("the volume is {other:?}: {volume}"),
        }
    }
}
