//! Lists of volumes: pages, markers, sorts and filters, against a model that sorts everything by brute force.

use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use stowage::store::sql::types::TypeOf;
use stowage::store::sql::{metadata::MetadataOf, volumes::NewVolume};
use support::{Client, Persona};

use crate::site::Site;

/// A volume as the model knows it.
#[derive(Debug, Clone)]
struct Row {
    id: String,
    name: Option<String>,
    size: i64,
    created_at: i64,
    metadata: Vec<(String, String)>,
}

/// Rows straight in the store, with few distinct values so that there are ties.
async fn seed(site: &Site, client: &Client, count: usize) -> Vec<Row> {
    let app = site.app.app();
    let volume_type = app.store.type_by_name(TypeOf::Volume, "__DEFAULT__").await.unwrap().unwrap().row.id;
    let mut rows = Vec::new();
    let mut tx = app.store.begin().await.unwrap();
    for n in 0..count {
        let row = Row {
            id: uuid::Uuid::new_v4().to_string(),
            name: [None, Some("a"), Some("b"), Some("")][n % 4].map(str::to_owned),
            size: 1 + (n as i64 * 7) % 3,
            created_at: 1_700_000_000_000_000 + (n as i64 / 3) * 1_000_000,
            metadata: if n % 2 == 0 { vec![("k".into(), format!("v{}", n % 4))] } else { vec![] },
        };
        tx.volume_insert(&NewVolume {
            id: row.id.clone(),
            project_id: client.project_id.clone(),
            user_id: client.user_id.clone(),
            name: row.name.clone(),
            description: None,
            size_gib: row.size,
            volume_type_id: volume_type.clone(),
            availability_zone: "nova".into(),
            multiattach: false,
            bootable: false,
            snapshot_id: None,
            source_volid: None,
            created_at: row.created_at,
        })
        .await
        .unwrap();
        tx.metadata_put(MetadataOf::Volume, &row.id, &row.metadata).await.unwrap();
        rows.push(row);
    }
    tx.commit().await.unwrap();
    rows
}

fn ids(body: &Value) -> Vec<String> {
    body["volumes"].as_array().unwrap().iter().map(|v| v["id"].as_str().unwrap().to_owned()).collect()
}

fn expected(rows: &[Row], sort: &[(&str, bool)]) -> Vec<String> {
    let mut keys: Vec<(&str, bool)> = sort.to_vec();
    let direction = sort.first().is_none_or(|(_, d)| *d);
    for tie in ["created_at", "id"] {
        if !keys.iter().any(|(k, _)| *k == tie) {
            keys.push((tie, direction));
        }
    }
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| {
        keys.iter()
            .map(|(key, descending)| {
                let order = match *key {
                    "name" => a.name.clone().unwrap_or_default().cmp(&b.name.clone().unwrap_or_default()),
                    "size" => a.size.cmp(&b.size),
                    "created_at" => a.created_at.cmp(&b.created_at),
                    _ => a.id.cmp(&b.id),
                };
                if *descending { order.reverse() } else { order }
            })
            .find(|o| o.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    sorted.into_iter().map(|r| r.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sort_and_page_size_walks_all_rows_once_in_the_models_order() {
    let site = Site::start().await;
    let member = site.member().await;
    let rows = seed(&site, &member, 40).await;
    let sorts = proptest::collection::vec((prop::sample::select(vec!["name", "size", "created_at", "id"]), any::<bool>()), 0..3);
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        let mut runner = TestRunner::new(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() });
        let cases = (sorts, 1_usize..17, any::<bool>());
        runner
            .run(&cases, |(mut sort, limit, detail)| {
                let mut seen = std::collections::HashSet::new();
                sort.retain(|(k, _)| seen.insert(*k));
                if let Some(at) = sort.iter().position(|(k, _)| *k == "id") {
                    sort.truncate(at + 1); // nothing ties after the id
                }
                let walked = runtime.block_on(walk(&member, &sort, limit, detail));
                prop_assert_eq!(walked, expected(&rows, &sort));
                Ok(())
            })
            .unwrap();
    });
}

async fn walk(member: &Client, sort: &[(&str, bool)], limit: usize, detail: bool) -> Vec<String> {
    let text: Vec<String> = sort.iter().map(|(k, d)| format!("{k}:{}", if *d { "desc" } else { "asc" })).collect();
    let sort = if text.is_empty() { String::new() } else { format!("&sort={}", text.join(",")) };
    let mut path = format!("/volumes{}?limit={limit}{sort}", if detail { "/detail" } else { "" });
    let mut seen = Vec::new();
    loop {
        let page = member.get(&path).await.expect(200);
        seen.extend(ids(&page));
        assert!(seen.len() <= 200, "pages go round in circles");
        let Some(next) = page["volumes_links"][0]["href"].as_str() else { return seen };
        path = next.split_once("/v3").unwrap().1.to_owned();
    }
}

#[tokio::test]
async fn a_deleted_marker_still_pages_and_an_unknown_one_is_404() {
    let site = Site::start().await;
    let member = site.member().await;
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(site.volume().await);
    }
    member.delete(&format!("/volumes/{}", made[2])).await.expect(202);
    member.until_gone(&format!("/volumes/{}", made[2])).await;
    for sort in ["", "&sort=size:desc", "&sort=name:asc,created_at:desc"] {
        let page = member.get(&format!("/volumes?marker={}{sort}", made[2])).await.expect(200);
        assert_eq!(ids(&page), [made[1].clone(), made[0].clone()], "{sort}");
    }
    assert_eq!(member.get(&format!("/volumes?marker={}", uuid::Uuid::new_v4())).await.status, 404);
    let stranger = site.block(Persona::Stranger).await;
    assert_eq!(stranger.get(&format!("/volumes?marker={}", made[2])).await.status, 404);
}

