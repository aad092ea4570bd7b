//! What shares count in.

use serde_json::json;

use crate::site::{Site, backend, create, try_create};

#[tokio::test]
async fn a_project_has_as_many_shares_and_gigabytes_as_it_may() {
    let site = Site::configured(vec![backend("m", json!({}))], |c| {
        c.quota.share.shares = 2;
        c.quota.share.gigabytes = 5;
        c.quota.share.per_share_gigabytes = 4;
    })
    .await;
    let (member, stranger) = (site.member().await, site.stranger().await);
    let refused = try_create(&member, json!({ "size": 6 })).await.expect(413);
    assert!(refused["overLimit"]["message"].as_str().unwrap().starts_with("ShareSizeExceedsLimit: "), "{refused}");
    create(&member, json!({ "size": 3 })).await;
    let refused = try_create(&member, json!({ "size": 3 })).await.expect(413);
    assert!(refused["overLimit"]["message"].as_str().unwrap().starts_with("ShareSizeExceedsAvailableQuota: "), "{refused}");
    create(&member, json!({ "size": 1 })).await;
    let refused = try_create(&member, json!({ "size": 1 })).await.expect(413);
    assert!(refused["overLimit"]["message"].as_str().unwrap().starts_with("ShareLimitExceeded: "), "{refused}");
    assert_eq!((site.used(&member, "shares").await, site.used(&member, "gigabytes").await), (2, 4));
    create(&stranger, json!({ "size": 4 })).await;
}

#[tokio::test]
async fn figures_are_kept_for_project_user_and_type() {
    let site = Site::start().await;
    let member = site.member().await;
    let gold = site.share_type("gold", json!({})).await;
    let id = site.available_with(json!({ "size": 2, "share_type": "gold" })).await;
    let counted = || async {
        let mut tx = site.app().store.begin().await.unwrap();
        let mut rows = tx.all_quota_usage().await.unwrap();
        rows.retain(|r| r.project_id == member.project_id && r.resource == "share:gigabytes" && r.amount != 0);
        rows.into_iter().map(|r| (r.user_id, r.type_id, r.amount)).collect::<std::collections::BTreeSet<_>>()
    };
    let none = String::new;
    let expected = [(none(), none(), 2), (member.user_id.clone(), none(), 2), (none(), gold, 2)].into();
    assert_eq!(counted().await, expected);
    member.delete(&format!("/shares/{id}")).await.expect(202);
    member.until_gone(&format!("/shares/{id}")).await;
    assert!(counted().await.is_empty());
}

#[tokio::test]
async fn what_is_recorded_is_what_there_is() {
    let site = Site::start().await;
    let member = site.member().await;
    site.available_with(json!({ "size": 2 })).await;
    let binned = site.available().await;
    member.post(&crate::site::action(&binned), json!({ "soft_delete": null })).await.expect(202);
    let mut tx = site.app().store.begin().await.unwrap();
    let counted = tx.count_quota().await.unwrap();
    let drift = tx.quota_check(&counted, stowage::store::sql::quota_count::is_counted, false).await.unwrap();
    assert!(drift.is_empty(), "{drift:?}");
}
