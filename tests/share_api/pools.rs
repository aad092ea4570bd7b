//! The pools as the scheduler sees them.

use serde_json::json;
use support::Client;

use crate::site::{Site, keys};

async fn names(client: &Client, query: &str) -> Vec<String> {
    let found = client.get(&format!("/scheduler-stats/pools{query}")).await.expect(200);
    found["pools"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect()
}

async fn two() -> Site {
    Site::with(json!({ "pools": ["p1:100", "p2:50"], "extra": ["disk=ssd"] })).await
}

#[tokio::test]
async fn they_are_listed_with_their_three_names_and_in_detail_with_what_they_can_do() {
    let site = two().await;
    let operator = site.operator().await;
    let found = operator.get("/scheduler-stats/pools").await.expect(200)["pools"].clone();
    assert_eq!(found[0], json!({ "name": "stowage@m#p1", "host": "stowage", "backend": "m", "pool": "p1" }));
    let found = operator.get("/scheduler-stats/pools/detail").await.expect(200)["pools"].clone();
    assert_eq!(keys(&found[1]), ["backend", "capabilities", "host", "name", "pool"]);
    assert_eq!(found[1]["capabilities"]["disk"], "ssd");
}

#[tokio::test]
async fn they_are_filtered_by_name_and_by_type() {
    let site = two().await;
    let operator = site.operator().await;
    for (query, n) in [("?host=stowage", 2), ("?backend=m", 2), ("?pool=p2", 1), ("?pool=.*", 2), ("?pool=none", 0), ("?host=other", 0)] {
        assert_eq!(names(&operator, query).await.len(), n, "{query}");
    }
    site.share_type("fast", json!({ "disk": "ssd" })).await;
    let slow = site.share_type("slow", json!({ "disk": "tape" })).await;
    assert_eq!(names(&operator, "?share_type=fast").await.len(), 2);
    assert_eq!(names(&operator, &format!("?share_type={slow}")).await.len(), 0);
    operator.get("/scheduler-stats/pools?share_type=none").await.expect(404);
    assert_eq!(names(&operator.at("2.22"), "?share_type=slow").await.len(), 2, "unknown before 2.23");
}

#[tokio::test]
async fn only_administrators_see_them() {
    let site = two().await;
    let member = site.member().await;
    member.get("/scheduler-stats/pools").await.expect(403);
    member.get("/scheduler-stats/pools/detail").await.expect(403);
}
