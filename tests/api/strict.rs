//! Our own API refuses what it does not understand, on every route of its table: nothing that was asked for is silently left out.

use http::Method;
use serde_json::json;
use stowage::api::{self, route::Api, route::Route};
use support::{Client, Persona};

use crate::site::{Site, uuid};

/// Every row below `/stowage/v1`.
fn rows() -> Vec<Route> {
    api::routes(Api::Admin).into_iter().filter(|row| !row.rooted).collect()
}

/// A URL of the row; what it names is not there.
fn path(row: &Route) -> String {
    row.path.split('/').map(|part| if part.starts_with('{') { uuid() } else { part.to_owned() }).collect::<Vec<_>>().join("/")
}

async fn refusal(client: &Client, row: &Route, query: &str, body: Option<serde_json::Value>) -> String {
    let answer = client.send(row.method.http(), &format!("{}{query}", path(row)), body).await;
    answer.fault(400)
}

#[tokio::test]
async fn every_route_refuses_a_query_parameter_that_it_does_not_have_and_names_it() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    for row in rows() {
        let text = refusal(&operator, &row, "?forse=true", None).await;
        assert!(text.contains("\"forse\""), "{}: {text}", row.path);
        assert!(row.query.iter().all(|(known, ..)| text.contains(known)), "{} says what it takes: {text}", row.path);
    }
}

#[tokio::test]
async fn every_route_refuses_a_query_parameter_that_is_given_twice() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    let mut tried = 0;
    for row in rows() {
        for (key, ..) in row.query {
            let text = refusal(&operator, &row, &format!("?{key}=true&{key}=false"), None).await;
            assert!(text.contains(&format!("{key:?} is given more than once")), "{}: {text}", row.path);
            tried += 1;
        }
    }
    assert!(tried > 5);
}

#[tokio::test]
async fn every_route_refuses_a_body_that_it_does_not_understand_and_names_the_member() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    for row in rows() {
        let text = refusal(&operator, &row, "", Some(json!({ "forse": true }))).await;
        assert!(text.contains("\"forse\""), "{}: {text}", row.path);
        for odd in [json!([]), json!("force"), json!(null), json!(7)] {
            let text = refusal(&operator, &row, "", Some(odd)).await;
            assert!(text.contains("must be a JSON object"), "{}: {text}", row.path);
        }
    }
}

#[tokio::test]
async fn a_query_parameter_in_the_body_is_pointed_to_its_place() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    let text = operator.post("/drivers/reload", json!({ "force": true })).await.fault(400);
    assert!(text.contains("?force="), "{text}");
}

#[tokio::test]
async fn an_empty_body_and_an_empty_object_are_no_body() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    for path in ["/drivers/reload", "/drivers/reload?force=false", "/config/reload"] {
        for body in [None, Some(json!({}))] {
            operator.send(Method::POST, path, body).await.expect(200);
        }
    }
}

#[tokio::test]
async fn values_that_are_none_of_a_parameters_are_refused_and_those_it_has_are_named() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    for (path, names) in [
        ("/jobs?state=zz", "ready, running, done"),
        ("/jobs?state=", "ready, running, done"),
        ("/jobs?state=Ready", "ready, running, done"),
        ("/jobs?kind=volume", "volume.create"),
        ("/jobs?kind=", "volume.create"),
        ("/jobs?kind=%00", "NUL"),
        ("/jobs?kind=%ff", "UTF-8"),
        ("/jobs?backend=stowage", "host@backend"),
        ("/jobs?limit=0", "limit"),
        ("/jobs?limit=-1", "limit"),
        ("/jobs?limit=ten", "limit"),
        ("/jobs?limit=", "limit"),
        ("/jobs?limit=1.5", "limit"),
        ("/jobs?limit=99999999999999999999", "limit"),
        ("/jobs?marker=", "marker"),
        ("/jobs?marker=nobody", "marker"),
    ] {
        let text = operator.get(path).await.fault(400);
        assert!(text.contains(names), "{path}: {text}");
    }
    let text = operator.send(Method::POST, "/drivers/reload?force=yes", None).await.fault(400);
    assert!(text.contains("true or false"), "{text}");
}

#[tokio::test]
async fn jobs_are_found_by_every_parameter_and_paged() {
    let site = Site::start().await;
    let operator = site.admin(Persona::Admin).await;
    let volumes = [site.volume().await, site.volume().await];
    let all = "kind=volume.create&backend=stowage@a&state=done";
    let found = |query: String| {
        let operator = operator.clone();
        async move {
            let body = operator.get(&format!("/jobs?{query}")).await.expect(200);
            let ids = body["jobs"].as_array().unwrap().iter().map(|j| (j["id"].as_str().unwrap().to_owned(), j["resource_id"].clone()));
            ids.collect::<Vec<_>>()
        }
    };
    let done = || async { found(all.to_owned()).await.len() == 2 };
    site.until("both creates to be done", done).await;
    let both = found(all.to_owned()).await;
    assert_eq!([&both[0].1, &both[1].1], [&json!(volumes[1]), &json!(volumes[0])], "newest first");
    assert_eq!(found(format!("{all}&limit=1")).await, both[..1]);
    assert_eq!(found(format!("{all}&limit=1&marker={}", both[0].0)).await, both[1..]);
    assert!(found(format!("{all}&marker={}", both[1].0)).await.is_empty());
    assert_eq!(found(format!("resource_id={}&kind=volume.create", volumes[0])).await, both[1..]);
    assert!(found(format!("project_id={}", uuid())).await.is_empty());
    assert!(found("backend=stowage@gone&state=done".to_owned()).await.is_empty());
}

#[tokio::test]
async fn who_may_not_ask_is_told_that_whatever_was_asked() {
    let site = Site::start().await;
    let member = site.admin(Persona::Member).await;
    for row in rows().iter().filter(|row| !row.policy.is_empty()) {
        let answer = member.send(row.method.http(), &format!("{}?forse=1", path(row)), None).await;
        assert_eq!(answer.status, 403, "{}", row.path);
    }
}
