//! Where shares are placed.

use serde_json::{Value, json};
use stowage::store::sql::jobs::JobFilter;
use support::{Client, both_databases};

use crate::site::{Site, action, backend, create, try_create, uuid};

async fn host(operator: &Client, id: &str) -> String {
    operator.share_until(id, "available").await["host"].as_str().unwrap().to_owned()
}

async fn two_pools() -> Site {
    Site::with(json!({ "pools": ["p1:100", "p2:50"] })).await
}

#[tokio::test]
async fn a_share_that_fits_nowhere_ends_in_error_with_the_reason() {
    let site = Site::with(json!({ "pools": ["p1:10"] })).await;
    let member = site.member().await;
    let too_large = create(&member, json!({ "size": 50 })).await;
    member.until(&format!("/shares/{too_large}"), |a| a.body()["share"]["status"] == "error").await;
    assert_eq!(
        site.messages(&too_large).await,
        ["allocate host: No storage could be allocated for this share request, Capacity filter didn't succeed."]
    );
    site.share_type("odd", json!({ "vendor:disk": "tape" })).await;
    site.share_type("fast", json!({ "disk": "tape" })).await;
    let unfit = create(&member, json!({ "share_type": "fast" })).await;
    member.until(&format!("/shares/{unfit}"), |a| a.body()["share"]["status"] == "error").await;
    assert!(site.messages(&unfit).await[0].contains("Capabilities filter"));
    let scoped = create(&member, json!({ "share_type": "odd" })).await;
    member.share_until(&scoped, "available").await;
}

#[tokio::test]
async fn a_failed_back_end_is_given_up_for_another() {
    let site = Site::configured(
        vec![
            backend("bad", json!({ "pools": ["p1:1000"], "faults": ["shares.create=refuse:exhausted"] })),
            backend("good", json!({ "pools": ["p1:10"] })),
        ],
        |_| {},
    )
    .await;
    let operator = site.operator().await;
    let id = site.available().await;
    assert_eq!(host(&operator, &id).await, "stowage@good#p1");
}

#[tokio::test]
async fn as_many_pools_are_tried_as_the_operator_allows() {
    for (allowed, ends) in [(1, "error"), (2, "available")] {
        let bad = backend("bad", json!({ "pools": ["p1:1000"], "faults": ["shares.create=refuse:exhausted"] }));
        let site =
            Site::configured(vec![bad, backend("good", json!({ "pools": ["p1:10"] }))], move |c| c.scheduler.max_attempts = allowed).await;
        let member = site.member().await;
        let id = create(&member, json!({})).await;
        member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] != "creating").await;
        assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["status"], ends, "{allowed} allowed");
    }
}

