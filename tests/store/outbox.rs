use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::json;
use stowage::{
    notify::{Event, NewEvent, Sink, SinkError, outbox::deliver_due},
    store::Store,
};
use support::both_databases;

/// Keeps what it gets; refuses the resources it is told to.
#[derive(Default)]
struct Notebook {
    seen: Mutex<Vec<(String, String)>>,
    refused: Mutex<HashSet<String>>,
}

impl Sink for Notebook {
    fn name(&self) -> &'static str {
        "notebook"
    }
    fn deliver<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(async move {
            if self.refused.lock().unwrap().contains(&event.resource_id) {
                return Err(SinkError { sink: "notebook", reason: "told to".into() });
            }
            self.seen.lock().unwrap().push((event.resource_id.clone(), event.event_type.clone()));
            Ok(())
        })
    }
}

fn notebook() -> (Arc<Notebook>, [Arc<dyn Sink>; 1]) {
    let notebook = Arc::new(Notebook::default());
    (notebook.clone(), [notebook])
}

impl Notebook {
    fn of(&self, resource: &str) -> Vec<String> {
        self.seen.lock().unwrap().iter().filter(|(r, _)| r == resource).map(|(_, e)| e.clone()).collect()
    }
}

async fn publish(store: &Store, resource: &str, event_type: &str) {
    let mut tx = store.begin().await.unwrap();
    tx.publish(&event(resource, event_type)).await.unwrap();
    tx.commit().await.unwrap();
}

fn event(resource: &str, event_type: &str) -> NewEvent {
    NewEvent {
        event_type: event_type.into(),
        resource_kind: "volume",
        resource_id: resource.into(),
        project_id: "p1".into(),
        user_id: "u1".into(),
        request_id: "req-1".into(),
        payload: json!({"size": 1}),
    }
}

both_databases! {
    async fn events_are_delivered_in_order_and_once_when_all_goes_well(db) {
        for n in 0..3 {
            publish(&db.store, "v1", &format!("e{n}")).await;
            publish(&db.store, "v2", &format!("e{n}")).await;
        }
        let (notebook, sinks) = notebook();
        assert_eq!(deliver_due(&db.store, &sinks).await.unwrap(), 6);
        assert_eq!(deliver_due(&db.store, &sinks).await.unwrap(), 0);
        assert_eq!(notebook.of("v1"), ["e0", "e1", "e2"]);
        assert_eq!(notebook.of("v2"), ["e0", "e1", "e2"]);
    }

    async fn an_event_of_a_transaction_that_rolled_back_is_never_told(db) {
        let mut tx = db.store.begin().await.unwrap();
        tx.publish(&event("v1", "never")).await.unwrap();
        tx.rollback().await.unwrap();
        assert!(db.store.due_events(10).await.unwrap().is_empty());
    }

    async fn an_event_reads_as_it_was_written(db) {
        publish(&db.store, "v1", "volume.create.end").await;
        let [e] = &db.store.due_events(10).await.unwrap()[..] else { panic!("one event") };
        assert_eq!((e.event_type.as_str(), e.resource_kind.as_str(), e.resource_id.as_str()), ("volume.create.end", "volume", "v1"));
        assert_eq!((e.project_id.as_str(), e.user_id.as_str(), e.request_id.as_str(), e.attempts), ("p1", "u1", "req-1", 0));
        assert_eq!(e.payload, json!({"size": 1}));
    }

    async fn a_failed_event_holds_back_its_own_resource_alone_and_keeps_the_order(db) {
        for n in 0..2 {
            publish(&db.store, "bad", &format!("e{n}")).await;
            publish(&db.store, "good", &format!("e{n}")).await;
        }
        let (notebook, sinks) = notebook();
        notebook.refused.lock().unwrap().insert("bad".into());
        assert_eq!(deliver_due(&db.store, &sinks).await.unwrap(), 2);
        assert_eq!(notebook.of("good"), ["e0", "e1"]);
        publish(&db.store, "bad", "e2").await;
        notebook.refused.lock().unwrap().clear();
        assert_eq!(deliver_due(&db.store, &sinks).await.unwrap(), 0, "the first one is backing off, the others wait behind it");
        support::wait::until("the events to be delivered after the back-off", || async {
            deliver_due(&db.store, &sinks).await.unwrap();
            (notebook.of("bad").len() == 3).then_some(())
        }).await;
        assert_eq!(notebook.of("bad"), ["e0", "e1", "e2"]);
    }

    async fn more_than_a_batch_goes_out_in_one_turn(db) {
        let mut tx = db.store.begin().await.unwrap();
        for n in 0..600 {
            tx.publish(&event(&format!("v{}", n % 7), &format!("e{n:03}"))).await.unwrap();
        }
        tx.commit().await.unwrap();
        let (notebook, sinks) = notebook();
        assert_eq!(deliver_due(&db.store, &sinks).await.unwrap(), 600);
        let seen = notebook.of("v3");
        assert!(seen.is_sorted() && seen.len() == 86, "{} in order", seen.len());
    }

    async fn a_duty_belongs_to_one_living_worker_at_a_time(db) {
        let mut tx = db.store.begin().await.unwrap();
        for id in ["a", "b"] {
            tx.add_worker(id, "here:1", Duration::from_secs(60)).await.unwrap();
        }
        assert!(tx.take_duty("outbox", "a", Duration::from_secs(60)).await.unwrap());
        assert!(!tx.take_duty("outbox", "b", Duration::from_secs(60)).await.unwrap());
        assert!(tx.take_duty("outbox", "a", Duration::from_secs(60)).await.unwrap(), "the holder keeps it");
        assert!(tx.take_duty("purge", "b", Duration::from_secs(60)).await.unwrap(), "another duty is another matter");
        tx.remove_worker("a").await.unwrap();
        assert!(tx.take_duty("outbox", "b", Duration::ZERO).await.unwrap(), "a worker that left has no duty");
        tx.commit().await.unwrap();
        let mut tx = db.store.begin().await.unwrap();
        tx.add_worker("c", "here:1", Duration::from_secs(60)).await.unwrap();
        assert!(tx.take_duty("outbox", "c", Duration::from_secs(60)).await.unwrap(), "an expired duty is free");
    }
}
