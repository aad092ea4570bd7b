//! What a placement that finds nothing tells: each kind of limit by its name to the user, each pool's reason to the operator;
//! and functions that drivers and operators give their pools.

use serde_json::{Value, json};
use support::{Client, Persona, TestApp};

use crate::{
    array::{Array, Fault, pool},
    site::{Site, create, uuid},
};
use stowage::driver::ErrorKind;

/// Creates a volume that ends in error; its message, and what the operator reads.
async fn refused(app: &TestApp, members: Value) -> (Value, Value) {
    let member = app.block(Persona::Member).await;
    let id = create(&member, members).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    let placements = app.admin(Persona::Admin).await.get(&format!("/placements/{id}")).await.expect(200);
    (message(&member, &id).await, placements)
}

async fn message(member: &Client, id: &str) -> Value {
    let all = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200)["messages"].clone();
    assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
    all[0].clone()
}

#[track_caller]
fn tells(message: &Value, limit: &str) {
    assert_eq!(message["event_id"], "VOLUME_VOLUME_001_003");
    let text = message["user_message"].as_str().unwrap();
    assert!(text.starts_with("schedule allocate volume:Could not find any available weighted backend."), "{text}");
    assert!(text.to_lowercase().contains(limit), "{text}");
}

async fn make_type(site: &Site, specs: Value) -> String {
    let name = uuid();
    let body = json!({ "volume_type": { "name": name, "extra_specs": specs } });
    site.operator().await.post("/types", body).await.expect(200);
    name
}

#[tokio::test]
async fn without_a_back_end_none_is_ready() {
    let app = TestApp::without_backends().await;
    let (message, _) = refused(&app, json!({})).await;
    tells(&message, "no storage back end is ready yet");
}

#[tokio::test]
async fn each_kind_of_limit_is_told_by_its_name_and_each_pool_with_its_filter() {
    let site = Site::start_with(|c| c.quota.gigabytes = -1).await;
    let colored = make_type(&site, json!({ "color": "red" })).await;
    let western = make_type(&site, json!({ "RESKEY:availability_zones": "west" })).await;
    let cases = [
        (json!({ "volume_type": colored }), "has the capabilities that the type asks", "CapabilitiesFilter"),
        (json!({ "size": 20_000 }), "has enough free capacity", "CapacityFilter"),
        (json!({ "volume_type": western }), "is in the availability zone asked", "AvailabilityZoneFilter"),
    ];
    for (members, limit, filter) in cases {
        let (message, placements) = refused(&site, members.clone()).await;
        tells(&message, limit);
        assert!(placements.to_string().contains(filter), "{members}: {placements}");
    }
    let operator = site.operator().await;
    operator.put("/os-services/disable", json!({ "host": "stowage@a", "binary": "cinder-volume" })).await.expect(200);
    tells(&refused(&site, json!({})).await.0, "every storage back end that could take it is down or disabled");
    operator.put("/os-services/enable", json!({ "host": "stowage@a", "binary": "cinder-volume" })).await.expect(200);
    // frozen: the same for what is new
    operator.put("/os-services/freeze", json!({ "host": "stowage@a" })).await.expect(200);
    tells(&refused(&site, json!({})).await.0, "every storage back end that could take it is down or disabled");
    operator.put("/os-services/thaw", json!({ "host": "stowage@a" })).await.expect(200);
    site.volume().await;
}

#[tokio::test]
async fn hints_keep_together_and_apart_and_are_told_when_they_cannot() {
    let site = Site::start().await;
    let second = Array::new(&["q"]);
    site.serve("stowage@b", &second).await;
    let member = site.member().await;
    let first = site.volume().await;
    let backend_of = async |id: &str| site.app.app().store.volume(id).await.unwrap().unwrap().backend().unwrap().to_owned();
    let hinted = async |hints: Value| {
        let body = json!({ "volume": { "size": 1 }, "OS-SCH-HNT:scheduler_hints": hints });
        member.post("/volumes", body).await.expect(202)["volume"]["id"].as_str().unwrap().to_owned()
    };
    for _ in 0..3 {
        let id = hinted(json!({ "same_host": first })).await;
        member.volume_until(&id, "available").await;
        assert_eq!(backend_of(&id).await, backend_of(&first).await);
        let id = hinted(json!({ "different_host": [first] })).await;
        member.volume_until(&id, "available").await;
        assert_ne!(backend_of(&id).await, backend_of(&first).await);
    }
    for hints in [json!({ "same_host": uuid() }), json!({ "same_host": "no id" }), json!({ "different_host": "no id" })] {
        let id = hinted(hints.clone()).await;
        member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
        let text = message(&member, &id).await["user_message"].as_str().unwrap().to_owned();
        assert!(text.contains("satisfies the scheduler hints"), "{hints}: {text}");
    }
}

