//! Volume types, extra specs, access.

use serde_json::{Value, json};
use support::Persona;

use crate::site::{Site, create};

fn named(name: &str, more: Value) -> Value {
    let mut t = json!({ "name": name });
    t.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "volume_type": t })
}

#[tokio::test]
async fn the_default_type_is_there_from_the_first_start_and_cannot_be_deleted() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let default = member.get("/types/default").await.expect(200)["volume_type"].clone();
    assert_eq!(default["name"], "__DEFAULT__");
    let path = format!("/types/{}", default["id"].as_str().unwrap());
    assert!(operator.delete(&path).await.fault(400).contains("default volume type"));
    assert_eq!(operator.put(&path, json!({ "volume_type": { "name": "x" } })).await.status, 400);
    let restarted = site.app.restart().await;
    let again = restarted.block(Persona::Admin).await.get("/types").await.expect(200);
    assert_eq!(again["volume_types"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_type_is_created_changed_and_deleted_by_admins_only() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    assert_eq!(member.post("/types", named("t", json!({}))).await.status, 403);
    let specs = json!({ "volume_backend_name": "x" });
    let body = named(" t ", json!({ "description": "d", "extra_specs": specs, "os-volume-type-access:is_public": true }));
    let made = operator.post("/types", body).await.expect(200)["volume_type"].clone();
    let id = made["id"].as_str().unwrap().to_owned();
    let expected = json!({
        "id": id, "name": "t", "is_public": true, "description": "d", "extra_specs": specs, "os-volume-type-access:is_public": true
    });
    assert_eq!(made, expected);
    let mut shown = expected.clone();
    shown["qos_specs_id"] = Value::Null;
    assert_eq!(operator.get(&format!("/types/{id}")).await.expect(200)["volume_type"], shown);
    assert!(operator.post("/types", named("t", json!({}))).await.fault(409).contains("already exists"));
    let path = format!("/types/{id}");
    let changed = operator.put(&path, json!({ "volume_type": { "name": "u", "is_public": false } })).await.expect(200);
    let expected = json!({ "id": id, "name": "u", "is_public": false, "description": "d", "extra_specs": specs });
    assert_eq!(changed["volume_type"], expected);
    assert_eq!(operator.put(&path, json!({ "volume_type": { "name": "__DEFAULT__" } })).await.status, 409);
    assert_eq!(operator.put(&path, json!({ "volume_type": {} })).await.status, 400);
    assert_eq!(operator.put(&path, json!({ "volume_type": { "name": "  " } })).await.status, 400);
    operator.delete(&path).await.expect(202);
    assert_eq!(operator.delete(&path).await.status, 404);
    for bad in
        [json!({}), json!({ "name": "" }), json!({ "name": 1 }), json!({ "name": "x".repeat(256) }), json!({ "name": "x", "color": 1 })]
    {
        assert_eq!(operator.post("/types", json!({ "volume_type": bad })).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn users_read_only_the_specs_made_for_them() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let specs = json!({ "volume_backend_name": "secret", "multiattach": "<is> True", "RESKEY:availability_zones": "nova" });
    let made = operator.post("/types", named("t", json!({ "extra_specs": specs }))).await.expect(200);
    let path = format!("/types/{}", made["volume_type"]["id"].as_str().unwrap());
    let seen = json!({ "multiattach": "<is> True", "RESKEY:availability_zones": "nova" });
    assert_eq!(member.get(&path).await.expect(200)["volume_type"]["extra_specs"], seen);
    assert!(member.get(&path).await.expect(200)["volume_type"].get("qos_specs_id").is_none());
    assert_eq!(member.get(&format!("{path}/extra_specs")).await.expect(200)["extra_specs"], seen);
    assert_eq!(member.get(&format!("{path}/extra_specs/volume_backend_name")).await.status, 404);
    assert_eq!(
        operator.get(&format!("{path}/extra_specs/volume_backend_name")).await.expect(200),
        json!({ "volume_backend_name": "secret" })
    );
    let filter = |dict: &str| format!("/types?extra_specs={}", url::form_urlencoded::byte_serialize(dict.as_bytes()).collect::<String>());
    let count = |body: Value| body["volume_types"].as_array().unwrap().len();
    assert_eq!(count(member.at("3.52").get(&filter("{'multiattach': '<is> True'}")).await.expect(200)), 1);
    assert_eq!(count(member.at("3.52").get(&filter("{'volume_backend_name': 'secret'}")).await.expect(200)), 0);
    assert_eq!(count(operator.at("3.52").get(&filter("{'volume_backend_name': 'secret'}")).await.expect(200)), 1);
}

#[tokio::test]
async fn extra_specs_are_merged_set_and_removed_while_no_volume_has_the_type() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let made = operator.post("/types", named("t", json!({ "extra_specs": { "a": "1" } }))).await.expect(200);
    let id = made["volume_type"]["id"].as_str().unwrap();
    let path = format!("/types/{id}/extra_specs");
    assert_eq!(operator.post(&path, json!({ "extra_specs": { "b": "2" } })).await.expect(200), json!({ "extra_specs": { "b": "2" } }));
    assert_eq!(operator.put(&format!("{path}/a"), json!({ "a": "3" })).await.expect(200), json!({ "a": "3" }));
    assert_eq!(operator.get(&path).await.expect(200), json!({ "extra_specs": { "a": "3", "b": "2" } }));
    assert!(operator.put(&format!("{path}/a"), json!({ "b": "3" })).await.fault(400).contains("mismatch"));
    assert!(operator.put(&format!("{path}/a"), json!({ "a": "3", "b": "4" })).await.fault(400).contains("too many"));
    operator.delete(&format!("{path}/b")).await.expect(202);
    assert_eq!(operator.delete(&format!("{path}/b")).await.status, 404);
    assert_eq!(member.post(&path, json!({ "extra_specs": { "c": "1" } })).await.status, 403);
    operator.delete(&format!("{path}/a")).await.expect(202);
    create(&member, json!({ "volume_type": "t" })).await;
    assert_eq!(operator.post(&path, json!({ "extra_specs": { "c": "1" } })).await.fault(400), "Volume Type is currently in use.");
    assert_eq!(operator.put(&format!("{path}/c"), json!({ "c": "1" })).await.status, 400);
    assert_eq!(operator.delete(&format!("/types/{id}")).await.fault(400), "Target volume type is still in use.");
}

#[tokio::test]
async fn specs_that_could_never_match_are_refused_when_they_are_set() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let made = operator.post("/types", named("t", json!({}))).await.expect(200);
    let path = format!("/types/{}/extra_specs", made["volume_type"]["id"].as_str().unwrap());
    for (key, value) in [
        ("size", json!("<or>")),
        ("size", json!(">= ten")),
        ("size", json!("< 5")),
        ("ключ", json!("v")),
        ("", json!("v")),
        ("k", json!(1)),
        ("k", json!({})),
    ] {
        assert_eq!(operator.post(&path, json!({ "extra_specs": { key: value } })).await.status, 400, "{key} {value}");
    }
    let clash = json!({ "extra_specs": { "multiattach": "<is> True", "cacheable": "<is> True" } });
    assert_eq!(operator.post(&path, clash).await.fault(400), "cacheable cannot be set with multiattach.");
    operator.post(&path, json!({ "extra_specs": { "multiattach": "<is> True" } })).await.expect(200);
    assert_eq!(operator.put(&format!("{path}/cacheable"), json!({ "cacheable": "<is> True" })).await.status, 400);
}

#[tokio::test]
async fn a_private_type_is_for_the_projects_it_was_given_to() {
    let site = Site::start().await;
    let (member, operator, stranger) = (site.member().await, site.operator().await, site.block(Persona::Stranger).await);
    let made = operator.post("/types", named("p", json!({ "os-volume-type-access:is_public": false }))).await.expect(200);
    let path = format!("/types/{}", made["volume_type"]["id"].as_str().unwrap());
    assert_eq!(member.get(&path).await.status, 404);
    assert_eq!(member.post("/volumes", json!({ "volume": { "size": 1, "volume_type": "p" } })).await.status, 404);
    let grant = json!({ "addProjectAccess": { "project": member.project_id } });
    assert_eq!(member.post(&format!("{path}/action"), grant.clone()).await.status, 403);
    operator.post(&format!("{path}/action"), grant.clone()).await.expect(202);
    assert_eq!(operator.post(&format!("{path}/action"), grant).await.status, 409);
    let listed = operator.get(&format!("{path}/os-volume-type-access")).await.expect(200);
    assert_eq!(listed["volume_type_access"], json!([{ "volume_type_id": made["volume_type"]["id"], "project_id": member.project_id }]));
    member.get(&path).await.expect(200);
    create(&member, json!({ "volume_type": "p" })).await;
    assert_eq!(stranger.get(&path).await.status, 404);
    let names =
        |body: Value| body["volume_types"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(member.get("/types?sort=name:asc").await.expect(200)), ["__DEFAULT__", "p"]);
    assert_eq!(names(stranger.get("/types").await.expect(200)), ["__DEFAULT__"]);
    assert_eq!(names(operator.get("/types").await.expect(200)), ["__DEFAULT__"]);
    assert_eq!(names(operator.get("/types?is_public=False").await.expect(200)), ["p"]);
    assert_eq!(names(operator.get("/types?is_public=None").await.expect(200)).len(), 2);
    assert_eq!(operator.get("/types?is_public=maybe").await.status, 400);
    let withdraw = json!({ "removeProjectAccess": { "project": member.project_id } });
    operator.post(&format!("{path}/action"), withdraw.clone()).await.expect(202);
    assert_eq!(operator.post(&format!("{path}/action"), withdraw).await.status, 404);
    assert_eq!(operator.get("/types/default").await.expect(200)["volume_type"]["name"], "__DEFAULT__");
    let public = format!("/types/{}", operator.get("/types/default").await.body()["volume_type"]["id"].as_str().unwrap());
    assert_eq!(operator.get(&format!("{public}/os-volume-type-access")).await.status, 404);
    assert_eq!(operator.post(&format!("{public}/action"), json!({ "addProjectAccess": { "project": "x" } })).await.status, 400);
    assert_eq!(operator.post(&format!("{public}/action"), json!({ "paint": {} })).await.status, 400);
}

#[tokio::test]
async fn a_types_figures_follow_its_name() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let made = operator.post("/types", named("old", json!({}))).await.expect(200);
    let id = site.volume_with(json!({ "volume_type": "old", "size": 2 })).await;
    assert_eq!(site.used(&member, "gigabytes_old").await, 2);
    operator.put(&format!("/types/{}", made["volume_type"]["id"].as_str().unwrap()), named("new", json!({}))).await.expect(200);
    assert_eq!(site.used(&member, "gigabytes_new").await, 2);
    member.delete(&format!("/volumes/{id}")).await.expect(202);
    member.until_gone(&format!("/volumes/{id}")).await;
    assert_eq!((site.used(&member, "gigabytes_new").await, site.used(&member, "volumes_new").await), (0, 0));
}