#[tokio::test]
async fn filters_narrow_a_list_as_the_model_does() {
    let site = Site::start().await;
    let member = site.member().await;
    let rows = seed(&site, &member, 24).await;
    let all = expected(&rows, &[]);
    let matching = |fits: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let wanted: Vec<&str> = rows.iter().filter(|r| fits(r)).map(|r| r.id.as_str()).collect();
        all.iter().filter(|id| wanted.contains(&id.as_str())).cloned().collect()
    };
    let quoted = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let at = rows[12].created_at;
    let time = stowage::clock::api_text(at);
    let cases: Vec<(String, Vec<String>)> = vec![
        ("name=a".into(), matching(&|r| r.name.as_deref() == Some("a"))),
        ("size=2".into(), matching(&|r| r.size == 2)),
        ("status=creating".into(), all.clone()),
        ("status=available".into(), vec![]),
        ("bootable=false".into(), all.clone()),
        ("bootable=True".into(), vec![]),
        (format!("metadata={}", quoted("{'k': 'v0'}")), matching(&|r| r.metadata.iter().any(|(_, v)| v == "v0"))),
        (format!("metadata={}", quoted(r#"{"k": "nope"}"#)), vec![]),
        ("availability_zone=nova".into(), all.clone()),
        (format!("created_at=gt:{time}"), matching(&|r| r.created_at > at)),
        (format!("created_at=gte:{time},lte:{time}"), matching(&|r| r.created_at == at)),
        (format!("created_at=neq:{time}"), matching(&|r| r.created_at != at)),
        ("name=a&size=1".into(), matching(&|r| r.name.as_deref() == Some("a") && r.size == 1)),
        ("consumes_quota=true".into(), all.clone()),
    ];
    for (query, wanted) in cases {
        let body = member.at("3.71").get(&format!("/volumes?with_count=true&{query}")).await.expect(200);
        assert_eq!(ids(&body), wanted, "{query}");
        assert_eq!(body["count"], wanted.len(), "{query}");
    }
}

#[tokio::test]
async fn filters_of_users_are_dropped_before_3_31_and_refused_from_then_on() {
    let site = Site::start().await;
    let member = site.member().await;
    let rows = seed(&site, &member, 3).await;
    assert_eq!(member.at("3.30").get("/volumes?host=x&color=red&user_id=y").await.expect(200)["volumes"].as_array().unwrap().len(), 3);
    assert!(member.at("3.31").get("/volumes?host=x&color=red").await.fault(400).contains("Invalid filters"));
    // never an error, never more than one's own
    assert_eq!(member.at("3.31").get("/volumes?all_tenants=1").await.expect(200)["volumes"].as_array().unwrap().len(), 3);
    let operator = site.operator().await.at("3.71");
    let of = |query: &str| {
        let (operator, path) = (operator.clone(), format!("/volumes?all_tenants=1&{query}"));
        async move { ids(&operator.get(&path).await.expect(200)).len() }
    };
    assert_eq!(operator.get("/volumes").await.expect(200)["volumes"], json!([]));
    assert_eq!(of("").await, 3);
    assert_eq!(of(&format!("project_id={}", member.project_id)).await, 3);
    assert_eq!(of("project_id=nobody").await, 0);
    assert_eq!(of(&format!("id={}", rows[0].id)).await, 1);
    assert_eq!(of("host=stowage@a").await, 0);
    assert_eq!(of("color=red").await, 0, "a column that is not there matches nothing");
    for bad in ["bootable=x", "size=x", "metadata=x", "created_at=x", "created_at=gt:x", "created_at=near:2026-01-01"] {
        assert_eq!(member.at("3.60").get(&format!("/volumes?{bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn pages_have_links_counts_and_limits() {
    let site = Site::start().await;
    let member = site.member().await;
    let rows = seed(&site, &member, 5).await;
    let page = member.get("/volumes?limit=5").await.expect(200);
    assert!(page["volumes_links"].is_array(), "a last full page has a next link, too");
    assert!(member.get("/volumes?limit=6").await.expect(200).get("volumes_links").is_none());
    assert_eq!(member.get("/volumes?limit=0").await.expect(200), json!({ "volumes": [] }));
    assert_eq!(ids(&member.get("/volumes?offset=3").await.expect(200)).len(), 2);
    assert_eq!(member.at("3.45").get("/volumes?limit=2&with_count=true").await.expect(200)["count"], 5);
    assert!(member.at("3.44").get("/volumes?with_count=true").await.expect(200).get("count").is_none());
    for bad in
        ["limit=-1", "limit=x", "offset=-1", "offset=2147483648", "sort=color", "sort=name:up", "sort=name&sort_key=id", "sort_key=nope"]
    {
        assert_eq!(member.get(&format!("/volumes?{bad}")).await.status, 400, "{bad}");
    }
    member.get("/volumes?limit=999999999999999999999").await.expect(200);
    let summary = &page["volumes"][0];
    assert_eq!(summary.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "links", "name"]);
    // links carry the project only when the URL did
    let id = expected(&rows, &[])[0].clone();
    assert!(summary["links"][0]["href"].as_str().unwrap().ends_with(&format!("/v3/volumes/{id}")));
    let with_project = member.rooted_at(&format!("/v3/{}", member.project_id)).get("/volumes?limit=1").await.expect(200);
    let links = &with_project["volumes"][0]["links"];
    assert!(links[0]["href"].as_str().unwrap().ends_with(&format!("/v3/{}/volumes/{id}", member.project_id)));
    assert!(
        !links[1]["href"].as_str().unwrap().contains("/v3/")
            && links[1]["href"].as_str().unwrap().ends_with(&format!("/{}/volumes/{id}", member.project_id))
    );
}

#[tokio::test]
async fn the_operators_limit_bounds_every_list_and_is_its_size_when_none_is_asked() {
    let site = Site::start_with(|c| c.block.osapi_max_limit = 3).await;
    let (member, operator) = (site.member().await.at("3.71"), site.operator().await);
    let rows = seed(&site, &member, 7).await;
    for n in 0..4 {
        operator.post("/types", json!({ "volume_type": { "name": format!("t{n}") } })).await.expect(200);
    }
    for (path, key) in [("/volumes", "volumes"), ("/volumes/detail", "volumes"), ("/types", "volume_types")] {
        for query in ["", "?limit=3", "?limit=4", "?limit=1000", "?limit=999999999999999999999"] {
            let page = member.get(&format!("{path}{query}")).await.expect(200);
            assert_eq!(page[key].as_array().unwrap().len(), 3, "{path}{query}");
            let links = if key == "volumes" { "volumes_links" } else { "volume_type_links" };
            assert!(page[links][0]["href"].is_string(), "{path}{query}: there is more, and no link to it");
        }
        assert_eq!(member.get(&format!("{path}?limit=2")).await.expect(200)[key].as_array().unwrap().len(), 2, "{path}");
    }
    assert_eq!(walk(&member, &[], 1000, false).await, expected(&rows, &[]), "the links lead to all of them");
}

#[tokio::test]
async fn the_limit_of_lists_is_read_at_each_request() {
    let site = Site::start().await;
    let member = site.member().await;
    seed(&site, &member, 5).await;
    assert_eq!(ids(&member.get("/volumes").await.expect(200)).len(), 5);
    let mut config = stowage::config::Config::clone(&site.app.app().config.get());
    config.block.osapi_max_limit = 2;
    site.app.app().config.replace(config);
    assert_eq!(ids(&member.get("/volumes").await.expect(200)).len(), 2);
}

#[tokio::test]
async fn a_list_with_too_many_filters_is_refused() {
    let site = Site::start().await;
    let operator = site.operator().await.at("3.71");
    let many = |n: usize| vec!["status=error"; n].join("&");
    let pairs = |n: usize| {
        let text = format!("{{{}}}", (0..n).map(|k| format!("'k{k}':'v'")).collect::<Vec<_>>().join(","));
        url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
    };
    for path in ["/volumes", "/volumes/detail", "/snapshots", "/attachments", "/messages"] {
        operator.get(&format!("{path}?{}", many(64))).await.expect(200);
        for n in [65, 1200] {
            assert!(operator.get(&format!("{path}?{}", many(n))).await.fault(400).contains("at most 64 filters"), "{path} {n}");
        }
    }
    for (path, key) in [("/volumes", "metadata"), ("/snapshots", "metadata"), ("/types", "extra_specs")] {
        operator.get(&format!("{path}?{key}={}", pairs(64))).await.expect(200);
        for n in [65, 1200] {
            assert!(operator.get(&format!("{path}?{key}={}", pairs(n))).await.fault(400).contains("at most 64 filters"), "{path} {n}");
        }
    }
}
