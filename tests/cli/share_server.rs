//! `stowage manage share-server set-capability`: what servers can do that were built before their driver learnt it.

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{BackendConfig, SubnetConfig},
};
use support::{Client, Persona, Process};

async fn with_servers() -> Process {
    Process::start(|c| {
        let mut backend = BackendConfig::of_shares("m", "memory");
        backend.options = json!({ "driver_handles_share_servers": "yes" }).as_object().unwrap().clone();
        c.backends = vec![backend];
        c.network.default_subnet = "blue".into();
        c.network.subnets = vec![SubnetConfig {
            id: "blue".into(),
            network_id: "net".into(),
            cidr: "10.1.0.0/24".parse().unwrap(),
            gateway: None,
            ranges: Vec::new(),
            vlan: None,
            mtu: None,
        }];
    })
    .await
}

/// A network with a server; its id.
async fn network(client: &Client) -> String {
    let made = client.post("/share-networks", json!({ "share_network": {} })).await.expect(200);
    let id = made["share_network"]["id"].as_str().unwrap().to_owned();
    let share = json!({ "share_proto": "NFS", "size": 1, "share_type": "served", "share_network_id": id });
    let made = client.post("/shares", json!({ "share": share })).await.expect(200);
    client.share_until(made["share"]["id"].as_str().unwrap(), "available").await;
    id
}

#[tokio::test]
async fn doctor_names_addresses_in_a_subnet_that_is_not_configured_any_more_and_whose_they_are() {
    let mut process = with_servers().await;
    let personas = process.personas().await;
    let operator = process.client(&personas, Api::Share, Persona::Admin).at("2.70");
    let specs = json!({ "driver_handles_share_servers": "True" });
    operator.post("/types", json!({ "share_type": { "name": "served", "extra_specs": specs } })).await.expect(200);
    network(&operator).await;
    let server = operator.get("/share-servers").await.expect(200)["share_servers"][0]["id"].as_str().unwrap().to_owned();
    let doctor = |process: &Process| {
        let out = process.command().arg("doctor").output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    assert!(process.terminate().await.success());
    let (status, said) = doctor(&process);
    assert!(status == Some(0) && !said.contains("subnet blue"), "{said}");
    process.reconfigure(|c| c.network.subnets[0].id = "azure".into());
    process.reconfigure(|c| c.network.default_subnet = "azure".into());
    let (status, said) = doctor(&process);
    assert_eq!(status, Some(0), "{said}");
    let note = said.lines().find(|l| l.starts_with("note  subnet blue: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(note.contains(&format!("have addresses in it (1, of {server})")) && note.contains("[[network.subnet]]"), "{note}");
    assert!(note.contains(&format!("openstack share server delete {server}")), "{note}");
}

fn set(process: &Process, ids: &[&str], value: &str) -> (Option<i32>, String) {
    let what = ["--capability", "network_allocation_update_support", "--value", value];
    let out = process.command().args(["manage", "share-server", "set-capability", "--share-server"]).args(ids).args(what).output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

#[tokio::test]
async fn a2_what_servers_can_do_an_operator_says_and_takes_back() {
    let mut process = with_servers().await;
    let personas = process.personas().await;
    let operator = |process: &Process| process.client(&personas, Api::Share, Persona::Admin).at("2.70");
    let specs = json!({ "driver_handles_share_servers": "True" });
    operator(&process).post("/types", json!({ "share_type": { "name": "served", "extra_specs": specs } })).await.expect(200);
    let networks = [network(&operator(&process)).await, network(&operator(&process)).await];
    let servers = operator(&process).get("/share-servers").await.expect(200)["share_servers"].clone();
    let servers: Vec<String> = servers.as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect();
    let ids: Vec<&str> = servers.iter().map(String::as_str).collect();
    assert_eq!(ids.len(), 2);
    for (value, who, shown) in [("true", &ids[..], [true, true]), ("false", &ids[..1], [true, false]), ("true", &ids[..1], [true, true])] {
        assert!(process.terminate().await.success());
        let (status, said) = set(&process, who, value);
        assert_eq!(status, Some(0), "{said}");
        assert!(said.contains(&format!("{} share servers changed", who.len())), "{said}");
        let (status, said) = set(&process, &[ids[0], "nothing"], if value == "true" { "false" } else { "true" });
        assert!(status == Some(1) && said.contains("there is no share server nothing"), "{said}");
        process.restart().await;
        let operator = operator(&process);
        let mut found: Vec<bool> = Vec::new();
        for network in &networks {
            let shown: Value = operator.get(&format!("/share-networks/{network}")).await.expect(200);
            found.push(shown["share_network"]["network_allocation_update_support"].as_bool().unwrap());
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(found, shown);
    }
    let (status, said) = set(&process, &ids, "perhaps");
    assert_eq!(status, Some(2), "{said}");
}
