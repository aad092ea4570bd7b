//! Ensuring shares with two processes, of which only one has read the changed configuration. PostgreSQL alone: a SQLite file
//! has one process.

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{Bind, Config},
};
use support::{Client, Persona, Process, db, postgres, wait};

use crate::{
    ensure::{HOST, patient},
    site::{LATEST, backend, create},
};

const OLD: &str = "192.0.2.10";
const NEW: &str = "192.0.2.77";

struct Two {
    first: Process,
    second: Process,
    /// Of the first.
    operator: Client,
    /// Of the second.
    other: Client,
    admin: Client,
    shares: Vec<String>,
    /// After the processes.
    _database: postgres::Database,
}

/// A driver that asks for one share at a time, which takes a while.
fn configured(config: &mut Config, address: &str) {
    let options = json!({ "ensure_batch": 1, "export_addresses": [address], "faults": ["ensure.ensure-shares=delay:300"] });
    config.backends = vec![backend("m", options)];
}

async fn two() -> Two {
    let database = postgres::database().await;
    let first = Process::start(|c| {
        configured(c, OLD);
        c.database.url.clone_from(&database.url);
    })
    .await;
    let personas = first.personas().await;
    let second = Process::start(|c| {
        configured(c, OLD);
        c.database.url.clone_from(&database.url);
        c.listen.identity = Bind::OFF;
    })
    .await;
    let operator = first.client(&personas, Api::Share, Persona::Admin).at(LATEST);
    let other = second.client(&personas, Api::Share, Persona::Admin).at(LATEST);
    let admin = second.client(&personas, Api::Admin, Persona::Admin);
    wait::until("the first report", || async {
        let found = operator.get(&format!("/services?host={HOST}&state=up")).await.expect(200);
        (found["services"].as_array().map(Vec::len) == Some(1)).then_some(())
    })
    .await;
    let mut shares = Vec::new();
    for _ in 0..6 {
        let id = create(&operator, json!({})).await;
        operator.share_until(&id, "available").await;
        shares.push(id);
    }
    Two { first, second, operator, other, admin, shares, _database: database }
}

async fn run(admin: &Client) -> Value {
    admin.get(&format!("/backends/{HOST}/ensure")).await.expect(200)["ensure"].clone()
}

async fn ended(admin: &Client) -> Value {
    wait::until("the run to end", || async {
        let run = run(admin).await;
        (run.is_object() && run["state"] != "running" && run["repeats"] == false).then_some(run)
    })
    .await
}

/// How many of the shares are at an address.
async fn at(client: &Client, shares: &[String], address: &str) -> usize {
    let mut n = 0;
    for id in shares {
        let found = client.get(&format!("/shares/{id}/export_locations")).await.expect(200);
        let all = found["export_locations"].as_array().unwrap();
        n += usize::from(!all.is_empty() && all.iter().all(|l| l["path"].as_str().unwrap().contains(address)));
    }
    n
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b8_a_process_that_has_not_read_the_change_leaves_the_shares_to_one_that_has() {
    if !db::is_wanted("postgres") {
        return;
    }
    let mut site = two().await;
    site.first.reconfigure(|c| configured(c, NEW));
    patient(&site.operator).await.expect(202);
    wait::until("every share at the new address", || async {
        (at(&site.operator, &site.shares, NEW).await == site.shares.len()).then_some(())
    })
    .await;
    let run = ended(&site.admin).await;
    assert_eq!((&run["state"], &run["failed"], &run["left_out"]), (&json!("done"), &json!(0), &json!(0)), "{run}");
    assert_eq!(at(&site.operator, &site.shares, NEW).await, site.shares.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b8_what_another_configuration_was_asked_for_is_ensured_again_when_the_change_is_read() {
    if !db::is_wanted("postgres") {
        return;
    }
    let mut site = two().await;
    site.first.reconfigure(|c| configured(c, NEW));
    patient(&site.operator).await.expect(202);
    wait::until("the first share", || async { (run(&site.admin).await["done"].as_i64() > Some(0)).then_some(()) }).await;
    site.first.kill();
    // nobody has the new configuration any more
    let run = ended(&site.admin).await;
    assert_eq!((&run["state"], &run["done"]), (&json!("done"), &run["total"]), "{run}");
    assert_eq!(at(&site.other, &site.shares, OLD).await, site.shares.len(), "by the only one there is");
    site.second.reconfigure(|c| configured(c, NEW));
    wait::until("every share at the new address", || async {
        (at(&site.other, &site.shares, NEW).await == site.shares.len()).then_some(())
    })
    .await;
}
