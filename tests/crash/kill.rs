use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::{StreamExt, stream};
use http::Method;
use serde_json::json;
use support::{
    Client, Persona,
    array::{Action, Fault},
};

use crate::world::{World, connector, create_volume, once_some_are_done};

const COUNT: usize = 50;

/// Sends `COUNT` requests, ten at a time, in the background; `done` counts the answered ones.
fn in_background<F>(done: &Arc<AtomicUsize>, work: impl Fn(usize) -> F + Send + Sync + 'static) -> tokio::task::JoinHandle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let done = Arc::clone(done);
    tokio::spawn(async move {
        stream::iter(0..COUNT)
            .for_each_concurrent(10, |n| {
                let (one, done) = (work(n), Arc::clone(&done));
                async move {
                    one.await;
                    done.fetch_add(1, Ordering::SeqCst);
                }
            })
            .await;
    })
}

/// The array takes its time, so that the kill finds calls in flight.
async fn slow(world: &World, verb: &str) {
    world.array.control.fault(Fault::on(verb, Action::Delay { milliseconds: 30 }).times(10_000)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_creates_ends_with_every_accepted_volume_available() {
    let mut world = World::start().await;
    slow(&world, "volumes.create").await;
    let (done, accepted) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (client, ids) = (world.block(Persona::Member), Arc::clone(&accepted));
    let requests = in_background(&done, move |_| {
        let (client, ids) = (client.clone(), Arc::clone(&ids));
        async move {
            if let Some(id) = create_volume(&client).await {
                ids.lock().unwrap().push(id);
            }
        }
    });
    once_some_are_done(&done, COUNT / 2).await;
    world.kill_and_restart().await;
    requests.await.unwrap();
    let accepted = accepted.lock().unwrap().clone();
    assert!(accepted.len() >= COUNT / 2 - 10, "only {} were accepted", accepted.len());
    for id in &accepted {
        world.block(Persona::Member).volume_until(id, "available").await;
    }
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_deletes_ends_with_every_accepted_one_gone() {
    let mut world = World::start().await;
    let volumes = world.volumes(COUNT).await;
    slow(&world, "volumes.delete").await;
    let (done, accepted) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (client, ids, all) = (world.block(Persona::Member), Arc::clone(&accepted), volumes.clone());
    let requests = in_background(&done, move |n| {
        let (client, ids, id) = (client.clone(), Arc::clone(&ids), all[n].clone());
        async move {
            if let Ok(answer) = client.try_send(Method::DELETE, &format!("/volumes/{id}"), None).await {
                answer.expect(202);
                ids.lock().unwrap().push(id);
            }
        }
    });
    once_some_are_done(&done, COUNT / 2).await;
    world.kill_and_restart().await;
    requests.await.unwrap();
    let accepted = accepted.lock().unwrap().clone();
    for id in &accepted {
        world.block(Persona::Member).until_gone(&format!("/volumes/{id}")).await;
    }
    world.holds_true().await;
}

async fn attach(client: &Client, volume: &str) -> Option<String> {
    let body = json!({ "attachment": { "volume_uuid": volume, "connector": connector() } });
    let answer = client.try_send(Method::POST, "/attachments", Some(body)).await.ok()?;
    Some(answer.expect(200)["attachment"]["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_attaches_ends_with_the_connections_that_are_shown() {
    let mut world = World::start().await;
    let volumes = world.volumes(COUNT).await;
    slow(&world, "connection-info.connect").await;
    let done = Arc::new(AtomicUsize::new(0));
    let (client, all) = (world.block(Persona::Member), volumes.clone());
    let requests = in_background(&done, move |n| {
        let (client, id) = (client.clone(), all[n].clone());
        async move {
            attach(&client, &id).await;
        }
    });
    once_some_are_done(&done, COUNT / 3).await;
    world.kill_and_restart().await;
    requests.await.unwrap();
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_detaches_leaves_no_connection_of_a_deleted_attachment() {
    let mut world = World::start().await;
    let client = world.block(Persona::Member);
    let mut attachments = Vec::new();
    for id in world.volumes(COUNT).await {
        attachments.push(attach(&client, &id).await.unwrap());
    }
    slow(&world, "connection-info.disconnect").await;
    let done = Arc::new(AtomicUsize::new(0));
    let requests = in_background(&done, move |n| {
        let (client, id) = (client.clone(), attachments[n].clone());
        async move {
            // an answer that the kill cut off is no failure
            let _ = client.try_send(Method::DELETE, &format!("/attachments/{id}"), None).await;
        }
    });
    once_some_are_done(&done, COUNT / 3).await;
    world.kill_and_restart().await;
    requests.await.unwrap();
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_kills_in_a_row_lose_nothing() {
    let mut world = World::start().await;
    slow(&world, "volumes.create").await;
    let client = world.block(Persona::Member);
    let mut accepted = Vec::new();
    for _ in 0..5 {
        for id in futures::future::join_all((0..6).map(|_| create_volume(&client))).await {
            accepted.extend(id);
        }
        world.kill_and_restart().await;
    }
    assert_eq!(accepted.len(), 30);
    for id in &accepted {
        client.volume_until(id, "available").await;
    }
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_hands_back_what_cannot_end_in_time() {
    let mut world = World::start().await;
    world.array.control.fault(Fault::on("volumes.create", Action::HoldCall)).await.unwrap();
    let id = create_volume(&world.block(Persona::Member)).await.unwrap();
    world.array.control.wait_held(1, support::wait::PATIENCE).await.unwrap();
    world.process.reconfigure(|c| c.listen.shutdown_grace = std::time::Duration::from_millis(200));
    world.kill_and_restart().await;
    world.array.control.release().await.unwrap();
    world.block(Persona::Member).volume_until(&id, "available").await;
    world.array.control.fault(Fault::on("volumes.delete", Action::HoldCall)).await.unwrap();
    world.block(Persona::Member).delete(&format!("/volumes/{id}")).await.expect(202);
    world.array.control.wait_held(1, support::wait::PATIENCE).await.unwrap();
    assert!(world.process.terminate().await.success());
    world.array.control.release().await.unwrap();
    world.process.restart().await;
    world.block(Persona::Member).until_gone(&format!("/volumes/{id}")).await;
    world.holds_true().await;
}
