//! What drivers said about another subnet, and subnets that servers were promised.

use stowage::{
    clock,
    domain::share_network::SubnetVerdict,
    store::{
        StoreError,
        sql::subnet_checks::{AnswerRow, CheckRow, Question},
    },
};
use support::both_databases;

use crate::share_networks::network;

fn question(zone: &str) -> Question {
    Question { network_id: "n".into(), zone: zone.into(), neutron_net_id: String::new(), neutron_subnet_id: String::new() }
}

fn check(id: &str, created_at: i64) -> CheckRow {
    CheckRow { id: id.into(), subnet_id: format!("subnet of {id}"), created_at }
}

fn asked(check: &str, server: &str) -> AnswerRow {
    AnswerRow {
        check_id: check.into(),
        share_server_id: server.into(),
        backend: "stowage@m".into(),
        incarnation: "i".into(),
        job_id: "j".into(),
        verdict: None,
        reason: None,
        addresses: None,
    }
}

both_databases! {
    async fn a_question_has_one_check_and_a_server_is_answered_for_once(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.subnet_check_insert(&question(""), &check("c", 7)).await.unwrap();
        tx.subnet_check_insert(&question("here"), &check("d", 7)).await.unwrap();
        for server in ["s", "t"] {
            tx.subnet_check_asks(&asked("c", server)).await.unwrap();
        }
        assert!(tx.subnet_check_answer("c", "s", SubnetVerdict::Refused, Some("because"), None).await.unwrap());
        assert!(!tx.subnet_check_answer("c", "s", SubnetVerdict::Possible, None, Some(1)).await.unwrap(), "it was said");
        assert!(!tx.subnet_check_answer("gone", "s", SubnetVerdict::Possible, None, Some(1)).await.unwrap());
        assert_eq!((tx.subnet_check_refusals("c").await.unwrap(), tx.subnet_check_refusals("d").await.unwrap()), (1, 0));
        let found = tx.subnet_check(&question("")).await.unwrap().unwrap();
        assert_eq!(found.row, check("c", 7));
        let said: Vec<_> = found.answers.iter().map(|a| (a.share_server_id.as_str(), a.verdict(), a.reason.as_deref())).collect();
        assert_eq!(said, [("s", Some(SubnetVerdict::Refused), Some("because")), ("t", None, None)]);
        tx.commit().await.unwrap();
        assert_eq!(db.store.subnet_check_answers("c").await.unwrap(), found.answers);
        let mut tx = db.store.begin().await.unwrap();
        let twice = tx.subnet_check_insert(&question(""), &check("e", 8)).await;
        assert!(matches!(twice, Err(StoreError::Duplicate { .. })), "{twice:?}");
    }

    async fn a_check_goes_when_it_is_old_with_what_was_said(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        for (zone, id, at) in [("", "old", 5), ("here", "new", 6)] {
            tx.subnet_check_insert(&question(zone), &check(id, at)).await.unwrap();
            tx.subnet_check_asks(&asked(id, "s")).await.unwrap();
        }
        tx.subnet_checks_forget("n", 6).await.unwrap();
        assert!(tx.subnet_check(&question("")).await.unwrap().is_none() && tx.subnet_check(&question("here")).await.unwrap().is_some());
        assert!(tx.subnet_check_remove("new").await.unwrap() && !tx.subnet_check_remove("new").await.unwrap());
        tx.commit().await.unwrap();
        assert!(db.store.subnet_check_answers("old").await.unwrap().is_empty() && db.store.subnet_check_answers("new").await.unwrap().is_empty());
    }

    async fn of_two_that_refuse_at_once_one_is_the_first(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        tx.subnet_check_insert(&question(""), &check("c", 7)).await.unwrap();
        for server in ["s", "t"] {
            tx.subnet_check_asks(&asked("c", server)).await.unwrap();
        }
        tx.commit().await.unwrap();
        let refuse = |server: &'static str| {
            let store = db.store.clone();
            tokio::spawn(async move {
                let mut tx = store.begin().await?;
                tx.subnet_check_held("c").await?;
                let before = tx.subnet_check_refusals("c").await?;
                tx.subnet_check_answer("c", server, SubnetVerdict::Refused, None, None).await?;
                tx.commit().await?;
                Ok::<_, StoreError>(before)
            })
        };
        let both = [refuse("s"), refuse("t")];
        let mut before = Vec::new();
        for one in both {
            before.push(one.await.unwrap().unwrap());
        }
        before.sort_unstable();
        assert_eq!(before, [0, 1]);
        let mut tx = db.store.begin().await.unwrap();
        assert!(!tx.subnet_check_held("gone").await.unwrap());
    }

    async fn a_promised_subnet_is_the_servers_before_its_driver_gave_it(db) {
        network(&db.store).await;
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.promised_subnets("s").await.unwrap().is_empty(), "what a server was built over is applied");
        tx.share_server_promised("s", "b").await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(db.store.share_server("s").await.unwrap().unwrap().subnet_ids, ["a", "b"]);
        assert_eq!(db.store.promised_subnets("s").await.unwrap(), ["b"]);
        let mut tx = db.store.begin().await.unwrap();
        assert!(tx.share_server_subnet_applied("s", "b").await.unwrap());
        assert!(tx.promised_subnets("s").await.unwrap().is_empty());
        assert!(!tx.snapshot_instance_data("nothing", None, clock::now()).await.unwrap());
        tx.rollback().await.unwrap();
    }
}
