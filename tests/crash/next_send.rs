//! A process that was stopped in the middle of its driver's calls, past its lease: not one more request of theirs leaves it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, http::HeaderMap, routing::any};
use serde_json::json;
use stowage::{
    api::route::Api,
    config::BackendConfig,
    store::{Store, StoreOptions},
};
use support::{Persona, Process, db, postgres, wait};

use crate::world::create_volume;

/// Calls that are under way when the process is stopped.
const CALLS: usize = 8;

/// Requests by the generation they were sent with.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<BTreeMap<u64, usize>>>);

impl Heard {
    /// Listens on a free port of the loopback interface; the URL.
    async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = self.clone();
        let answer = move |headers: HeaderMap| async move {
            let generation = headers["stowage-generation"].to_str().unwrap().parse().unwrap();
            *heard.0.lock().unwrap().entry(generation).or_default() += 1;
            "heard"
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(answer))).await });
        url
    }
    fn so_far(&self) -> BTreeMap<u64, usize> {
        self.0.lock().unwrap().clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_woken_process_sends_nothing_more_for_the_calls_it_was_stopped_in() {
    if !db::is_wanted("postgres") {
        return;
    }
    let (database, heard) = (postgres::database().await, Heard::default());
    let url = heard.listen().await;
    let process = Process::start(|c| {
        c.database.url = database.url.clone();
        let mut backend = BackendConfig::new("chatter", "hostile");
        backend.grants.http = vec![url.trim_start_matches("http://").to_owned()];
        backend.grants.concurrency = CALLS + 1;
        backend.grants.call_timeout = Duration::from_secs(120);
        backend.options.insert("mode".into(), json!("chatter"));
        backend.options.insert("url".into(), json!(url));
        c.backends = vec![backend];
    })
    .await;
    let personas = process.personas().await;
    let client = process.client(&personas, Api::Block, Persona::Member).at("3.54");
    let admin = process.client(&personas, Api::Block, Persona::Admin);
    let pools = format!("/{}/scheduler-stats/get_pools", admin.project_id);
    admin.until(&pools, |a| a.status == 200 && !a.body()["pools"].as_array().unwrap().is_empty()).await;
    for _ in 0..CALLS {
        create_volume(&client).await.unwrap();
    }
    wait::until("every call to be heard", || async { (heard.so_far().len() == CALLS).then_some(()) }).await;

    process.pause();
    let store = Store::open(&StoreOptions::new(database.url.clone())).await.unwrap();
    wait::until("its lease to be over", || async { store.has_dead_workers().await.unwrap().then_some(()) }).await;
    // by the process's own clock too, which counts from before its last heartbeat was sent: no later than the database's
    let before = heard.so_far();
    process.resume();

    let own: BTreeSet<u64> = before.keys().copied().collect();
    wait::until("it to begin the calls again, as another worker", || async {
        let again = heard.so_far().into_iter().filter(|(generation, _)| !own.contains(generation)).count();
        (again == CALLS).then_some(())
    })
    .await;
    let after: BTreeMap<u64, usize> = heard.so_far().into_iter().filter(|(generation, _)| own.contains(generation)).collect();
    assert_eq!(after, before, "requests by generation: what was sent before the process was stopped, and what after it went on");
    store.close().await;
}
