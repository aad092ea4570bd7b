//! Lists of shares.

use serde_json::{Value, json};
use support::Client;

use crate::site::{LATEST, Site, action, create, keys};

/// The names of the shares that a query finds, in its order.
async fn names(client: &Client, query: &str) -> Vec<String> {
    let body = client.get(&format!("/shares/detail?{query}")).await.expect(200);
    body["shares"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap_or("-").to_owned()).collect()
}

/// Three shares, made one after the other: a (1 GiB), b (2 GiB, CIFS), c (3 GiB).
async fn three(site: &Site) -> Client {
    for (name, size, protocol) in [("a", 1, "NFS"), ("b", 2, "CIFS"), ("c", 3, "NFS")] {
        let members = json!({ "name": name, "size": size, "share_proto": protocol, "description": format!("100%_{name}"), "metadata": { "of": name } });
        site.available_with(members).await;
    }
    site.member().await
}

#[tokio::test]
async fn short_lists_have_three_fields_and_detailed_ones_all() {
    let site = Site::start().await;
    let id = site.available_with(json!({ "metadata": { "k": "v" } })).await;
    let member = site.member().await;
    let short = member.get("/shares").await.expect(200)["shares"][0].clone();
    assert_eq!(keys(&short), ["id", "links", "name"]);
    let detailed = member.get("/shares/detail").await.expect(200)["shares"][0].clone();
    assert_eq!(detailed, member.get(&format!("/shares/{id}")).await.expect(200)["share"]);
    let old = member.at("2.8").get("/shares/detail").await.expect(200)["shares"][0].clone();
    assert!(old["export_location"].is_string());
}

#[tokio::test]
async fn lists_are_sorted_and_come_in_pages() {
    let site = Site::start().await;
    let member = three(&site).await;
    assert_eq!(names(&member, "").await, ["c", "b", "a"], "the newest first");
    assert_eq!(names(&member, "sort_key=name&sort_dir=asc").await, ["a", "b", "c"]);
    assert_eq!(names(&member, "sort_key=size&sort_dir=desc").await, ["c", "b", "a"]);
    assert_eq!(names(&member, "sort_key=share_proto&sort_dir=asc&limit=1").await, ["b"]);
    assert_eq!(names(&member, "sort_key=name&sort_dir=asc&limit=1&offset=1").await, ["b"]);
    member.get("/shares?sort_key=color").await.expect(400);
    member.get("/shares?sort_key=name&sort_dir=up").await.expect(400);
    member.get("/shares?limit=-1").await.expect(400);
    let page = member.get("/shares/detail?sort_key=name&sort_dir=asc&limit=2").await.expect(200);
    let next = page["shares_links"][0]["href"].as_str().unwrap().split_once("/v2").unwrap().1.to_owned();
    assert_eq!(member.get(&next).await.expect(200)["shares"][0]["name"], "c");
}

#[tokio::test]
async fn lists_are_filtered() {
    let site = Site::start().await;
    let member = three(&site).await;
    for (query, found) in [
        ("name=a", vec!["a"]),
        ("status=error", vec![]),
        ("status=available&name=b", vec!["b"]),
        ("share_proto=cifs", vec!["b"]),
        ("metadata={'of': 'c'}", vec!["c"]),
        ("name~=b", vec!["b"]),
        ("description~=100%25_a", vec!["a"]),
        ("description=100%25_b", vec!["b"]),
        ("availability_zone=nova", vec!["c", "b", "a"]),
        ("availability_zone=other", vec![]),
        ("color=red", vec!["c", "b", "a"]),
        ("share_group_id=x", vec![]),
    ] {
        assert_eq!(names(&member, query).await, found, "{query}");
    }
    assert_eq!(names(&member.at("2.35"), "name~=b").await, ["c", "b", "a"], "not known yet");
}

#[tokio::test]
async fn a_share_is_found_by_where_it_is_mounted() {
    let site = Site::start().await;
    let member = three(&site).await;
    let a = member.get("/shares?name=a").await.expect(200)["shares"][0]["id"].as_str().unwrap().to_owned();
    let location = member.get(&format!("/shares/{a}/export_locations")).await.expect(200)["export_locations"][0].clone();
    let (id, path) = (location["id"].as_str().unwrap(), location["path"].as_str().unwrap());
    assert_eq!(names(&member, &format!("export_location_id={id}")).await, ["a"]);
    assert_eq!(names(&member, &format!("export_location_path={path}")).await, ["a"]);
    assert_eq!(names(&member.at("2.34"), &format!("export_location_id={id}")).await.len(), 3);
}

#[tokio::test]
async fn the_count_is_of_all_pages() {
    let site = Site::start().await;
    let member = three(&site).await;
    let counted = member.get("/shares?with_count=true&limit=1").await.expect(200);
    assert_eq!((counted["count"].as_i64(), counted["shares"].as_array().unwrap().len()), (Some(3), 1));
    assert!(member.get("/shares").await.expect(200).get("count").is_none());
    assert!(member.at("2.41").get("/shares?with_count=true").await.expect(200).get("count").is_none());
    member.get("/shares?with_count=perhaps").await.expect(400);
}

