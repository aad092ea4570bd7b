//! Events of shares, posted to a receiver.

use serde_json::json;
use support::receiver::Receiver;

use crate::{
    ensure::{HOST, patient},
    site::{Site, action, backend},
};

async fn start(receiver: &Receiver) -> Site {
    let webhook = receiver.config();
    Site::configured(vec![backend("m", json!({}))], |c| c.notify.webhook = webhook).await
}

#[tokio::test]
async fn a_shares_life_reaches_the_receiver_in_its_order() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let member = site.member().await;
    let share = site.available().await;
    member.post(&action(&share), json!({ "extend": { "new_size": 2 } })).await.expect(202);
    member.share_until(&share, "available").await;
    member.delete(&format!("/shares/{share}")).await.expect(202);
    let told = receiver.until_taken(&share, "share.delete.end").await;
    let expected =
        ["share.create.start", "share.create.end", "share.extend.start", "share.extend.end", "share.delete.start", "share.delete.end"];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn b7_ensuring_is_told_of_the_back_end_with_counts() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    site.available().await;
    patient(&site.operator().await).await.expect(202);
    let told = receiver.until_taken(HOST, "share.ensure.end").await;
    assert_eq!(told[..2], ["share.ensure.start", "share.ensure.end"]);
    let end = receiver.got().into_iter().find(|g| g.kind() == "share.ensure.end").unwrap();
    assert_eq!((&end.event["data"]["total"], &end.event["data"]["unchanged"]), (&json!(1), &json!(1)), "{}", end.event);
}
