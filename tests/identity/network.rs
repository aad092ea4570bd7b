//! The configured subnets as a network service: what `openstack share network create` asks before it creates.

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{CatalogService, Config, SubnetConfig},
};
use support::{Client, Persona, TestApp};

use crate::log_in;

fn subnets() -> Vec<SubnetConfig> {
    let all = json!([
        { "id": "v4", "network_id": "office", "cidr": "10.1.0.0/24", "gateway": "10.1.0.1", "ranges": ["10.1.0.10-10.1.0.20"], "vlan": 7, "mtu": 9000 },
        { "id": "v6", "network_id": "office", "cidr": "fd00::/64" },
        { "id": "lone", "network_id": "lab", "cidr": "10.2.0.0/24" },
    ]);
    serde_json::from_value(all).unwrap()
}

async fn site(change: impl FnOnce(&mut Config)) -> TestApp {
    TestApp::builder().backends([]).config(|c| c.network.subnets = subnets()).config(change).start().await
}

/// As a client finds it: by the catalog's URL.
async fn network(app: &TestApp, persona: Persona) -> Client {
    app.identity(persona).await.rooted_at("/network/v2.0")
}

async fn in_the_catalog(app: &TestApp) -> Value {
    let project = app.personas().await.login(Persona::Member).project_id.clone();
    let token = log_in(app, Persona::Member, json!({"project": {"id": project}})).await.expect(201);
    let catalog = token["token"]["catalog"].as_array().unwrap().clone();
    catalog.into_iter().find(|service| service["type"] == "network").map_or(Value::Null, |service| service["endpoints"][0]["url"].clone())
}

fn ids(list: &Value, key: &str) -> Vec<String> {
    list[key].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn it_is_in_the_catalog_and_says_its_version_to_anybody() {
    let app = site(|_| {}).await;
    let url = format!("{}/network", app.url(Api::Identity));
    assert_eq!(in_the_catalog(&app).await, json!(url));
    let found = app.anonymous(Api::Identity).rooted_at("").get("/network").await.expect(200);
    assert_eq!(found["versions"][0]["id"], "v2.0");
    assert_eq!(found["versions"][0]["links"][0]["href"], format!("{url}/v2.0/"));
}

#[tokio::test]
async fn networks_and_subnets_are_found_by_id_name_and_network() {
    let app = site(|_| {}).await;
    let member = network(&app, Persona::Member).await;
    assert_eq!(ids(&member.get("/networks").await.expect(200), "networks"), ["lab", "office"]);
    assert_eq!(ids(&member.get("/networks?name=lab").await.expect(200), "networks"), ["lab"]);
    assert_eq!(ids(&member.get("/subnets?network_id=office").await.expect(200), "subnets"), ["v4", "v6"]);
    assert_eq!(ids(&member.get("/subnets?name=other").await.expect(200), "subnets"), Vec::<String>::new());
    let office = member.get("/networks/office").await.expect(200)["network"].clone();
    assert_eq!((&office["subnets"], &office["mtu"], &office["shared"]), (&json!(["v4", "v6"]), &json!(9000), &json!(true)));
    let v4 = member.get("/subnets/v4").await.expect(200)["subnet"].clone();
    assert_eq!((&v4["cidr"], &v4["ip_version"], &v4["gateway_ip"]), (&json!("10.1.0.0/24"), &json!(4), &json!("10.1.0.1")));
    assert_eq!(v4["allocation_pools"], json!([{ "start": "10.1.0.10", "end": "10.1.0.20" }]));
    for gone in ["/networks/none", "/subnets/office"] {
        member.get(gone).await.expect(404);
    }
}

/// How a network is on the wire is the operators' matter.
#[tokio::test]
async fn nobody_reads_a_vlan_there_or_anything_without_a_token() {
    let app = site(|_| {}).await;
    let seen = network(&app, Persona::Admin).await.get("/networks/office").await.expect(200);
    assert!(!seen.to_string().contains("provider"), "{seen}");
    for path in ["/networks", "/networks/office", "/subnets", "/subnets/v4", "/extensions", "/quotas/p"] {
        app.anonymous(Api::Identity).rooted_at("/network/v2.0").get(path).await.expect(401);
    }
}

#[tokio::test]
async fn without_subnets_or_where_another_one_is_configured_it_is_not_in_the_catalog() {
    let app = site(|c| c.network.subnets.clear()).await;
    assert_eq!(in_the_catalog(&app).await, Value::Null);
    let other = CatalogService { kind: "network".into(), name: "neutron".into(), url: "http://n:9696".into() };
    let app = site(|c| c.identity.services = vec![other]).await;
    assert_eq!(in_the_catalog(&app).await, "http://n:9696");
}
