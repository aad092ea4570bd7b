//! The webhook's queue, against a receiver that fails, hangs and restarts.

use std::time::{Duration, Instant};

use serde_json::json;
use stowage::{
    clock,
    config::WebhookConfig,
    notify::{
        NewEvent,
        outbox::deliver_to,
        webhook::{self, LOST, Sender},
    },
    store::Store,
};
use support::{
    both_databases,
    receiver::{Answer, Receiver},
};

async fn publish(store: &Store, resource: &str, event_type: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.publish(&NewEvent {
        event_type: event_type.into(),
        resource_kind: "volume",
        resource_id: resource.into(),
        project_id: "p1".into(),
        user_id: "u1".into(),
        request_id: "req-1".into(),
        payload: json!({ "size": 1 }),
    })
    .await
    .unwrap();
    tx.commit().await.unwrap();
}

/// Publishes and has the outbox hand on.
async fn tell(store: &Store, config: &WebhookConfig, events: &[(&str, &str)]) {
    for (resource, kind) in events {
        publish(store, resource, kind).await;
    }
    deliver_to(store, &[], Some(config)).await.unwrap();
}

fn sender(config: &WebhookConfig) -> Sender {
    Sender::new(config, "stowage").unwrap()
}

async fn waiting(store: &Store) -> i64 {
    store.webhook_waiting(0).await.unwrap().waiting
}

/// Rounds until nothing waits.
async fn drain(store: &Store, config: &WebhookConfig) {
    let sender = sender(config);
    support::wait::until("nothing to wait", || async {
        webhook::round(store, &sender).await.unwrap();
        (waiting(store).await == 0).then_some(())
    })
    .await;
}

/// Every wait is over.
async fn much_later(store: &Store) {
    let mut tx = store.begin().await.unwrap();
    tx.webhook_pause(0).await.unwrap();
    tx.webhook_all_due().await.unwrap();
    tx.commit().await.unwrap();
}

