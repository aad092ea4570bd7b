//! QoS specs: what operators say of them, which types have them, and where they arrive.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::site::{Site, connect, create, reserve, uuid};

async fn make(site: &Site, consumer: Option<&str>, pairs: Value) -> Value {
    let mut body = json!({ "name": uuid() });
    if let Some(consumer) = consumer {
        body["consumer"] = json!(consumer);
    }
    body.as_object_mut().unwrap().extend(pairs.as_object().unwrap().clone());
    site.operator().await.post("/qos-specs", json!({ "qos_specs": body })).await.expect(200)["qos_specs"].clone()
}

fn id(of: &Value) -> &str {
    of["id"].as_str().unwrap()
}

async fn make_type(site: &Site) -> (String, String) {
    let name = uuid();
    let made = site.operator().await.post("/types", json!({ "volume_type": { "name": name } })).await.expect(200);
    (made["volume_type"]["id"].as_str().unwrap().to_owned(), name)
}

#[tokio::test]
async fn they_are_made_read_changed_and_deleted() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let made = make(&site, None, json!({ "maxiops": "500", "burst": 7 })).await;
    assert_eq!((&made["consumer"], &made["specs"]), (&json!("back-end"), &json!({ "maxiops": "500", "burst": "7" })));
    let path = format!("/qos-specs/{}", id(&made));
    let shown = operator.get(&path).await.expect(200);
    assert_eq!(shown["qos_specs"], made);
    assert!(shown["links"][0]["href"].as_str().unwrap().ends_with(&path));
    let answer = operator.put(&path, json!({ "qos_specs": { "maxiops": "600", "consumer": "both" } })).await.expect(200);
    assert_eq!(answer, json!({ "qos_specs": { "maxiops": "600", "consumer": "both" } }));
    operator.put(&format!("{path}/delete_keys"), json!({ "keys": ["burst"] })).await.expect(202);
    let shown = operator.get(&path).await.expect(200)["qos_specs"].clone();
    assert_eq!((&shown["consumer"], &shown["specs"]), (&json!("both"), &json!({ "maxiops": "600" })));
    assert_eq!(operator.put(&format!("{path}/delete_keys"), json!({ "keys": ["maxiops", "burst"] })).await.status, 404);
    assert_eq!(operator.get(&path).await.expect(200)["qos_specs"]["specs"], json!({ "maxiops": "600" }), "all of the keys, or none");
    operator.delete(&path).await.expect(202);
    assert_eq!(operator.get(&path).await.status, 404);
    for path in [path.clone(), format!("{path}/associations"), format!("{path}/disassociate_all")] {
        assert_eq!(operator.get(&path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn what_is_not_right_is_refused_by_name() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let made = make(&site, None, json!({})).await;
    let taken = json!({ "qos_specs": { "name": made["name"] } });
    assert!(operator.post("/qos-specs", taken).await.fault(409).contains("already exists"));
    for bad in [
        json!({}),
        json!({ "qos_specs": [] }),
        json!({ "qos_specs": {} }),
        json!({ "qos_specs": { "name": " " } }),
        json!({ "qos_specs": { "name": "n", "consumer": "nobody" } }),
        json!({ "qos_specs": { "name": "n", "k": {} } }),
        json!({ "qos_specs": { "name": "n", "k": "x".repeat(256) } }),
    ] {
        assert_eq!(operator.post("/qos-specs", bad.clone()).await.status, 400, "{bad}");
    }
    let path = format!("/qos-specs/{}", id(&made));
    assert_eq!(operator.put(&path, json!({ "qos_specs": {} })).await.status, 400);
    assert_eq!(operator.put(&format!("{path}/delete_keys"), json!({ "keys": "k" })).await.status, 400);
    assert_eq!(operator.get(&format!("{path}/associate")).await.status, 400);
    assert_eq!(operator.get(&format!("{path}/associate?vol_type_id={}", uuid())).await.status, 404);
    assert_eq!(operator.delete(&format!("{path}?force=maybe")).await.status, 400);
}

#[tokio::test]
async fn a_list_has_pages_and_a_marker_that_may_be_deleted() {
    let site = Site::start().await;
    let operator = site.operator().await;
    for n in 0..4 {
        operator.post("/qos-specs", json!({ "qos_specs": { "name": format!("q{n}") } })).await.expect(200);
    }
    let names = |page: &Value| -> Vec<String> {
        page["qos_specs"].as_array().unwrap().iter().map(|q| q["name"].as_str().unwrap().to_owned()).collect()
    };
    let page = operator.get("/qos-specs?sort=name:asc&limit=2").await.expect(200);
    assert_eq!(names(&page), ["q0", "q1"]);
    let next = page["qos_specs_links"][0]["href"].as_str().unwrap().split_once("/v3").unwrap().1.to_owned();
    operator.delete(&format!("/qos-specs/{}", id(&page["qos_specs"][1]))).await.expect(202);
    assert_eq!(names(&operator.get(&next).await.expect(200)), ["q2", "q3"]);
    assert_eq!(names(&operator.get("/qos-specs?consumer=both").await.expect(200)), Vec::<String>::new());
}

#[tokio::test]
async fn a_type_has_at_most_one_and_loses_it_when_it_is_taken_or_deleted_by_force() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let (one, two) = (make(&site, None, json!({})).await, make(&site, None, json!({})).await);
    let (type_id, type_name) = make_type(&site).await;
    let path = format!("/qos-specs/{}", id(&one));
    let of_type = async || operator.get(&format!("/types/{type_id}")).await.expect(200)["volume_type"]["qos_specs_id"].clone();
    for _ in 0..2 {
        operator.get(&format!("{path}/associate?vol_type_id={type_id}")).await.expect(202);
    }
    assert_eq!(of_type().await, one["id"]);
    let associations = operator.get(&format!("{path}/associations")).await.expect(200);
    assert_eq!(associations["qos_associations"], json!([{ "association_type": "volume_type", "id": type_id, "name": type_name }]));
    let other = format!("/qos-specs/{}/associate?vol_type_id={type_id}", id(&two));
    assert!(operator.get(&other).await.fault(400).contains("already associated"));
    assert!(operator.delete(&path).await.fault(400).contains("still associated"));
    operator.get(&format!("{path}/disassociate?vol_type_id={type_id}")).await.expect(202);
    assert_eq!(of_type().await, Value::Null);
    assert_eq!(operator.get(&format!("{path}/disassociate?vol_type_id={type_id}")).await.status, 404);
    operator.get(&other).await.expect(202);
    operator.get(&format!("/qos-specs/{}/disassociate_all", id(&two))).await.expect(202);
    assert_eq!(of_type().await, Value::Null);
    operator.get(&other).await.expect(202);
    operator.delete(&format!("/qos-specs/{}?force=true", id(&two))).await.expect(202);
    assert_eq!(of_type().await, Value::Null);
    // users do not see which one their type has
    let shown = site.member().await.get(&format!("/types/{type_id}")).await.expect(200);
    assert!(shown["volume_type"].get("qos_specs_id").is_none());
}

#[tokio::test]
async fn the_back_end_gets_its_specs_with_the_volume_and_whoever_attaches_gets_the_front_ends() {
    for (consumer, at_back_end, at_front_end) in [
        ("back-end", json!({ "maxiops": "500" }), Value::Null),
        ("front-end", json!({}), json!({ "maxiops": "500" })),
        ("both", json!({ "maxiops": "500" }), json!({ "maxiops": "500" })),
    ] {
        let site = Site::start().await;
        let (member, operator) = (site.member().await, site.operator().await);
        let specs = make(&site, Some(consumer), json!({ "maxiops": "500" })).await;
        let (type_id, type_name) = make_type(&site).await;
        operator.get(&format!("/qos-specs/{}/associate?vol_type_id={type_id}", id(&specs))).await.expect(202);
        let volume = site.volume_with(json!({ "volume_type": type_name })).await;
        let told: BTreeMap<String, String> = serde_json::from_value(at_back_end).unwrap();
        assert_eq!(site.array.qos_of(&volume), told, "{consumer}");
        let attachment = reserve(&member, &volume, None).await;
        let info = connect(&member, &attachment, "h").await.expect(200)["attachment"]["connection_info"].clone();
        assert_eq!(info["qos_specs"], at_front_end, "{consumer}: {info}");
    }
}

#[tokio::test]
async fn a_pools_filter_function_sees_them() {
    let site = Site::start().await;
    site.array.report(|r| r.pools[0].filter_function = Some("qos.maxiops <= 500".into()));
    site.serve("stowage@a", &site.array).await;
    let member = site.member().await;
    for (maxiops, ends) in [("500", "available"), ("501", "error")] {
        let specs = make(&site, Some("front-end"), json!({ "maxiops": maxiops })).await;
        let (type_id, type_name) = make_type(&site).await;
        site.operator().await.get(&format!("/qos-specs/{}/associate?vol_type_id={type_id}", id(&specs))).await.expect(202);
        let volume = create(&member, json!({ "volume_type": type_name })).await;
        member.until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["status"] == ends).await;
    }
}

#[tokio::test]
async fn an_attached_volume_is_not_retyped_to_other_limits_at_the_front_end() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let specs = make(&site, Some("front-end"), json!({ "maxiops": "500" })).await;
    let (type_id, type_name) = make_type(&site).await;
    operator.get(&format!("/qos-specs/{}/associate?vol_type_id={type_id}", id(&specs))).await.expect(202);
    let volume = site.volume().await;
    let attachment = crate::site::attach(&member, &volume, "h").await;
    let retype = json!({ "os-retype": { "new_type": type_name, "migration_policy": "never" } });
    let path = format!("/volumes/{volume}/action");
    assert!(member.post(&path, retype.clone()).await.fault(400).contains("front-end"));
    crate::site::detach(&member, &attachment).await.expect(200);
    member.post(&path, retype).await.expect(202);
    member.until(&format!("/volumes/{volume}"), |a| a.body()["volume"]["volume_type"] == json!(type_name)).await;
}
