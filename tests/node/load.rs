//! Many at once, and kills at random moments.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Method, StatusCode};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::json;
use support::node::Node;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_at_once_are_all_answered() {
    let node = Arc::new(Node::start().await);
    let mut calls = JoinSet::new();
    for n in 0..1000_u32 {
        let node = Arc::clone(&node);
        calls.spawn(async move {
            // ten calls for each volume, among them the same create several times
            let id = format!("v{}", n / 10);
            let initiator = format!("iqn.x:{}", n % 3);
            let answer = match n % 10 {
                0..4 => node.put(&format!("/v1/volumes/{id}"), json!({"size_gib": 1})).await,
                4..6 => node.put(&format!("/v1/volumes/{id}/attachments/{initiator}"), json!({})).await,
                6 => node.delete(&format!("/v1/volumes/{id}/attachments/{initiator}")).await,
                7 => node.put(&format!("/v1/snapshots/s{}", n / 10), json!({"volume": id})).await,
                8 => node.get("/v1/volumes").await,
                _ => node.get("/v1/capacity").await,
            };
            let kinds = ["", "not-found", "stale-generation", "transient"];
            assert!(kinds.contains(&answer.kind()), "{}: {}", answer.status, answer.body);
        });
    }
    while let Some(outcome) = calls.join_next().await {
        outcome.unwrap();
    }
    node.agrees().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_create_many_times_at_once_makes_one_volume() {
    let node = Arc::new(Node::start().await);
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let node = Arc::clone(&node);
        calls.spawn(async move { node.send_as(7, Method::PUT, "/v1/volumes/v1", Some(json!({"size_gib": 1}))).await.ok() });
    }
    let first = calls.join_next().await.unwrap().unwrap();
    while let Some(outcome) = calls.join_next().await {
        assert_eq!(outcome.unwrap(), first);
    }
    node.agrees().await;
}

/// Calls that go on until told to stop, whatever becomes of them.
fn load(url: String, token: String, seed: u64, stop: Arc<AtomicBool>) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let client = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
        let mut rng = StdRng::seed_from_u64(seed);
        let layouts = ["target-per-volume", "target-per-initiator"];
        let mut generation = 1_000;
        while !stop.load(Ordering::Relaxed) {
            generation += 1;
            let id = format!("v{}", rng.random_range(0..6));
            let initiator = format!("iqn.x:{}", rng.random_range(0..3));
            let snapshot = format!("s{}", rng.random_range(0..4));
            let attachment = format!("/v1/volumes/{id}/attachments/{initiator}");
            let (method, path, body) = match rng.random_range(0..12) {
                0..3 => (Method::PUT, format!("/v1/volumes/{id}"), json!({"size_gib": 1, "layout": *layouts.choose(&mut rng).unwrap()})),
                3 => (Method::PUT, format!("/v1/volumes/{id}"), json!({"size_gib": 1, "source": {"snapshot": snapshot}})),
                4..7 => (Method::PUT, attachment, json!({"mode": *["rw", "ro"].choose(&mut rng).unwrap()})),
                7 => (Method::DELETE, attachment, json!({})),
                8 => (Method::DELETE, format!("/v1/volumes/{id}/attachments"), json!({})),
                9 => (Method::DELETE, format!("/v1/volumes/{id}"), json!({})),
                10 => (Method::PUT, format!("/v1/snapshots/{snapshot}"), json!({"volume": id})),
                _ => (Method::PUT, format!("/v1/volumes/{id}/size"), json!({"size_gib": rng.random_range(1..4)})),
            };
            let call = client.request(method, format!("{url}{path}")).bearer_auth(&token).header("Stowage-Generation", generation);
            if let Ok(response) = call.json(&body).send().await {
                let status = response.status();
                let text = response.text().await.unwrap_or_default();
                assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{path}: {text}");
            } else {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn after_kills_at_random_moments_under_load_records_service_and_files_agree() {
    let seed: u64 = std::env::var("STOWAGE_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(|| rand::rng().random());
    eprintln!("STOWAGE_TEST_SEED={seed}");
    let rounds = if std::env::var_os("STOWAGE_TEST_FULL").is_some() { 30 } else { 8 };
    let mut rng = StdRng::seed_from_u64(seed);
    let mut node = Node::start().await;
    for round in 0..rounds {
        let stop = Arc::new(AtomicBool::new(false));
        let loads: Vec<_> =
            (0..3).map(|n| load(node.url.clone(), node.token().to_owned(), seed ^ (round * 8 + n), Arc::clone(&stop))).collect();
        tokio::time::sleep(Duration::from_millis(rng.random_range(50..900))).await;
        let (the_node, the_service) = *[(true, false), (false, true), (true, true)].choose(&mut rng).unwrap();
        let before = node.service_pid();
        if the_node {
            node.kill();
        }
        if the_service {
            node.kill_service();
        }
        if the_node {
            node.spawn();
        }
        node.ready().await;
        if the_service {
            node.service_after(before).await;
        }
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..200))).await;
        stop.store(true, Ordering::Relaxed);
        for load in loads {
            load.await.unwrap();
        }
        // what a detach that was cut short left in memory is finished by its repeat; the caller's part here
        support::wait::until("the service to hold what the records say", async || {
            for volume in node.all("volumes").await {
                node.post(&format!("/v1/volumes/{}/ensure", volume["id"].as_str().unwrap()), json!({})).await;
            }
            let names: Vec<String> = node.targets().into_keys().collect();
            let mut wanted = std::collections::BTreeSet::new();
            for volume in node.all("volumes").await {
                let path = format!("/v1/volumes/{}/attachments", volume["id"].as_str().unwrap());
                for attachment in node.get(&path).await.body["attachments"].as_array().unwrap_or(&Vec::new()) {
                    wanted.insert(attachment["connection"]["iqn"].as_str().unwrap().to_owned());
                }
            }
            (names.into_iter().collect::<std::collections::BTreeSet<_>>() == wanted).then_some(())
        })
        .await;
        node.agrees().await;
    }
}
