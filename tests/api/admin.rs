//! `/stowage/v1/backends` and `/stowage/v1/placements`: what an operator reads to see why something is, or is not, placed.

use serde_json::{Value, json};
use stowage::{api::route::Api, driver::capability::Capacity};
use support::{Client, Persona};

use crate::{
    array::{Array, pool},
    site::{Site, create, uuid},
};

/// A volume that came to nothing; its id.
async fn failed(client: &Client, members: Value) -> String {
    let id = create(client, members).await;
    client.until(&format!("/volumes/{id}"), |a| a.body()["volume"]["status"] == "error").await;
    id
}

#[tokio::test]
async fn both_are_for_administrators_only() {
    let site = Site::start().await;
    let volume = site.volume().await;
    for path in ["/backends".to_owned(), format!("/placements/{volume}"), format!("/placements/{}", uuid())] {
        let refused = site.anonymous(Api::Admin).get(&path).await;
        assert_eq!(refused.expect(401)["error"]["code"], 401, "{path}");
        for persona in [Persona::Member, Persona::Reader, Persona::Stranger, Persona::Service] {
            let refused = site.admin(persona).await.get(&path).await;
            let error = refused.expect(403)["error"].clone();
            assert_eq!(error, json!({ "code": 403, "message": "The admin API is for the role admin.", "who_can_act": "user" }), "{path}");
        }
        assert_ne!(site.admin(Persona::Admin).await.get(&path).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_back_end_is_shown_with_its_state_its_report_and_what_its_pools_were_given() {
    let site = Site::start().await;
    site.volume_with(json!({ "size": 3 })).await;
    let operator = site.admin(Persona::Admin).await;
    let backends = operator.get("/backends").await.expect(200)["backends"].clone();
    assert_eq!(backends.as_array().unwrap().len(), 1);
    let b = &backends[0];
    for (key, expected) in [
        ("host", json!("stowage@a")),
        ("name", json!("a")),
        ("kind", json!("block")),
        ("driver", json!("array")),
        ("availability_zone", json!("nova")),
        ("state", json!("up")),
        ("reason", json!(null)),
        ("enabled", json!(true)),
        ("frozen", json!(false)),
        ("configured", json!(true)),
        ("multiattach", json!(true)),
        ("shared_targets", json!(true)),
    ] {
        assert_eq!(b[key], expected, "{key}");
    }
    for key in ["since", "report_began_at", "reported_at", "service_uuid", "backend_name"] {
        assert!(b[key].as_str().is_some_and(|t| !t.is_empty()), "{key} in {b}");
    }
    let p = &b["pools"][0];
    assert_eq!(
        (&p["name"], &p["total"], &p["present"], &p["available"]),
        (&json!("stowage@a#p1"), &json!(10_000), &json!(true), &json!(true))
    );
    assert_eq!((&p["resources"], &p["allocated"]), (&json!(1), &json!(3)));
    assert_eq!(p["capabilities"]["multiattach"], true);
}

#[tokio::test]
async fn a_back_end_that_is_disabled_says_why() {
    let site = Site::start().await;
    let body = json!({ "host": "stowage@a", "binary": "cinder-volume", "disabled_reason": "new firmware" });
    site.operator().await.put("/os-services/disable-log-reason", body).await.expect(200);
    let b = site.admin(Persona::Admin).await.get("/backends").await.expect(200)["backends"][0].clone();
    assert_eq!((&b["enabled"], &b["disabled_reason"]), (&json!(false), &json!("new firmware")));
}

#[tokio::test]
async fn a_placement_names_the_pool_taken_with_its_weight_and_a_reason_for_each_other_one() {
    let site = Site::start().await;
    let small = Array::new(&["tiny"]);
    small.report(|r| r.pools = vec![stowage::driver::capability::Pool { free: Capacity::Gib(1.0), ..pool("tiny") }]);
    site.serve("stowage@b", &small).await;
    let (member, operator) = (site.member().await, site.admin(Persona::Admin).await);
    let id = site.volume_with(json!({ "size": 2 })).await;
    let all = operator.get(&format!("/placements/{id}")).await.expect(200)["placements"].clone();
    assert_eq!(all.as_array().unwrap().len(), 1);
    let p = &all[0];
    for (key, expected) in [
        ("resource_id", json!(id)),
        ("resource_kind", json!("volume")),
        ("operation", json!("create")),
        ("project_id", json!(member.project_id)),
        ("size_gib", json!(2)),
        ("pool", json!("stowage@a#p1")),
        ("limit", json!(null)),
        ("left_out", json!(0)),
    ] {
        assert_eq!(p[key], expected, "{key}");
    }
    assert!(p["request_id"].as_str().unwrap().starts_with("req-") && !p["at"].as_str().unwrap().is_empty());
    assert_eq!((p["ranked"].as_array().unwrap().len(), &p["ranked"][0]["pool"]), (1, &json!("stowage@a#p1")));
    assert!(p["ranked"][0]["weight"].is_number());
    let rejected = &p["rejected"][0];
    assert_eq!(
        (&rejected["pool"], &rejected["filter"], &rejected["limit"]),
        (&json!("stowage@b#tiny"), &json!("CapacityFilter"), &json!("capacity"))
    );
    assert!(rejected["reason"].as_str().unwrap().contains("2 GiB asked"), "{rejected}");
    assert_eq!(rejected["numbers"]["requested_gib"], 2);
}

#[tokio::test]
async fn a_failed_placement_is_kept_with_its_limit_whosever_it_was() {
    let site = Site::start().await;
    let stranger = site.block(Persona::Stranger).await;
    site.operator().await.put("/os-quota-class-sets/default", json!({ "quota_class_set": { "gigabytes": -1 } })).await.expect(200);
    let id = failed(&stranger, json!({ "size": 20_000 })).await;
    let p = site.admin(Persona::Admin).await.get(&format!("/placements/{id}")).await.expect(200)["placements"][0].clone();
    assert_eq!((&p["pool"], &p["limit"], &p["project_id"]), (&json!(null), &json!("capacity"), &json!(stranger.project_id)));
    assert_eq!((&p["ranked"], &p["rejected"][0]["pool"]), (&json!([]), &json!("stowage@a#p1")));
}

#[tokio::test]
async fn an_unknown_resource_is_404_whatever_its_name() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    for id in [uuid(), "nope".into(), "%F0%9F%A7%B1".into(), "'%3B--".into(), "x".repeat(4000)] {
        let error = operator.get(&format!("/placements/{id}")).await.expect(404)["error"].clone();
        assert_eq!(error["code"], 404);
    }
}

/// A full pool of the right kind is what the user is told of, not that another pool is of another kind.
#[tokio::test]
async fn a_user_reads_that_the_capacity_is_short_when_only_pools_of_another_kind_have_room() {
    let site = Site::start().await;
    let gold = Array::new(&["gold"]);
    gold.report(|r| {
        r.extra.insert("color".into(), stowage::driver::types::Value::Text("gold".into()));
        r.pools = vec![stowage::driver::capability::Pool { free: Capacity::Gib(1.0), ..pool("gold") }];
    });
    site.serve("stowage@b", &gold).await;
    let type_of = |name: &str, color: &str| json!({ "volume_type": { "name": name, "extra_specs": { "color": color } } });
    let (member, operator) = (site.member().await, site.operator().await);
    operator.post("/types", type_of("gold", "gold")).await.expect(200);
    operator.post("/types", type_of("blue", "blue")).await.expect(200);
    for (name, expected) in
        [("gold", "No storage back end has enough free capacity."), ("blue", "No storage back end has the capabilities")]
    {
        let id = failed(&member, json!({ "size": 5, "volume_type": name })).await;
        let messages = member.at("3.5").get(&format!("/messages?resource_uuid={id}")).await.expect(200);
        let text = messages["messages"][0]["user_message"].as_str().unwrap();
        assert!(text.contains(expected), "{name}: {text}");
    }
}

/// Every member that holds a time, anywhere in an answer.
fn times(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|v| times(v, found)),
        Value::Object(map) => {
            for (key, member) in map {
                let is_time = key == "since" || key == "at" || key == "began" || key.ends_with("_at") || key.ends_with("_since");
                if is_time && !member.is_null() {
                    found.push(format!("{key} {}", member.as_str().unwrap_or("no text")));
                }
                times(member, found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_time_is_iso_8601_in_utc_and_none_is_the_epoch() {
    let site = Site::start_with(|c| c.quota.gigabytes = -1).await;
    let volume = site.volume().await;
    failed(&site.member().await, json!({ "size": 20_000 })).await;
    let operator = site.admin(Persona::Admin).await;
    site.until("the loops to have run", || async {
        let loops = operator.get("/loops").await.expect(200)["loops"].clone();
        loops.as_object().unwrap().values().any(|l| l["last_run_at"].is_string())
    })
    .await;
    let mut found = Vec::new();
    for path in ["/backends".to_owned(), "/drivers".to_owned(), "/jobs".to_owned(), "/loops".to_owned(), format!("/placements/{volume}")] {
        times(&operator.get(&path).await.expect(200), &mut found);
    }
    times(&site.anonymous(Api::Admin).rooted_at("").get("/healthz").await.expect(200), &mut found);
    assert!(found.len() > 10, "{found:?}");
    for time in found {
        let text = time.split_once(' ').unwrap().1;
        assert!(text.len() == 27 && text.ends_with('Z') && text[10..].starts_with('T') && !text.starts_with("1970"), "{time}");
    }
}

#[tokio::test]
async fn a_loop_is_run_by_its_name_which_is_words_with_hyphens() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    let loops = operator.get("/loops").await.expect(200)["loops"].clone();
    for name in loops.as_object().unwrap().keys() {
        assert!(name.split('-').all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase())), "{name}");
        operator.post(&format!("/loops/{name}/run"), json!({})).await.expect(202);
    }
    assert!(loops.as_object().unwrap().contains_key("empty-bin"), "{loops}");
    operator.post("/loops/empty_bin/run", json!({})).await.expect(404);
}

#[tokio::test]
async fn a_back_end_whose_pools_take_nothing_is_down_as_storage_though_its_service_is_up() {
    let site = Site::start().await;
    let operator = site.operator().await.at("3.49");
    site.array.report(|r| r.pools[0].available = false);
    site.serve("stowage@a", &site.array).await;
    let service = operator.get("/os-services?binary=cinder-volume").await.expect(200)["services"][0].clone();
    assert_eq!((&service["state"], &service["backend_state"]), (&json!("up"), &json!("down")));
    let pools = operator.get("/scheduler-stats/get_pools?detail=true").await.expect(200)["pools"].clone();
    assert_eq!(pools[0]["capabilities"]["backend_state"], "down");
    site.array.report(|r| r.pools[0].available = true);
    site.serve("stowage@a", &site.array).await;
    let pools = operator.get("/scheduler-stats/get_pools?detail=true").await.expect(200)["pools"].clone();
    assert_eq!(pools[0]["capabilities"]["backend_state"], "up");
}
