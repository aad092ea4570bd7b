//! The array did it, and its answer was lost.

use http::Method;
use serde_json::json;
use support::{
    Persona,
    array::{Action, Fault},
    wait,
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

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_connect_made_is_taken_back_when_its_repeat_is_refused() {
    let mut world = World::start().await;
    let id = world.volume().await;
    let put = |action| Fault { method: "PUT".into(), ..Fault::on("connection-info.connect", action) };
    world.array.control.fault(put(Action::HoldAnswer)).await.unwrap();
    let client = world.block(Persona::Member);
    let body = json!({ "attachment": { "volume_uuid": id, "connector": connector() } });
    let asked = tokio::spawn(async move { client.try_send(Method::POST, "/attachments", Some(body)).await.is_ok() });
    world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
    assert_eq!(world.array.control.ids("connections").await.unwrap().len(), 1);
    // the repeat is refused for certain; the first run is not known to have done anything
    world.array.control.fault(put(Action::Refuse(400))).await.unwrap();
    world.kill_and_restart().await;
    assert!(!asked.await.unwrap(), "the kill came too late");
    world.array.control.release().await.unwrap();
    world.holds_true().await;
    assert_eq!(world.array.control.ids("connections").await.unwrap(), Vec::<String>::new());
}