#[tokio::test]
async fn what_shows_the_operators_side_is_for_operators() {
    let site = Site::start().await;
    let member = three(&site).await;
    let operator = site.operator().await;
    for query in ["host=stowage@m%23p1", "share_server_id=x", "extra_specs={'snapshot_support': 'True'}"] {
        member.get(&format!("/shares?{query}")).await.expect(403);
    }
    let all = |query: &str| format!("all_tenants=1&{query}");
    assert_eq!(names(&operator, &all("host=stowage@m%23p1")).await.len(), 3);
    assert_eq!(names(&operator, &all("host=stowage@m")).await.len(), 3);
    assert_eq!(names(&operator, &all("host=stowage@other")).await, Vec::<String>::new());
    assert_eq!(names(&operator, &all("share_server_id=x")).await, Vec::<String>::new());
    assert_eq!(names(&operator, &all("extra_specs={'snapshot_support': 'True'}")).await.len(), 3);
    assert_eq!(names(&operator, &all("extra_specs={'snapshot_support': 'no'}")).await, Vec::<String>::new());
}

#[tokio::test]
async fn own_and_public_shares_come_in_pages_of_one_order() {
    let site = Site::start().await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    // whose, name, public: those that are both own and public are not shown twice
    for (client, name, public) in [
        (&member, "a", true),
        (&stranger, "b", false),
        (&stranger, "c", true),
        (&member, "d", false),
        (&member, "e", true),
        (&stranger, "f", false),
    ] {
        let id = create(client, json!({ "name": name })).await;
        if public {
            operator.put(&format!("/shares/{id}"), json!({ "share": { "is_public": true } })).await.expect(200);
        }
    }
    assert_eq!(names(&stranger, "is_public=true").await, ["f", "e", "c", "b", "a"]);
    assert_eq!(names(&stranger, "is_public=true&limit=2&offset=1").await, ["e", "c"]);
    assert_eq!(names(&stranger, "is_public=true&name=a").await, ["a"]);
    let (mut path, mut found) = ("/shares?is_public=true&limit=2".to_owned(), Vec::new());
    for _ in 0..3 {
        let page = stranger.get(&path).await.expect(200);
        found.extend(page["shares"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["shares_links"][0]["href"].as_str() else { break };
        next.split_once("/v2").unwrap().1.clone_into(&mut path);
    }
    assert_eq!(found, ["f", "e", "c", "b", "a"]);
}

#[tokio::test]
async fn a_list_has_ones_own_then_public_ones_then_everybodys() {
    let site = Site::start().await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    let public = create(&member, json!({ "name": "public" })).await;
    create(&member, json!({ "name": "own" })).await;
    create(&stranger, json!({ "name": "strange" })).await;
    member.share_until(&public, "available").await;
    operator.put(&format!("/shares/{public}"), json!({ "share": { "is_public": true } })).await.expect(200);
    assert_eq!(names(&stranger, "").await, ["strange"]);
    assert_eq!(names(&stranger, "is_public=true&sort_key=name&sort_dir=asc").await, ["public", "strange"]);
    stranger.get("/shares?is_public=perhaps").await.expect(400);
    assert_eq!(names(&stranger, "all_tenants=1").await, ["strange"], "silently one's own");
    assert_eq!(names(&operator, "all_tenants=1&sort_key=name&sort_dir=asc").await, ["own", "public", "strange"]);
    let of_project = format!("all_tenants=1&project_id={}", stranger.project_id);
    assert_eq!(names(&operator, &of_project).await, ["strange"]);
}

#[tokio::test]
async fn shares_in_the_recycle_bin_are_listed_apart() {
    let site = Site::start().await;
    let member = three(&site).await;
    let a = member.get("/shares?name=a").await.expect(200)["shares"][0]["id"].as_str().unwrap().to_owned();
    member.post(&action(&a), json!({ "soft_delete": null })).await.expect(202);
    assert_eq!(names(&member, "").await, ["c", "b"]);
    assert_eq!(names(&member, "is_soft_deleted=true").await, ["a"]);
    assert_eq!(names(&member.at("2.68"), "is_soft_deleted=true").await, ["c", "b"], "not known yet");
}

#[tokio::test]
async fn a_page_is_as_long_as_the_operator_permits() {
    let site = Site::configured(vec![crate::site::backend("m", json!({}))], |c| c.share.osapi_max_limit = 2).await;
    let member = three(&site).await;
    let page = member.at(LATEST).get("/shares").await.expect(200);
    assert_eq!(page["shares"].as_array().unwrap().len(), 2);
    assert!(page["shares_links"][0]["href"].as_str().unwrap().contains("marker="));
    assert_eq!(member.get("/shares?limit=5").await.expect(200)["shares"].as_array().map(Vec::len), Some(2));
    assert_eq!(page["shares"][0]["name"], Value::from("c"));
}
