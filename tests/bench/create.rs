//! Create until available: the request, the placement, the driver, the result.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hyper::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    http::{Connection, Sample},
    report::{Column, Report, per_second},
    scale::Scale,
    service::Service,
};

/// What is created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    Volume,
    Share,
}

/// How one is made.
struct Maker {
    address: String,
    /// Where all of them are.
    all: String,
    /// What the answer's one member is called.
    member: &'static str,
    accepted: u16,
    body: Value,
}

impl Maker {
    fn of(what: What, service: &Service) -> Self {
        match what {
            What::Volume => Self {
                address: service.block(),
                all: format!("/v3/{}/volumes", service.project_id),
                member: "volume",
                accepted: 202,
                body: json!({ "volume": { "size": 1, "name": "bench" } }),
            },
            What::Share => Self {
                address: service.share(),
                all: "/v2/shares".to_owned(),
                member: "share",
                accepted: 200,
                body: json!({ "share": { "share_proto": "NFS", "size": 1, "name": "bench" } }),
            },
        }
    }

    /// Makes one, and waits until it is there; its id.
    async fn make(&self, connection: &mut Connection, at_once: usize) -> String {
        let made = connection.json(self.accepted, Method::POST, &self.all, Some(&self.body)).await;
        let id = made[self.member]["id"].as_str().unwrap().to_owned();
        self.until_available(connection, &id, at_once).await;
        id
    }

    /// Asks again and again, as clients do; the more wait at once, the longer each pauses, so that the asking is not what is measured.
    async fn until_available(&self, connection: &mut Connection, id: &str, at_once: usize) {
        let pause = Duration::from_millis(1 + at_once as u64);
        let begun = Instant::now();
        loop {
            tokio::time::sleep(pause).await;
            let found = connection.json(200, Method::GET, &format!("{}/{id}", self.all), None).await;
            match found[self.member]["status"].as_str() {
                Some("available") => return,
                Some("creating") => assert!(begun.elapsed() < Duration::from_secs(120), "{found}"),
                other => panic!("it is {other:?}: {found}"),
            }
        }
    }
}

/// Measures, and gives back what was made.
pub async fn measure(
    report: &mut Report,
    column: Column,
    service: &Service,
    what: What,
    scale: &Scale,
    say: &impl Fn(&str),
) -> Vec<String> {
    let mut made = Vec::new();
    for (at_once, count) in scale.creates {
        let name = format!("create until available, {at_once} at once");
        say(&name);
        let (ids, sample) = create(service, what, at_once, count).await;
        made.extend(ids);
        report.rate(column, &name, sample.rate(), per_second(&sample));
    }
    made
}

/// `count` of them, `at_once` at a time; their ids.
pub async fn create(service: &Service, what: What, at_once: usize, count: usize) -> (Vec<String>, Sample) {
    let maker = Arc::new(Maker::of(what, service));
    let next = Arc::new(AtomicUsize::new(0));
    let made = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let begun = Instant::now();
    // they end when nobody waits for them any more
    let mut workers = JoinSet::new();
    for _ in 0..at_once {
        let (maker, next, made, token) = (maker.clone(), next.clone(), made.clone(), service.token.clone());
        workers.spawn(async move {
            let mut connection = Connection::open(&maker.address, &token).await;
            while next.fetch_add(1, Ordering::Relaxed) < count {
                let sent = Instant::now();
                let id = maker.make(&mut connection, at_once).await;
                let mut made = made.lock().unwrap();
                made.0.push(id);
                made.1.push(sent.elapsed());
            }
        });
    }
    workers.join_all().await;
    let elapsed = begun.elapsed();
    let (ids, latencies) = std::mem::take(&mut *made.lock().unwrap());
    (ids, Sample::new(latencies, elapsed))
}