#[tokio::test]
async fn what_a_given_up_back_end_may_hold_is_cleaned_up() {
    // it makes the share and fails each time
    let faults = json!(["shares.create=fail-after:internal"]);
    let site = Site::configured(
        vec![backend("bad", json!({ "pools": ["p1:1000"], "faults": faults })), backend("good", json!({ "pools": ["p1:10"] }))],
        |_| {},
    )
    .await;
    let id = site.available().await;
    let instance = site.app().store.share(&id).await.unwrap().unwrap().instance_id;
    support::wait::until("the clean-up to end", || async {
        let filter = JobFilter { kind: Some("share.cleanup".into()), resource_id: Some(instance.clone()), ..JobFilter::default() };
        let jobs = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
        (jobs.len() == 1 && jobs[0].ended_at.is_some()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn shares_lie_near_or_away_from_others_as_asked() {
    let site = Site::configured(vec![backend("m", json!({})), backend("n", json!({}))], |_| {}).await;
    let (member, operator) = (site.member().await, site.operator().await);
    let first = site.available().await;
    let first_host = host(&operator, &first).await;
    let away = create(&member, json!({ "scheduler_hints": { "different_host": first } })).await;
    assert_ne!(host(&operator, &away).await, first_host);
    let near = create(&member, json!({ "scheduler_hints": { "same_host": away } })).await;
    assert_eq!(host(&operator, &near).await, host(&operator, &away).await);
    let metadata = |id: String| {
        let client = member.clone();
        async move { client.get(&format!("/shares/{id}/metadata")).await.expect(200)["metadata"].clone() }
    };
    assert_eq!(metadata(near.clone()).await, json!({ "__affinity_same_host": away }));
    assert_eq!(metadata(away.clone()).await, json!({ "__affinity_different_host": first, "__affinity_same_host": near }));
    assert_eq!(metadata(first).await, json!({ "__affinity_different_host": away }));
    try_create(&member, json!({ "scheduler_hints": { "same_host": "nonsense" } })).await.expect(400);
    try_create(&member, json!({ "scheduler_hints": { "same_host": uuid() } })).await.expect(404);
}

#[tokio::test]
async fn an_operator_names_the_host() {
    let site = two_pools().await;
    let operator = site.operator().await;
    for pool in ["stowage@m#p2", "stowage@m#p1"] {
        let id = create(&operator, json!({ "scheduler_hints": { "only_host": pool } })).await;
        assert_eq!(host(&operator, &id).await, pool);
    }
    let older = create(&operator.at("2.66"), json!({ "scheduler_hints": { "only_host": "stowage@m#p2" } })).await;
    assert_eq!(host(&operator, &older).await, "stowage@m#p1", "the emptiest");
}

#[tokio::test]
async fn a_zone_is_the_one_asked_and_one_the_type_allows() {
    let mut far = backend("far", json!({}));
    far.availability_zone = "far".into();
    let site = Site::configured(vec![backend("m", json!({})), far], |_| {}).await;
    site.share_type("near", json!({ "availability_zones": "nova" })).await;
    let member = site.member().await;
    let id = site.available_with(json!({ "availability_zone": "far" })).await;
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["availability_zone"], "far");
    let id = site.available_with(json!({ "share_type": "near" })).await;
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["availability_zone"], "nova");
    let both = json!({ "share_type": "near", "availability_zone": "far" });
    try_create(&member, both.clone()).await.expect(400);
    // before 2.48 the type's zones are no request
    let id = create(&member.at("2.47"), both).await;
    member.share_until(&id, "available").await;
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["availability_zone"], "far");
    site.share_type("farther", json!({ "availability_zones": "mars" })).await;
    let id = create(&member, json!({ "share_type": "farther" })).await;
    member.until(&format!("/shares/{id}"), |a| a.body()["share"]["status"] == "error").await;
    assert_eq!(member.get("/availability-zones").await.expect(200)["availability_zones"].as_array().map(Vec::len), Some(2));
    assert_eq!(member.get(&format!("/shares/{id}")).await.expect(200)["share"]["progress"], Value::Null);
}

#[tokio::test]
async fn another_projects_share_may_be_named_and_is_not_written_to() {
    let site = Site::start().await;
    let (member, stranger, operator) = (site.member().await, site.stranger().await, site.operator().await);
    let theirs = site.available().await;
    operator.put(&format!("/shares/{theirs}"), json!({ "share": { "is_public": true } })).await.expect(200);
    let near = create(&stranger, json!({ "scheduler_hints": { "same_host": theirs } })).await;
    stranger.share_until(&near, "available").await;
    assert_eq!(stranger.get(&format!("/shares/{near}/metadata")).await.expect(200)["metadata"], json!({ "__affinity_same_host": theirs }));
    assert_eq!(member.get(&format!("/shares/{theirs}/metadata")).await.expect(200)["metadata"], json!({}));
    assert_eq!(host(&operator, &near).await, host(&operator, &theirs).await);
}

both_databases! {
    async fn shares_that_name_each_others_neighbours_at_once_never_wait_for_each_other(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |_| {}).await;
        let member = site.member().await;
        let (a, b) = (site.available().await, site.available().await);
        let orders = [format!("{a},{b}"), format!("{b},{a}")];
        let made = futures::future::join_all((0..12).map(|n| {
            let (member, hint, grown) = (&member, &orders[n % 2], [&a, &b][n % 2]);
            async move {
                let made = try_create(member, json!({ "scheduler_hints": { "same_host": hint } })).await;
                // takes the share first, and then the quota
                let grow = member.post(&action(grown), json!({ "extend": { "new_size": 2 + n } })).await;
                (made, grow)
            }
        }))
        .await;
        for (made, grow) in made {
            made.expect(200);
            assert!([202, 400].contains(&grow.status.as_u16()), "{grow:?}");
        }
    }
}