#[tokio::test]
async fn a_drivers_filter_function_keeps_volumes_away_from_its_pool_and_its_goodness_draws_them() {
    let site = Site::start().await;
    let second = Array::new(&["q"]);
    site.array.report(|r| r.pools[0].filter_function = Some("volume.size < 3".into()));
    second.report(|r| {
        r.pools[0].goodness_function = Some("volume.size == 1 ? 100 : 0".into());
        r.pools[0].filter_function = Some("volume.size < 5 && capabilities.total_capacity_gb == 10000".into());
    });
    site.serve("stowage@a", &site.array).await;
    site.serve("stowage@b", &second).await;
    for size in [1, 3, 4] {
        let id = site.volume_with(json!({ "size": size })).await;
        assert!(second.volumes().contains(&id), "{size} GiB");
    }
    let (message, placements) = refused(&site, json!({ "size": 5 })).await;
    tells(&message, "by its filter function");
    let text = placements.to_string();
    assert!(text.contains("DriverFilter") && text.contains("volume.size < 3"), "{text}");
    // one that cannot be computed keeps everything away, and says why to the operator
    second.report(|r| r.pools[0].filter_function = Some("stats.no_such > 1".into()));
    site.serve("stowage@b", &second).await;
    let (_, placements) = refused(&site, json!({ "size": 3 })).await;
    assert!(placements.to_string().contains("there is no stats.no_such"), "{placements}");
}

#[tokio::test]
async fn a_function_among_the_drivers_free_keys_counts_and_the_operators_counts_before_it() {
    let site = Site::start().await;
    let free = stowage::driver::types::Value::Text("0".into());
    site.array.report(|r| {
        r.pools[0].extra.insert("filter_function".into(), free);
    });
    site.serve("stowage@a", &site.array).await;
    tells(&refused(&site, json!({})).await.0, "by its filter function");
    site.serve_configured("stowage@a", &site.array, |c| c.filter_function = "volume.size < 2".into()).await;
    site.volume().await;
    tells(&refused(&site, json!({ "size": 2 })).await.0, "by its filter function");
    let pools = site.operator().await.get("/scheduler-stats/get_pools?detail=true").await.expect(200);
    assert_eq!(pools["pools"][0]["capabilities"]["filter_function"], "volume.size < 2");
}

#[tokio::test]
async fn an_extend_that_the_pools_function_declines_leaves_the_volume_as_it_was() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    site.array.report(|r| r.pools[0].filter_function = Some("volume.size < 4".into()));
    site.serve("stowage@a", &site.array).await;
    let extend =
        async |to: i64| member.post(&format!("/volumes/{id}/action"), json!({ "os-extend": { "new_size": to } })).await.expect(202);
    extend(3).await;
    member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["size"] == 3 && a.body()["volume"]["status"] == "available").await;
    extend(4).await;
    let found = message(&member, &id).await;
    assert_eq!(found["event_id"], "VOLUME_VOLUME_007_003");
    assert!(found["user_message"].as_str().unwrap().contains("filter function"), "{found}");
    assert_eq!(member.get(&format!("/volumes/{id}")).await.expect(200)["volume"]["size"], 3);
    assert_eq!(site.used(&member, "gigabytes").await, 3);
}

#[tokio::test]
async fn as_many_pools_are_tried_as_the_operator_allows_and_none_twice() {
    for (allowed, tried) in [(1, 1), (2, 2), (3, 3), (9, 4)] {
        let site = Site::start_with(move |c| c.scheduler.max_attempts = allowed).await;
        let member = site.member().await;
        site.array.report(|r| r.pools = ["p1", "p2", "p3", "p4"].map(pool).to_vec());
        site.serve("stowage@a", &site.array).await;
        for _ in 0..4 {
            site.array.fault("create", Fault::Refuse(ErrorKind::Exhausted));
        }
        let id = create(&member, json!({})).await;
        member.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
        assert_eq!(site.array.count("create"), tried, "{allowed} allowed");
        assert_eq!(message(&member, &id).await["event_id"], "VOLUME_VOLUME_008_012");
        assert_eq!(site.array.volumes(), Vec::<String>::new());
    }
}
