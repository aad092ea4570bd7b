//! The array did it, and its answer was lost.

use serde_json::json;
use support::{
    Persona,
    array::{Action, Fault},
};

use crate::world::{World, connector, create_volume};

#[tokio::test(flavor = "multi_thread")]
async fn a_create_whose_answer_was_lost_is_repeated_and_makes_one_object() {
    let world = World::start().await;
    world.array.control.fault(Fault::on("volumes.create", Action::DropAnswer)).await.unwrap();
    let id = create_volume(&world.block(Persona::Member)).await.unwrap();
    world.block(Persona::Member).volume_until(&id, "available").await;
    let creates = world.array.control.changes().await.unwrap().into_iter().filter(|c| c.kind == "volumes" && c.id == id);
    assert!(creates.count() >= 2, "the call was not repeated");
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_whose_answer_was_lost_succeeds() {
    let world = World::start().await;
    let id = world.volume().await;
    world.array.control.fault(Fault::on("volumes.delete", Action::DropAnswer)).await.unwrap();
    world.block(Persona::Member).delete(&format!("/volumes/{id}")).await.expect(202);
    world.block(Persona::Member).until_gone(&format!("/volumes/{id}")).await;
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connect_whose_answer_was_lost_ends_as_the_answer_says() {
    let world = World::start().await;
    let id = world.volume().await;
    world.array.control.fault(Fault::on("connection-info.connect", Action::DropAnswer)).await.unwrap();
    let body = json!({ "attachment": { "volume_uuid": id, "connector": connector() } });
    let answer = world.block(Persona::Member).post("/attachments", body).await;
    assert!(answer.status == 200 || answer.status.is_server_error(), "{answer:?}");
    world.holds_true().await;
}
