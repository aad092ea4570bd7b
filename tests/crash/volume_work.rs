//! Snapshots, copies and extends, cut short.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use http::Method;
use serde_json::{Value, json};
use support::{
    Client, Persona,
    array::{Action, Fault},
};

use crate::world::{World, once_some_are_done};

const COUNT: usize = 24;

async fn slow(world: &World, verb: &str) {
    world.array.control.fault(Fault::on(verb, Action::Delay { milliseconds: 60 }).times(10_000)).await.unwrap();
}

async fn post(client: &Client, path: &str, body: Value) -> Option<Value> {
    let answer = client.try_send(Method::POST, path, Some(body)).await.ok()?;
    Some(answer.expect(202))
}

/// Sends one request a volume, all at once; kills the service when half of them are answered.
async fn kill_during<F>(world: &mut World, work: impl Fn(usize) -> F) -> Vec<Option<Value>>
where
    F: Future<Output = Option<Value>> + Send + 'static,
{
    let done = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..COUNT)
        .map(|n| {
            let (one, done) = (work(n), Arc::clone(&done));
            tokio::spawn(async move {
                let answer = one.await;
                done.fetch_add(1, Ordering::SeqCst);
                answer
            })
        })
        .collect();
    once_some_are_done(&done, COUNT / 2).await;
    world.kill_and_restart().await;
    futures::future::join_all(tasks).await.into_iter().map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_snapshots_ends_with_every_accepted_one_available() {
    let mut world = World::start().await;
    world.process.reconfigure(|c| c.quota.snapshots = -1);
    world.kill_and_restart().await;
    let volumes = world.volumes(COUNT).await;
    slow(&world, "volume-snapshots.create").await;
    let client = world.block(Persona::Member);
    let made = kill_during(&mut world, |n| {
        let (client, volume) = (client.clone(), volumes[n].clone());
        async move { post(&client, "/snapshots", json!({ "snapshot": { "volume_id": volume } })).await }
    })
    .await;
    for id in made.into_iter().flatten().map(|s| s["snapshot"]["id"].as_str().unwrap().to_owned()) {
        client.until(&format!("/snapshots/{id}"), |a| a.body()["snapshot"]["status"] == "available").await;
    }
    world.holds_true().await;
    // and so for a volume that goes with its snapshot
    slow(&world, "volume-snapshots.delete").await;
    let gone = kill_during(&mut world, |n| {
        let (client, volume) = (client.clone(), volumes[n].clone());
        async move {
            let answer = client.try_send(Method::DELETE, &format!("/volumes/{volume}?cascade=true"), None).await.ok()?;
            answer.expect(202);
            Some(json!(volume))
        }
    })
    .await;
    for volume in gone.into_iter().flatten() {
        client.until_gone(&format!("/volumes/{}", volume.as_str().unwrap())).await;
    }
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_during_extends_and_copies_ends_with_true_sizes() {
    let mut world = World::start().await;
    let volumes = world.volumes(COUNT).await;
    slow(&world, "volumes.extend").await;
    slow(&world, "volume-clone.clone").await;
    let client = world.block(Persona::Member);
    let answers = kill_during(&mut world, |n| {
        let (client, volume) = (client.clone(), volumes[n].clone());
        async move {
            if n % 2 == 0 {
                let path = format!("/volumes/{volume}/action");
                post(&client, &path, json!({ "os-extend": { "new_size": 3 } })).await.map(|_| json!({ "extended": volume }))
            } else {
                post(&client, "/volumes", json!({ "volume": { "source_volid": volume, "size": 3 } })).await
            }
        }
    })
    .await;
    for answer in answers.into_iter().flatten() {
        let id = answer["extended"].as_str().or(answer["volume"]["id"].as_str()).unwrap().to_owned();
        assert_eq!(client.volume_until(&id, "available").await["size"], 3);
    }
    world.holds_true().await;
    // what the array holds is as large as the service says
    let objects = world.array.control.objects().await.unwrap();
    for volume in world.shown().await {
        let object = &objects["volumes"][volume["id"].as_str().unwrap()];
        assert_eq!(json!(object.gib), volume["size"], "{volume}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_answers_of_snapshot_extend_and_revert_are_repeated() {
    let world = World::start().await;
    let client = world.block(Persona::Member);
    let volume = world.volume().await;
    for verb in ["volume-snapshots.create", "volumes.extend", "volume-revert.revert"] {
        world.array.control.fault(Fault::on(verb, Action::DropAnswer)).await.unwrap();
    }
    let made = post(&client, "/snapshots", json!({ "snapshot": { "volume_id": volume } })).await.unwrap();
    let id = made["snapshot"]["id"].as_str().unwrap();
    let path = format!("/snapshots/{id}");
    client.until(&path, |a| a.body()["snapshot"]["status"] == "available").await;
    let action = format!("/volumes/{volume}/action");
    post(&client, &action, json!({ "revert": { "snapshot_id": id } })).await.unwrap();
    client.volume_until(&volume, "available").await;
    client.until(&path, |a| a.body()["snapshot"]["status"] == "available").await;
    post(&client, &action, json!({ "os-extend": { "new_size": 2 } })).await.unwrap();
    assert_eq!(client.volume_until(&volume, "available").await["size"], 2);
    world.holds_true().await;
    world.array.control.fault(Fault::on("volume-snapshots.delete", Action::DropAnswer)).await.unwrap();
    client.delete(&path).await.expect(202);
    client.until_gone(&path).await;
    world.holds_true().await;
}
