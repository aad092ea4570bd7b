//! Whether a multi-attach volume can be refused at once, from stored reports.

use stowage::{scheduler::MultiattachSupport, store::Store};
use support::both_databases;

use crate::world::{config, configure, pool, report, store_report};

async fn reported(store: &Store, name: &str, multiattach: bool) {
    configure(store, &config(name)).await;
    let mut r = report(&format!("stowage@{name}"), store.now().await.unwrap(), vec![pool("p", 1.0, 1.0)]);
    r.multiattach = multiattach;
    store_report(store, &r).await;
}

both_databases! {
    async fn without_any_back_end_it_is_not_known(db) {
        assert_eq!(db.store.reported_multiattach().await.unwrap(), MultiattachSupport::NotKnown);
    }

    async fn while_one_has_not_reported_it_is_not_known(db) {
        reported(&db.store, "a", false).await;
        configure(&db.store, &config("b")).await;
        assert_eq!(db.store.reported_multiattach().await.unwrap(), MultiattachSupport::NotKnown);
    }

    async fn when_all_have_reported_and_none_has_it_it_is_refused(db) {
        reported(&db.store, "a", false).await;
        reported(&db.store, "b", false).await;
        assert_eq!(db.store.reported_multiattach().await.unwrap(), MultiattachSupport::Refused);
    }

    async fn one_that_has_it_is_enough(db) {
        reported(&db.store, "a", true).await;
        configure(&db.store, &config("b")).await;
        assert_eq!(db.store.reported_multiattach().await.unwrap(), MultiattachSupport::Reported);
    }

    async fn a_disabled_back_end_does_not_count(db) {
        reported(&db.store, "a", true).await;
        reported(&db.store, "b", false).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.set_backend_enabled("stowage@a", false, None).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.store.reported_multiattach().await.unwrap(), MultiattachSupport::Refused);
    }
}
