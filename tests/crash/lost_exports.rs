//! What the array lost of its exports is there again when its back end has come into service.

use stowage::{api::route::Api, config::Bind};
use support::{
    Client, Persona, Process,
    array::{Action, Array, Control, Fault, control::Objects},
    db, postgres, wait,
};

use crate::world::{World, connector, create_volume, on_array};

async fn attached(client: &Client) -> String {
    let id = create_volume(client).await.unwrap();
    client.volume_until(&id, "available").await;
    let body = serde_json::json!({ "attachment": { "volume_uuid": id, "connector": connector() } });
    client.post("/attachments", body).await.expect(200);
    id
}

async fn connections(array: &Control) -> Objects {
    let mut all = array.objects().await.unwrap();
    all.retain(|kind, _| kind == "connections");
    all
}

/// What the array holds of connections, but for the versions of its objects.
fn told(objects: &Objects) -> Vec<(String, serde_json::Value)> {
    objects.values().flatten().map(|(id, o)| (id.clone(), o.data.clone())).collect()
}

async fn there_again(array: &Control, before: &Objects) {
    wait::until("the connections, as they were", || async { (told(&connections(array).await) == told(before)).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_start_of_the_service() {
    let mut world = World::start().await;
    for _ in 0..3 {
        attached(&world.block(Persona::Member)).await;
    }
    let before = connections(&world.array.control).await;
    assert_eq!(told(&before).len(), 3);
    world.process.kill();
    world.array.control.lose("connections").await.unwrap();
    world.process.restart().await;
    there_again(&world.array.control, &before).await;
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_back_end_was_down() {
    let world = World::start().await;
    attached(&world.block(Persona::Member)).await;
    let before = connections(&world.array.control).await;
    // the start's own has passed
    world.idle().await;
    world.array.control.lose("connections").await.unwrap();
    // a refusal takes it down at once
    world.array.control.fault(Fault { kind: "used".into(), ..Fault::on("", Action::Refuse(403)) }).await.unwrap();
    there_again(&world.array.control, &before).await;
    let run = world.admin().get("/backends/stowage@array/ensure").await.expect(200)["ensure"].clone();
    assert_eq!(run["cause"], "up", "{run}");
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn also_where_the_service_is_killed_in_the_middle() {
    let mut world = World::start().await;
    for _ in 0..6 {
        attached(&world.block(Persona::Member)).await;
    }
    let before = connections(&world.array.control).await;
    world.process.kill();
    world.array.control.lose("connections").await.unwrap();
    let held = Fault { method: "PUT".into(), kind: "connections".into(), ..Fault::on("connection-info.ensure-export", Action::HoldCall) };
    world.array.control.fault(held).await.unwrap();
    world.process.restart().await;
    world.array.control.wait_held(1, wait::PATIENCE).await.unwrap();
    world.process.kill();
    world.array.control.release().await.unwrap();
    world.process.restart().await;
    there_again(&world.array.control, &before).await;
    world.holds_true().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn once_when_two_processes_read_a_changed_configuration() {
    if !db::is_wanted("postgres") {
        return;
    }
    let database = postgres::database().await;
    let array = Array::start().await.unwrap();
    let start = |identity: bool| {
        let (url, database) = (array.url().to_owned(), database.url.clone());
        Process::start(move |c| {
            on_array(c, &url);
            c.database.url = database;
            if !identity {
                c.listen.identity = Bind::OFF;
            }
        })
    };
    let mut first = start(true).await;
    let personas = first.personas().await;
    let mut second = start(false).await;
    let admin = second.client(&personas, Api::Admin, Persona::Admin);
    let up = |a: &support::Answer| a.expect(200)["backends"][0]["state"] == "up";
    admin.until("/backends", up).await;
    let client = first.client(&personas, Api::Block, Persona::Member).at("3.54");
    for _ in 0..3 {
        attached(&client).await;
    }
    let before = connections(&array.control).await;
    let ensured = async || {
        let calls = array.control.calls().await.unwrap();
        calls.iter().filter(|c| c.verb == "connection-info.ensure-export" && c.kind == "volumes").count()
    };
    assert_eq!(ensured().await, 0, "nothing was connected when they started");
    array.control.lose("connections").await.unwrap();
    for process in [&mut first, &mut second] {
        process.reconfigure(|c| drop(c.backends[0].options.insert("chap".into(), true.into())));
        process.signal(rustix::process::Signal::HUP);
    }
    there_again(&array.control, &before).await;
    // one began the run, the other found it
    let said = |what: &str| [&first, &second].iter().filter(|p| p.log().contains(what)).count();
    wait::until("both to have read the change", || {
        let both = said("what is connected is exported again\"") == 1 && said("what is connected has been exported again") == 1;
        std::future::ready(both.then_some(()))
    })
    .await;
    let run = admin.until("/backends/stowage@array/ensure", |a| a.expect(200)["ensure"]["state"] == "done").await;
    let run = run.body()["ensure"].clone();
    assert_eq!((run["cause"].clone(), run["exported"].clone()), ("change".into(), 3.into()), "{run}");
    assert_eq!(ensured().await, 3, "each volume once");
}
