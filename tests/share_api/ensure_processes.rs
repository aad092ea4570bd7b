//! Ensuring shares on demand, with the service as a process: killed in the middle, and asked by the command line.

use serde_json::{Value, json};
use stowage::api::route::Api;
use support::{Client, Persona, Process, wait};

use crate::{
    ensure::{HOST, patient},
    site::{LATEST, backend, create},
};

struct Running {
    process: Process,
    admin: Client,
    operator: Client,
    shares: Vec<String>,
}

/// A service with three available shares, whose driver does what `options` say.
async fn running(options: Value) -> Running {
    let process = Process::start(|c| c.backends = vec![backend("m", options)]).await;
    let personas = process.personas().await;
    let operator = process.client(&personas, Api::Share, Persona::Admin).at(LATEST);
    let admin = process.client(&personas, Api::Admin, Persona::Admin);
    wait::until("the first report", || async {
        let found = operator.get(&format!("/services?host={HOST}&state=up")).await.expect(200);
        (found["services"].as_array().map(Vec::len) == Some(1)).then_some(())
    })
    .await;
    let mut shares = Vec::new();
    for _ in 0..3 {
        let id = create(&operator, json!({})).await;
        operator.share_until(&id, "available").await;
        shares.push(id);
    }
    Running { process, admin, operator, shares }
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

#[tokio::test]
async fn b5_killed_in_the_middle_no_share_stays_ensuring() {
    let Running { mut process, admin, operator, shares } =
        running(json!({ "ensure_batch": 1, "faults": ["ensure.ensure-shares=delay:500"] })).await;
    patient(&operator).await.expect(202);
    let begun = wait::until("the first share", || async {
        let run = run(&admin).await;
        (run["done"].as_i64() > Some(0) && run["state"] == "running").then_some(run)
    })
    .await;
    process.kill();
    process.restart().await;
    let last = wait::until("the run to end", || async {
        let run = run(&admin).await;
        (run["state"] != "running").then_some(run)
    })
    .await;
    assert_eq!((&last["run_id"], &last["state"], &last["unchanged"]), (&begun["run_id"], &json!("done"), &json!(3)), "{last}");
    for id in &shares {
        operator.share_until(id, "available").await;
    }
}

#[tokio::test]
async fn b10_the_configuration_is_read_again_first() {
    let Running { mut process, admin, operator, shares } = running(json!({ "export_addresses": ["192.0.2.10"] })).await;
    let at = async |address: &str| {
        for id in &shares {
            let found = operator.get(&format!("/shares/{id}/export_locations")).await.expect(200);
            assert!(found["export_locations"][0]["path"].as_str().unwrap().contains(address), "{found}");
        }
    };
    process.reconfigure(|c| c.backends = vec![backend("m", json!({ "export_addresses": ["192.0.2.77"] }))]);
    at("192.0.2.10").await;
    patient(&operator).await.expect(202);
    let last = ended(&admin).await;
    assert_eq!(
        (&last["cause"], &last["state"], &last["done"], &last["reason"]),
        (&json!("request"), &json!("done"), &json!(3), &Value::Null),
        "{last}"
    );
    at("192.0.2.77").await;
    // one that says nonsense changes nothing, and is told of
    std::fs::write(process.config_file(), "nonsense = [").unwrap();
    patient(&operator).await.expect(202);
    let last = ended(&admin).await;
    assert_eq!((&last["state"], &last["unchanged"]), (&json!("done"), &json!(3)), "{last}");
    assert!(last["reason"].as_str().unwrap().contains("the configuration is refused"), "{last}");
}

#[tokio::test]
async fn b6_the_command_line_waits_and_says_how_it_ended() {
    let running = running(json!({ "faults": ["ensure.ensure-shares#2=refuse:invalid"] })).await;
    let ensure = |host: &str| {
        let out = running.process.command().args(["manage", "ensure", host, "--wait"]).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (status, said, errors) = ensure(HOST);
    assert_eq!(status, Some(0), "{said}{errors}");
    assert!(said.contains("done: 3 of 3 shares: 3 unchanged"), "{said}");
    let (status, said, _) = ensure(HOST);
    assert_eq!(status, Some(1));
    assert!(said.contains("3 failed") && running.shares.iter().all(|id| said.contains(id)), "{said}");
    let (status, _, errors) = ensure("stowage@none");
    assert_eq!(status, Some(1));
    assert!(errors.contains("could not be found"), "{errors}");
}
