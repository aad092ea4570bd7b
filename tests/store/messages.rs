use std::time::Duration;

use stowage::{
    notify::message::{Action, Detail, NewMessage, Resource},
    store::{
        Store,
        bind::Value,
        keyset::{ListKey as _, Order},
        sql::{
            backends::BackendKind,
            messages::{MessageFilter, MessageQuery, MessageRow, MessageSort},
        },
    },
};
use support::both_databases;

fn message(project: &str, resource: &str) -> NewMessage {
    NewMessage {
        resource: Resource::Volume,
        resource_id: resource.into(),
        project_id: project.into(),
        request_id: "req-1".into(),
        action: Action::ScheduleAllocateVolume,
        detail: Detail::NotEnoughSpace,
        extra: "No pool has 5 GiB free.".into(),
    }
}

async fn add(store: &Store, m: &NewMessage) -> String {
    let mut tx = store.begin().await.unwrap();
    let id = tx.add_message(m).await.unwrap();
    tx.commit().await.unwrap();
    id
}

const ORDER: [MessageSort; 2] = [MessageSort::CreatedAt, MessageSort::Id];

/// Newest first.
fn query(filters: Vec<MessageFilter>, after: Option<&MessageRow>, limit: i64) -> MessageQuery {
    let order = ORDER.map(|k| Order { column: k.column(), descending: true, nullable: false });
    let after = after.map(|m| ORDER.map(|k| k.value(m)).to_vec());
    MessageQuery { filters, order: order.to_vec(), after, limit, ..MessageQuery::default() }
}

fn equals(column: &'static str, value: &str) -> MessageFilter {
    MessageFilter::Equals(column, Value::from(value))
}

both_databases! {
    async fn a_message_reads_as_it_was_written_and_lives_thirty_days(db) {
        let id = add(&db.store, &message("p1", "v1")).await;
        let m = db.store.message(BackendKind::Block, &id).await.unwrap().unwrap();
        assert_eq!((m.event_id.as_str(), m.level.as_str(), m.resource_type.as_str()), ("VOLUME_VOLUME_001_003", "ERROR", "VOLUME"));
        assert_eq!((m.project_id.as_str(), m.resource_id.as_str(), m.request_id.as_str()), ("p1", "v1", "req-1"));
        assert_eq!(m.expires_at - m.created_at, 30 * 24 * 3600 * 1_000_000);
        assert_eq!(m.extra, "No pool has 5 GiB free.");
    }

    async fn a_list_is_newest_first_and_pages_by_its_last_row(db) {
        let mut ids = Vec::new();
        for n in 0..5 {
            ids.push(add(&db.store, &message("p1", &format!("v{n}"))).await);
        }
        add(&db.store, &message("p2", "other")).await;
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = db.store.messages(&query(vec![equals("project_id", "p1")], after.as_ref(), 2)).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            seen.extend(page.into_iter().map(|m| (m.created_at, m.id)));
        }
        let mut sorted = seen.clone();
        sorted.sort_by(|a, b| b.cmp(a));
        assert_eq!(seen, sorted);
        let mut found: Vec<_> = seen.into_iter().map(|(_, id)| id).collect();
        found.sort();
        ids.sort();
        assert_eq!(found, ids, "every message of the project once, none of another");
    }

    async fn every_filter_narrows(db) {
        add(&db.store, &message("p1", "v1")).await;
        add(&db.store, &NewMessage { resource: Resource::VolumeSnapshot, request_id: "req-2".into(), detail: Detail::QuotaExceed, ..message("p1", "s1") }).await;
        for filter in [
            equals("resource_id", "s1"),
            equals("resource_type", "VOLUME_SNAPSHOT"),
            equals("request_id", "req-2"),
            equals("event_id", "VOLUME_VOLUME_SNAPSHOT_001_006"),
            MessageFilter::Contains("event_id", "SNAPSHOT".into()),
        ] {
            let found = db.store.messages(&query(vec![equals("project_id", "p1"), filter.clone()], None, 10)).await.unwrap();
            assert_eq!(found.iter().map(|m| m.resource_id.as_str()).collect::<Vec<_>>(), ["s1"], "{filter:?}");
        }
        assert_eq!(db.store.messages(&query(vec![equals("level", "ERROR")], None, 10)).await.unwrap().len(), 2);
        assert_eq!(db.store.messages(&query(vec![MessageFilter::Never], None, 10)).await.unwrap(), []);
    }

    async fn an_expired_message_is_not_listed(db) {
        let id = add(&db.store, &message("p1", "v1")).await;
        let expires_at = db.store.message(BackendKind::Block, &id).await.unwrap().unwrap().expires_at;
        let at = |now| MessageQuery { now, ..query(vec![], None, 10) };
        assert_eq!(db.store.messages(&at(expires_at - 1)).await.unwrap().len(), 1);
        assert_eq!(db.store.messages(&at(expires_at)).await.unwrap(), []);
    }

    async fn a_message_is_deleted_once(db) {
        let id = add(&db.store, &message("p1", "v1")).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.delete_message(&id).await.unwrap());
        assert!(!tx.delete_message(&id).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(db.store.message(BackendKind::Block, &id).await.unwrap(), None);
    }

    async fn only_expired_messages_are_purged(db) {
        add(&db.store, &message("p1", "v1")).await;
        let mut tx = db.store.begin().await.unwrap();
        assert_eq!(tx.purge_messages(Duration::ZERO, 10).await.unwrap(), 0);
        tx.commit().await.unwrap();
    }
}