#[tokio::test]
async fn types_are_paged() {
    let site = Site::start().await;
    let operator = site.operator().await;
    for n in 0..4 {
        operator.post("/types", named(&format!("t{n}"), json!({}))).await.expect(200);
    }
    let mut seen = Vec::new();
    let mut path = "/types?limit=2&sort=name:asc".to_owned();
    loop {
        let page = operator.get(&path).await.expect(200);
        let names: Vec<&str> = page["volume_types"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
        seen.extend(names.iter().map(|n| (*n).to_owned()));
        let Some(next) = page["volume_type_links"][0]["href"].as_str() else { break };
        path = next.split_once("/v3").unwrap().1.to_owned();
    }
    assert_eq!(seen, ["__DEFAULT__", "t0", "t1", "t2", "t3"]);
}

#[tokio::test]
async fn a_type_has_a_bounded_number_of_extra_specs() {
    let site = Site::start().await;
    let operator = site.operator().await;
    let specs = |from: usize, n: usize| (from..from + n).map(|i| (format!("k{i}"), json!("v"))).collect::<serde_json::Map<_, _>>();
    assert!(operator.post("/types", named("many", json!({ "extra_specs": specs(0, 257) }))).await.fault(400).contains("at most 256"));
    let made = operator.post("/types", named("many", json!({ "extra_specs": specs(0, 256) }))).await.expect(200);
    let path = format!("/types/{}/extra_specs", made["volume_type"]["id"].as_str().unwrap());
    operator.post(&path, json!({ "extra_specs": specs(0, 10) })).await.expect(200);
    assert!(operator.post(&path, json!({ "extra_specs": specs(256, 1) })).await.fault(400).contains("at most 256"));
}
