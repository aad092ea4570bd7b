//! `stowage manage share-server retry-network-update`: a live server that could not be given a subnet is given it again.

use serde_json::json;
use stowage::{
    api::route::Api,
    config::{BackendConfig, SubnetConfig},
};
use support::{Persona, Process};

fn subnet(id: &str, cidr: &str) -> SubnetConfig {
    SubnetConfig {
        id: id.into(),
        network_id: "net".into(),
        cidr: cidr.parse().unwrap(),
        gateway: None,
        ranges: Vec::new(),
        vlan: None,
        mtu: None,
    }
}

fn retry(process: &Process, id: &str) -> (Option<i32>, String) {
    let out = process.command().args(["manage", "share-server", "retry-network-update", id]).output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr))
}

#[tokio::test]
async fn the_running_service_repeats_what_failed() {
    let process = Process::start(|c| {
        let mut backend = BackendConfig::of_shares("m", "memory");
        let options = json!({
            "driver_handles_share_servers": "yes", "allocation_update": true,
            "faults": ["allocations.update-network-allocations#1=fail-after:invalid"],
        });
        backend.options = options.as_object().unwrap().clone();
        c.backends = vec![backend];
        c.network.default_subnet = "blue".into();
        c.network.subnets = vec![subnet("blue", "10.1.0.0/24")];
    })
    .await;
    let personas = process.personas().await;
    let operator = process.client(&personas, Api::Share, Persona::Admin).at("2.70");
    let specs = json!({ "driver_handles_share_servers": "True" });
    operator.post("/types", json!({ "share_type": { "name": "served", "extra_specs": specs } })).await.expect(200);
    let made = operator.post("/share-networks", json!({ "share_network": {} })).await.expect(200);
    let network = made["share_network"]["id"].as_str().unwrap().to_owned();
    let share = json!({ "share_proto": "NFS", "size": 1, "share_type": "served", "share_network_id": network });
    let made = operator.post("/shares", json!({ "share": share })).await.expect(200);
    operator.share_until(made["share"]["id"].as_str().unwrap(), "available").await;
    let server = operator.get("/share-servers").await.expect(200)["share_servers"][0]["id"].as_str().unwrap().to_owned();

    let (status, said) = retry(&process, &server);
    assert!(status == Some(1) && said.contains("no update of it failed") && !said.contains("delete it"), "{said}");
    let told = async |status: &str| {
        operator.post(&format!("/share-servers/{server}/action"), json!({ "reset_status": { "status": status } })).await.expect(202)
    };
    told("error").await;
    let (status, said) = retry(&process, &server);
    assert!(status == Some(1) && said.contains("no update of it failed") && said.contains("delete it (`openstack"), "{said}");
    told("active").await;
    operator.post(&format!("/share-networks/{network}/subnets"), json!({ "share-network-subnet": {} })).await.expect(200);
    let path = format!("/share-servers/{server}");
    operator.until(&path, |a| a.body()["share_server"]["status"] == "error").await;
    let jobs = process.client(&personas, Api::Admin, Persona::Admin).get("/jobs?kind=share_server.network_update").await.expect(200);
    assert!(!jobs["jobs"][0]["reason"].as_str().unwrap().is_empty(), "why it ended: {jobs}");
    let network = format!("/share-networks/{network}");
    operator.until(&network, |a| a.body()["share_network"]["status"] == "active").await;
    let (status, said) = retry(&process, &server);
    assert!(status == Some(0) && said.contains(&server), "{said}");
    operator.until(&path, |a| a.body()["share_server"]["status"] == "active").await;
    let (status, said) = retry(&process, "nothing");
    assert!(status == Some(1) && said.contains("could not be found"), "{said}");
}

#[tokio::test]
async fn without_a_service_or_with_a_wrong_password_the_command_says_what_to_set() {
    let mut process = Process::start(|_| {}).await;
    let asked = |password: &str| {
        let out = process.command().env("OS_PASSWORD", password).args(["manage", "ensure", "stowage@m"]).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (status, said) = asked("wrong");
    assert!(status == Some(1) && said.contains("refuses the credentials of admin") && said.contains("OS_PASSWORD"), "{said}");
    process.kill();
    let out = process.command().args(["manage", "ensure", "stowage@m"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(1) && said.contains("no service answers at ") && said.contains("OS_AUTH_URL"), "{said}");
}
