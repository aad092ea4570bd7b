//! Two processes over one PostgreSQL. One is stopped past its lease, the other takes over, the first is continued.

use stowage::config::Bind;
use support::{
    Persona, Process,
    array::{Action, Array, Fault},
    db, postgres, wait,
};

use crate::world::{create_volume, on_array};

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_wakes_after_its_lease_changes_nothing() {
    if !db::is_wanted("postgres") {
        return;
    }
    let database = postgres::database().await;
    let array = Array::start().await.unwrap();
    let mut first = Process::start(|c| {
        on_array(c, array.url());
        c.database.url = database.url.clone();
    })
    .await;
    let personas = first.personas().await;
    let client = first.client(&personas, stowage::api::route::Api::Block, Persona::Member).at("3.54");
    let admin = first.client(&personas, stowage::api::route::Api::Block, Persona::Admin);
    let pools = format!("/{}/scheduler-stats/get_pools", admin.project_id);
    admin.until(&pools, |a| a.status == 200 && !a.body()["pools"].as_array().unwrap().is_empty()).await;

    array.control.fault(Fault::on("volumes.create", Action::HoldAnswer)).await.unwrap();
    let id = create_volume(&client).await.unwrap();
    array.control.wait_held(1, wait::PATIENCE).await.unwrap();
    first.pause();

    let second = Process::start(|c| {
        on_array(c, array.url());
        c.database.url = database.url.clone();
        c.listen.identity = Bind::OFF;
    })
    .await;
    let other = second.client(&personas, stowage::api::route::Api::Block, Persona::Member).at("3.54");
    other.volume_until(&id, "available").await;
    other.delete(&format!("/volumes/{id}")).await.expect(202);
    other.until_gone(&format!("/volumes/{id}")).await;

    array.control.release().await.unwrap();
    first.resume();
    // it registers anew once it has seen that its lease is over
    wait::until("the first process to notice", || std::future::ready(first.log().contains("lease was lost").then_some(()))).await;
    assert_eq!(other.get(&format!("/volumes/{id}")).await.status, 404, "the woken worker brought the volume back");
    assert_eq!(array.control.ids("volumes").await.unwrap(), Vec::<String>::new(), "the woken worker brought the object back");
    let generations: Vec<u64> = array.control.changes().await.unwrap().iter().filter(|c| c.id == id).map(|c| c.generation).collect();
    assert!(generations.is_sorted(), "an older generation reached the array after a newer one: {generations:?}");
    assert!(first.exited().is_none());
}