both_databases! {
    async fn events_come_in_order_of_their_resource_and_once_when_all_goes_well(db) {
        let receiver = Receiver::start().await;
        let config = receiver.config();
        for n in 0..20 {
            publish(&db.store, "v1", &format!("e{n}")).await;
            publish(&db.store, "v2", &format!("e{n}")).await;
        }
        deliver_to(&db.store, &[], Some(&config)).await.unwrap();
        assert_eq!(webhook::round(&db.store, &sender(&config)).await.unwrap().delivered, 40);
        let expected: Vec<String> = (0..20).map(|n| format!("e{n}")).collect();
        assert_eq!((receiver.taken("v1"), receiver.taken("v2")), (expected.clone(), expected));
        assert_eq!(receiver.got().len(), 40);
        assert_eq!(waiting(&db.store).await, 0);
    }

    async fn only_what_the_configuration_names_is_queued_and_nothing_when_it_is_off(db) {
        let receiver = Receiver::start().await;
        let config = WebhookConfig { events: vec!["volume.delete.*".into()], ..receiver.config() };
        tell(&db.store, &config, &[("v1", "volume.create.end"), ("v1", "volume.delete.end")]).await;
        assert_eq!(waiting(&db.store).await, 1);
        tell(&db.store, &WebhookConfig::default(), &[("v1", "volume.delete.end")]).await;
        assert_eq!(waiting(&db.store).await, 1);
        drain(&db.store, &config).await;
        assert_eq!(receiver.taken("v1"), ["volume.delete.end"]);
    }

    async fn a_refused_event_holds_back_its_resource_alone(db) {
        let receiver = Receiver::start().await;
        let config = receiver.config();
        receiver.answer(|event| if event["subject"] == "volume/bad" { Answer::Status(400) } else { Answer::Take });
        tell(&db.store, &config, &[("bad", "e0"), ("good", "e0"), ("bad", "e1"), ("good", "e1")]).await;
        webhook::round(&db.store, &sender(&config)).await.unwrap();
        assert_eq!((receiver.taken("good"), receiver.taken("bad")), (vec!["e0".to_owned(), "e1".to_owned()], vec![]));
        assert_eq!(receiver.got().iter().filter(|g| g.of() == "bad").count(), 1, "the second was not tried before the first was taken");
        receiver.answer(|_| Answer::Take);
        much_later(&db.store).await;
        drain(&db.store, &config).await;
        assert_eq!(receiver.taken("bad"), ["e0", "e1"]);
    }

    async fn what_a_receiver_that_was_gone_missed_comes_when_it_is_back(db) {
        let mut receiver = Receiver::start().await;
        let config = receiver.config();
        receiver.end().await;
        tell(&db.store, &config, &[("v1", "e0"), ("v1", "e1"), ("v2", "e0")]).await;
        let round = webhook::round(&db.store, &sender(&config)).await.unwrap();
        assert!(round.trouble.unwrap().contains("cannot be reached"));
        let state = db.store.webhook_state().await.unwrap();
        assert!(state.paused_until > clock::now() && state.failures == 1, "{state:?}");
        let mut tx = db.store.begin().await.unwrap();
        tx.webhook_pause(clock::now() + 3_600_000_000).await.unwrap();
        tx.commit().await.unwrap();
        receiver.start_again().await;
        assert_eq!(webhook::round(&db.store, &sender(&config)).await.unwrap().delivered, 0, "it is paused");
        much_later(&db.store).await;
        drain(&db.store, &config).await;
        assert_eq!((receiver.taken("v1"), receiver.taken("v2")), (vec!["e0".to_owned(), "e1".to_owned()], vec!["e0".to_owned()]));
        let state = db.store.webhook_state().await.unwrap();
        assert_eq!((state.failures, state.delivered, state.reason.as_str()), (0, 3, ""));
    }

    async fn a_receiver_that_is_gone_is_not_asked_once_for_each_resource(db) {
        let receiver = Receiver::start().await;
        let config = WebhookConfig { concurrency: 2, ..receiver.config() };
        receiver.answer(|_| Answer::Status(500));
        let names: Vec<String> = (0..40).map(|n| format!("v{n}")).collect();
        let events: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "e0")).collect();
        tell(&db.store, &config, &events).await;
        webhook::round(&db.store, &sender(&config)).await.unwrap();
        assert!(receiver.got().len() <= 4, "{} requests", receiver.got().len());
        receiver.answer(|_| Answer::Take);
        drain(&db.store, &config).await;
        assert_eq!(receiver.got().iter().filter(|g| g.taken).count(), 40);
    }

    async fn a_receiver_that_hangs_ends_the_round_in_time(db) {
        let receiver = Receiver::start().await;
        let config = WebhookConfig { timeout: Duration::from_millis(300), ..receiver.config() };
        receiver.answer(|_| Answer::Hang);
        tell(&db.store, &config, &[("v1", "e0"), ("v2", "e0"), ("v1", "e1")]).await;
        let began = Instant::now();
        let round = webhook::round(&db.store, &sender(&config)).await.unwrap();
        assert!(began.elapsed() < webhook::longest_round(&config), "another process may begin then");
        assert_eq!((round.delivered, round.trouble.as_deref()), (0, Some("the receiver did not answer in time")));
        receiver.answer(|_| Answer::Take);
        much_later(&db.store).await;
        drain(&db.store, &config).await;
        assert_eq!(receiver.taken("v1"), ["e0", "e1"]);
    }

    async fn an_event_that_was_taken_but_not_acknowledged_comes_again_under_the_same_id(db) {
        let receiver = Receiver::start().await;
        let config = receiver.config();
        receiver.answer(|_| Answer::Status(502));
        tell(&db.store, &config, &[("v1", "e0")]).await;
        webhook::round(&db.store, &sender(&config)).await.unwrap();
        receiver.answer(|_| Answer::Take);
        drain(&db.store, &config).await;
        let got = receiver.got();
        assert_eq!(got.len(), 2);
        assert_eq!((got[0].id(), got[0].header("webhook-id")), (got[1].id(), got[1].id()));
    }

    async fn a_receiver_that_asks_for_a_wait_gets_it(db) {
        let receiver = Receiver::start().await;
        let config = receiver.config();
        receiver.answer(|_| Answer::Busy(100));
        tell(&db.store, &config, &[("v1", "e0")]).await;
        webhook::round(&db.store, &sender(&config)).await.unwrap();
        let wait = db.store.webhook_state().await.unwrap().paused_until - clock::now();
        assert!((90_000_000..=100_000_000).contains(&wait), "{wait}");
    }

    async fn a_redirect_is_not_followed(db) {
        let (receiver, other) = (Receiver::start().await, Receiver::start().await);
        let config = receiver.config();
        let elsewhere = other.url();
        receiver.answer(move |_| Answer::Redirect(elsewhere.clone()));
        tell(&db.store, &config, &[("v1", "e0")]).await;
        let round = webhook::round(&db.store, &sender(&config)).await.unwrap();
        assert!(round.trouble.unwrap().contains("307"));
        assert!(other.got().is_empty());
        assert_eq!(waiting(&db.store).await, 1);
    }

    async fn too_many_that_wait_lose_the_oldest_and_the_receiver_is_told(db) {
        let receiver = Receiver::start().await;
        let config = WebhookConfig { max_backlog: 3, ..receiver.config() };
        tell(&db.store, &config, &[("v1", "e0"), ("v2", "e0"), ("v1", "e1"), ("v1", "e2"), ("v2", "e1")]).await;
        assert_eq!(webhook::trim(&db.store, &config).await.unwrap(), (3, 2));
        assert_eq!(webhook::trim(&db.store, &config).await.unwrap(), (3, 0), "and no more");
        tell(&db.store, &config, &[("v3", "e0")]).await;
        assert_eq!(webhook::trim(&db.store, &config).await.unwrap(), (3, 1));
        drain(&db.store, &config).await;
        assert_eq!((receiver.taken("v1"), receiver.taken("v2"), receiver.taken("v3")), (vec!["e2".into()], vec!["e1".into()], vec!["e0".into()]));
        let told: Vec<_> = receiver.got().into_iter().filter(|g| g.kind() == LOST).collect();
        assert_eq!((told.len(), &told[0].event["data"]), (1, &json!({ "lost": 3 })), "once, with all of them");
        assert_eq!(db.store.webhook_state().await.unwrap().lost, 3);
    }

    async fn what_is_too_old_is_dropped(db) {
        let receiver = Receiver::start().await;
        let config = receiver.config();
        tell(&db.store, &config, &[("v1", "e0")]).await;
        assert_eq!(webhook::trim(&db.store, &config).await.unwrap(), (1, 0));
        let short = WebhookConfig { max_age: Duration::ZERO, ..config };
        assert_eq!(webhook::trim(&db.store, &short).await.unwrap(), (0, 1));
        assert_eq!(waiting(&db.store).await, 0);
    }
}
