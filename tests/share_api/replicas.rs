//! Shares have no replicas, and clients that ask for them learn so.

use serde_json::json;

use crate::site::Site;

#[tokio::test]
async fn there_are_none_of_a_share_and_none_at_all() {
    let site = Site::start().await;
    let (member, id) = (site.member().await, site.available().await);
    for path in ["/share-replicas".to_owned(), "/share-replicas/detail".to_owned(), format!("/share-replicas/detail?share_id={id}")] {
        assert_eq!(member.get(&path).await.expect(200), json!({ "share_replicas": [] }), "{path}");
    }
}

#[tokio::test]
async fn whose_share_it_is_makes_no_difference() {
    let site = Site::start().await;
    let id = site.available().await;
    for share in [id.as_str(), "nothing"] {
        let listed = site.stranger().await.get(&format!("/share-replicas?share_id={share}")).await.expect(200);
        assert_eq!(listed, json!({ "share_replicas": [] }));
    }
}

#[tokio::test]
async fn before_2_56_they_were_an_experiment() {
    let site = Site::start().await;
    let old = site.member().await.at("2.55");
    old.get("/share-replicas").await.expect(404);
    old.with_header("X-OpenStack-Manila-API-Experimental", "True").get("/share-replicas").await.expect(200);
    site.member().await.at("2.10").get("/share-replicas").await.expect(404);
}
