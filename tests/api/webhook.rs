//! Events posted to a receiver, by the whole service.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    api::route::Api,
    config::{Secret, WebhookConfig},
    notify::webhook::Key,
};
use support::{
    Persona,
    receiver::{Answer, Receiver, SECRET},
    wait,
};

use crate::site::{Site, create};

async fn start(receiver: &Receiver) -> Site {
    let webhook = receiver.config();
    Site::start_with(|c| c.notify.webhook = webhook).await
}

async fn webhook(site: &Site) -> Value {
    site.admin(Persona::Admin).await.get("/notifications").await.expect(200)["webhook"].clone()
}

async fn health(site: &Site) -> Value {
    site.anonymous(Api::Admin).rooted_at("").get("/healthz").await.body()
}

#[tokio::test]
async fn a_volumes_life_reaches_the_receiver_in_its_order() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let volume = site.volume().await;
    site.member().await.delete(&format!("/volumes/{volume}")).await.expect(202);
    let told = receiver.until_taken(&volume, "volume.delete.end").await;
    assert_eq!(told, ["volume.create.start", "volume.create.end", "volume.delete.start", "volume.delete.end"]);
}

#[tokio::test]
async fn each_request_is_a_cloud_event_and_signed() {
    let receiver = Receiver::start().await;
    let site = start(&receiver).await;
    let volume = site.volume().await;
    receiver.until_taken(&volume, "volume.create.end").await;
    let got = receiver.got().into_iter().find(|g| g.kind() == "volume.create.end").unwrap();
    assert_eq!(got.header("content-type"), "application/cloudevents+json; charset=utf-8");
    assert_eq!(
        (&got.event["specversion"], &got.event["source"], &got.event["subject"], &got.event["data"]["volume_id"]),
        (&json!("1.0"), &json!("/stowage/stowage"), &json!(format!("volume/{volume}")), &json!(volume))
    );
    assert!(got.event["requestid"].as_str().unwrap().starts_with("req-"));
    let (id, at) = (got.header("webhook-id"), got.header("webhook-timestamp"));
    assert_eq!(id, got.id());
    let sign = |secret: &str, body: &str| Key::new(secret).sign(id, at, body);
    assert_eq!(got.header("webhook-signature"), sign(SECRET, &got.body));
    assert_ne!(got.header("webhook-signature"), sign("another", &got.body));
    assert_ne!(got.header("webhook-signature"), sign(SECRET, &got.body.replace("volume", "Volume")));
}

#[tokio::test]
async fn a_receiver_that_hangs_holds_up_no_request_and_shows_in_health() {
    let receiver = Receiver::start().await;
    receiver.answer(|_| Answer::Hang);
    let mut slow = receiver.config();
    slow.timeout = Duration::from_millis(200);
    let site = Site::start_with(|c| c.notify.webhook = slow).await;
    let volume = site.volume().await;
    let health = wait::until("health to say so", || async {
        let found = health(&site).await;
        (found["conditions"]["webhook"]["status"] == "degraded").then_some(found)
    })
    .await;
    assert!(health["conditions"]["webhook"]["reason"].as_str().unwrap().contains("did not answer in time"), "{health}");
    assert_eq!(health["status"], "degraded", "it serves");
    let shown = webhook(&site).await;
    assert!(shown["waiting"].as_i64().unwrap() >= 1 && shown["reason"] != "", "{shown}");
    site.volume().await;
    receiver.answer(|_| Answer::Take);
    assert_eq!(receiver.until_taken(&volume, "volume.create.end").await, ["volume.create.start", "volume.create.end"]);
}

#[tokio::test]
async fn what_waits_outlives_the_service() {
    let mut receiver = Receiver::start().await;
    receiver.end().await;
    let site = start(&receiver).await;
    let volume = create(&site.member().await, json!({})).await;
    wait::until("the event to wait", || async { (webhook(&site).await["waiting"].as_i64()? > 0).then_some(()) }).await;
    let Site { app, .. } = site;
    let app = app.restart().await;
    receiver.start_again().await;
    receiver.until_taken(&volume, "volume.create.start").await;
    app.stop().await;
}

#[tokio::test]
async fn it_is_switched_on_and_off_while_the_service_runs() {
    let receiver = Receiver::start().await;
    let site = Site::start().await;
    let volume = site.volume().await;
    let outbox_is_empty = || async { site.app.app().store.due_events(1).await.unwrap().is_empty().then_some(()) };
    wait::until("the outbox to be empty", outbox_is_empty).await;
    assert_eq!(webhook(&site).await["state"], "off");
    let set = |webhook: WebhookConfig| {
        let mut config = stowage::config::Config::clone(&site.app.app().config.get());
        config.notify.webhook = webhook;
        site.app.app().config.replace(config)
    };
    let changed = set(receiver.config()).changed;
    assert!(changed.contains(&"notify.webhook.url".to_owned()), "{changed:?}");
    let member = site.member().await;
    member.put(&format!("/volumes/{volume}"), json!({ "volume": { "name": "on" } })).await.expect(200);
    let told = receiver.until_taken(&volume, "volume.update.end").await;
    assert_eq!(told, ["volume.update.start", "volume.update.end"], "what was told before is not sent");
    assert_eq!(webhook(&site).await["state"], "ok");
    set(WebhookConfig { secret: Secret::literal(SECRET), ..WebhookConfig::default() });
    assert_eq!(webhook(&site).await["state"], "off");
    member.put(&format!("/volumes/{volume}"), json!({ "volume": { "name": "off" } })).await.expect(200);
    wait::until("the outbox to be empty", outbox_is_empty).await;
    assert_eq!((webhook(&site).await["waiting"].clone(), receiver.taken(&volume).len()), (json!(0), 2));
}

#[tokio::test]
async fn only_administrators_see_how_it_does_and_nobody_sees_its_secret() {
    let receiver = Receiver::start().await;
    let mut config = receiver.config();
    config.url.push_str("?token=known-to-the-receiver");
    let site = Site::start_with(|c| c.notify.webhook = config).await;
    site.admin(Persona::Member).await.get("/notifications").await.expect(403);
    let operator = site.admin(Persona::Admin).await;
    for path in ["/notifications", "/config"] {
        let shown = operator.get(path).await.expect(200).to_string();
        assert!(!shown.contains(SECRET), "{path}: {shown}");
    }
    assert!(!webhook(&site).await.to_string().contains("known-to-the-receiver"));
}
