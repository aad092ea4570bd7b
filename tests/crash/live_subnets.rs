//! A live share server is given another subnet, cut short: the network never stays in `network_change`, server and array agree,
//! and no address is lost.

use serde_json::{Value, json};
use support::{Persona, array::Action, wait};

use crate::share_servers::World;

const CHECK: &str = "allocations.check-update-network-allocations";
const UPDATE: &str = "allocations.update-network-allocations";

/// A network with an available share on a server.
async fn live(world: &World) -> (String, String) {
    let network = world.network().await;
    let share = world.create(&network).await;
    world.share(Persona::Member).share_until(&share, "available").await;
    (network, share)
}

fn subnet() -> Value {
    json!({ "share-network-subnet": { "neutron_net_id": "net", "neutron_subnet_id": "blue" } })
}

/// The network has its second subnet, and so have its server, the share on it, and the array.
async fn is_given(world: &World, network: &str, share: &str) {
    let member = world.share(Persona::Member);
    let path = format!("/share-networks/{network}");
    let shown = member.until(&path, |a| a.body()["share_network"]["status"] == "active").await.body()["share_network"].clone();
    assert_eq!(shown["share_network_subnets"].as_array().unwrap().len(), 2);
    let servers = world.servers().await;
    assert_eq!(
        (servers.len(), &servers[0]["status"], servers[0]["share_network_subnet_ids"].as_array().unwrap().len()),
        (1, &json!("active"), 2)
    );
    let locations = member.get(&format!("/shares/{share}/export_locations")).await.expect(200);
    assert_eq!(locations["export_locations"].as_array().unwrap().len(), 4, "two addresses in each: {locations}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_the_server_is_given_a_subnet_ends_with_the_subnet_given() {
    for action in [Action::HoldCall, Action::HoldAnswer] {
        let mut world = World::start().await;
        let (network, share) = live(&world).await;
        world.fault(UPDATE, action).await;
        let subnets = format!("/share-networks/{network}/subnets");
        world.share(Persona::Member).post(&subnets, subnet()).await.expect(200);
        world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
        world.kill_and_restart().await;
        world.array.control.release().await.unwrap();
        is_given(&world, &network, &share).await;
        world.holds_true().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_while_drivers_are_asked_changes_nothing_and_the_next_create_does() {
    let mut world = World::start().await;
    let (network, share) = live(&world).await;
    world.fault(CHECK, Action::HoldCall).await;
    let member = world.share(Persona::Member);
    let subnets = format!("/share-networks/{network}/subnets");
    let asking = tokio::spawn(async move { member.try_send(reqwest::Method::POST, &subnets, Some(subnet())).await });
    world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
    world.kill_and_restart().await;
    world.array.control.release().await.unwrap();
    assert!(asking.await.unwrap().is_err(), "the process died before it answered");
    let member = world.share(Persona::Member);
    let shown = member.get(&format!("/share-networks/{network}")).await.expect(200)["share_network"].clone();
    assert_eq!((&shown["status"], shown["share_network_subnets"].as_array().unwrap().len()), (&json!("active"), 1));
    member.post(&format!("/share-networks/{network}/subnets"), subnet()).await.expect(200);
    is_given(&world, &network, &share).await;
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_asked_for_again_with_the_same_addresses() {
    let world = World::start().await;
    let (network, share) = live(&world).await;
    world.fault(UPDATE, Action::DropAnswer).await;
    world.share(Persona::Member).post(&format!("/share-networks/{network}/subnets"), subnet()).await.expect(200);
    is_given(&world, &network, &share).await;
    world.holds_true().await;
}
