//! A fail-over outlives the process that does it.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{api::route::Api, config::BackendConfig};
use support::{Client, Persona, Process, wait};

async fn service(operator: &Client) -> Value {
    operator.get("/os-services?binary=cinder-volume").await.expect(200)["services"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_each_step_it_ends_where_it_was_to_end() {
    for verb in ["choose", "failover", "complete"] {
        let mut backend = BackendConfig::new("memory", "memory");
        backend.options.insert("replication_targets".into(), json!(["east"]));
        // the first call of each does its work, and its answer is lost with the process
        backend.options.insert("faults".into(), json!([format!("volume-replication.{verb}#1=delay-after:4000")]));
        let mut process = Process::start(|c| c.backends = vec![backend]).await;
        let personas = process.personas().await;
        let (operator, member) =
            (process.client(&personas, Api::Block, Persona::Admin), process.client(&personas, Api::Block, Persona::Member));
        let body = json!({ "volume_type": { "name": "safe", "extra_specs": { "replication_enabled": "<is> True" } } });
        operator.post("/types", body).await.expect(200);
        let create = async |kind: Value| {
            let made = member.post("/volumes", json!({ "volume": { "size": 1, "volume_type": kind } })).await.expect(202);
            let id = made["volume"]["id"].as_str().unwrap().to_owned();
            member.volume_until(&id, "available").await;
            id
        };
        wait::until("the back end to replicate", || async { (service(&operator).await["replication_status"] == "enabled").then_some(()) })
            .await;
        let (kept, left) = (create(json!("safe")).await, create(Value::Null).await);
        let host = service(&operator).await["host"].clone();
        operator.put("/os-services/failover_host", json!({ "host": host, "backend_id": "east" })).await.expect(202);
        // only the call that is held up lasts: the run that is seen twice is in it
        let admin = process.client(&personas, Api::Admin, Persona::Admin);
        let running = async || {
            let job = admin.get("/jobs?kind=backend.failover").await.expect(200)["jobs"][0].clone();
            (job["state"] == "running").then(|| job["generation"].clone())
        };
        wait::until("the step to begin", || async {
            let seen = running().await?;
            tokio::time::sleep(Duration::from_millis(500)).await;
            (running().await? == seen).then_some(())
        })
        .await;
        process.kill();
        process.restart().await;
        let over = wait::until("the fail-over to end", || async {
            Some(service(&operator).await).filter(|s| s["replication_status"] != "failing-over")
        })
        .await;
        assert_eq!((&over["replication_status"], &over["active_backend_id"]), (&json!("failed-over"), &json!("east")), "{verb}: {over}");
        let shown = async |id: &str| member.get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
        assert_eq!(shown(&kept).await["replication_status"], "failed-over", "{verb}");
        assert_eq!(
            (shown(&kept).await["status"].clone(), shown(&left).await["status"].clone()),
            (json!("available"), json!("error")),
            "{verb}"
        );
    }
}
