//! The end of share servers: by an operator, with their network or subnet, and by themselves when they are idle.

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, PgConnection};
use stowage::{
    clock,
    domain::share::ShareStatus,
    store::{StoreError, sql::jobs::JobFilter},
};
use support::{Client, both_databases, db::Db};

use crate::{
    net::{self, subnet_ids},
    served::{available, create, failed, network, one, servers, site, site_with},
    site::{Site, allow},
};

async fn drop_share(client: &Client, share: &str) {
    client.delete(&format!("/shares/{share}")).await.expect(202);
    client.until_gone(&format!("/shares/{share}")).await;
}

/// Lets the clean-up run until the server is gone.
async fn reaped(site: &Site, server: &str) {
    let operator = site.operator().await;
    support::wait::until("the idle server to go", || async {
        site.app().reconcilers.kick("idle-servers");
        (operator.get(&one(server)).await.status == 404).then_some(())
    })
    .await;
}

/// Whether the network's rows are gone, hidden ones included.
async fn forgotten(site: &Site, network: &str) {
    support::wait::until("the network's rows to go", || async {
        let mut tx = site.app().store.begin().await.unwrap();
        let there = tx.share_network_locked_if_deleted_too(network).await.unwrap();
        tx.rollback().await.unwrap();
        (!there).then_some(())
    })
    .await;
}

/// Until a transaction waits for another. On SQLite it does before it begins.
async fn somebody_waits(db: &Db) {
    if !db.is_postgres() {
        return;
    }
    support::wait::until("a transaction to wait", || async {
        let mut looks = PgConnection::connect(&db.options.url).await.unwrap();
        let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let (n,): (i64,) = sqlx::query_as(sql).fetch_one(&mut looks).await.unwrap();
        (n > 0).then_some(())
    })
    .await;
}

both_databases! {
    async fn a_share_that_goes_waits_for_whoever_decides_about_its_server_and_neither_fails(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let rule = allow(&member, &share, "10.1.0.200").await;
        member.until(&format!("/share-access-rules/{rule}"), |a| a.body()["access"]["state"] == "active").await;
        let server = site.only_server(&id).await;
        let store = site.app().store.clone();
        let mut decides = store.begin().await.unwrap();
        decides.share_server_locked(&server).await.unwrap().unwrap();
        let goes = tokio::spawn(async move {
            let mut tx = store.begin().await?;
            let gone = tx.share_remove(&share, &[ShareStatus::Available]).await?;
            tx.rollback().await?;
            Ok::<_, StoreError>(gone)
        });
        somebody_waits(&db).await;
        assert_eq!(decides.server_rules_failed(&server, clock::now()).await.unwrap(), 1);
        decides.rollback().await.unwrap();
        assert!(goes.await.unwrap().unwrap());
    }

    async fn an_operator_deletes_an_idle_server(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        operator.delete(&one(&server)).await.expect(409);
        drop_share(&member, &share).await;
        operator.delete(&one(&server)).await.expect(202);
        operator.until_gone(&one(&server)).await;
        assert!(site.given().await.is_empty(), "its address is given back");
        let share = available(&member, &id).await;
        assert_ne!(site.only_server(&id).await, server, "the next share gets another");
        drop_share(&member, &share).await;
    }

    async fn a_server_goes_when_it_has_been_idle_long_enough(db) {
        let quick = |c: &mut stowage::config::Config| c.share.unused_share_server_cleanup_interval = Duration::ZERO;
        let site = site_with(&db, vec![servers("m", json!({}))], quick).await;
        let member = site.member().await;
        let (used, unused) = (network(&member, &["blue"]).await, network(&member, &["blue"]).await);
        available(&member, &used).await;
        let shares = [available(&member, &unused).await, available(&member, &unused).await];
        let (kept, idle) = (site.only_server(&used).await, site.only_server(&unused).await);
        futures::future::join_all(shares.iter().map(|s| drop_share(&member, s))).await;
        reaped(&site, &idle).await;
        assert_eq!(site.only_server(&used).await, kept);
        assert_eq!(site.given().await.len(), 1);
        // one that a share was put on meanwhile stays
        let share = available(&member, &unused).await;
        let next = site.only_server(&unused).await;
        site.app().reconcilers.kick("idle-servers");
        member.share_until(&share, "available").await;
        drop_share(&member, &share).await;
        reaped(&site, &next).await;
    }

    async fn an_idle_server_waits_and_without_the_clean_up_it_stays(db) {
        let site = site_with(&db, vec![servers("m", json!({}))], |c| c.share.automatic_share_server_cleanup = false).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        let row = || async { site.app().store.share_server(&server).await.unwrap().unwrap().row };
        assert_eq!(row().await.idle_since, None);
        drop_share(&member, &share).await;
        let since = row().await.idle_since.unwrap();
        let runs = || site.app().reconcilers.status()["idle-servers"].runs;
        let before = runs();
        support::wait::until("the clean-up to run", || async {
            site.app().reconcilers.kick("idle-servers");
            (runs() > before + 1).then_some(())
        })
        .await;
        assert_eq!((row().await.status.as_str(), row().await.idle_since), ("active", Some(since)));
        available(&member, &id).await;
        assert_eq!(row().await.idle_since, None, "in use again, and the same server");
    }

    async fn a_share_that_failed_leaves_its_server_idle(db) {
        let site = site(&db, json!({ "faults": ["shares.create=refuse:invalid"] })).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = create(&member, &id).await;
        failed(&member, &share).await;
        let server = site.only_server(&id).await;
        let row = site.app().store.share_server(&server).await.unwrap().unwrap().row;
        assert!(row.status == "active" && row.idle_since.is_some(), "{row:?}");
    }

    async fn with_a_network_its_idle_servers_go(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        member.delete(&net::path(&id)).await.expect(409);
        drop_share(&member, &share).await;
        member.delete(&net::path(&id)).await.expect(202);
        member.get(&net::path(&id)).await.expect(404);
        operator.until_gone(&one(&server)).await;
        forgotten(&site, &id).await;
        assert!(site.given().await.is_empty());
        assert_eq!(site.network_drift().await, 0);
    }

    async fn with_a_subnet_its_servers_go_unless_shares_are_on_them(db) {
        let site = site(&db, json!({ "multiple_subnets": true })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue", "red"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        let subnets = subnet_ids(&member, &id).await;
        let path = |n: usize| format!("{}/{}", net::subnets(&id), subnets[n]);
        let refused = member.delete(&path(1)).await.expect(409);
        assert!(refused["conflictingRequest"]["message"].as_str().unwrap().contains("one or more shares"), "{refused}");
        drop_share(&member, &share).await;
        member.delete(&path(1)).await.expect(202);
        member.get(&path(1)).await.expect(404);
        operator.until_gone(&one(&server)).await;
        assert!(site.given().await.is_empty());
        // the network goes on with what it has
        available(&member, &id).await;
        let shown = &site.servers(&id).await[0];
        assert_eq!(shown["share_network_subnet_ids"], json!([subnets[0]]));
    }

    async fn a_teardown_that_fails_leaves_the_server_in_error_and_the_next_delete_ends_it(db) {
        let site = site(&db, json!({ "faults": ["share-servers.teardown=refuse:unsupported"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        drop_share(&member, &share).await;
        operator.delete(&one(&server)).await.expect(202);
        operator.until(&one(&server), |a| a.body()["share_server"]["status"] == "error").await;
        assert_eq!(site.given().await.len(), 1, "the array may still use it");
        site.delete_server(&server).await;
        assert!(site.given().await.is_empty());
    }

    async fn a_server_of_a_deleted_network_goes_also_when_its_driver_does_not_take_it_down(db) {
        let site = site(&db, json!({ "faults": ["share-servers.teardown=refuse:unsupported"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let service = net::service(&member, "ldap", json!({})).await;
        net::use_service(&member, &id, &service).await.expect(200);
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        drop_share(&member, &share).await;
        member.delete(&net::path(&id)).await.expect(202);
        operator.until_gone(&one(&server)).await;
        forgotten(&site, &id).await;
        assert!(site.given().await.is_empty());
        let filter = JobFilter { kind: Some("share_server.cleanup".into()), ..JobFilter::default() };
        let left = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
        assert_eq!((left.len(), left[0].resource_id.as_str()), (1, server.as_str()), "somebody tries on");
        member.delete(&format!("/security-services/{service}")).await.expect(202);
    }

    async fn with_a_deleted_subnet_a_server_goes_too_and_the_others_can_be_given_more(db) {
        let site = site(&db, json!({ "multiple_subnets": true, "faults": ["share-servers.teardown=refuse:unsupported"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue", "red"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        drop_share(&member, &share).await;
        let gone = subnet_ids(&member, &id).await[1].clone();
        member.delete(&format!("{}/{gone}", net::subnets(&id))).await.expect(202);
        operator.until_gone(&one(&server)).await;
        net::subnet(&member, &id, crate::served::named("green")).await;
        available(&member, &id).await;
    }

    async fn an_array_that_is_busy_is_waited_for(db) {
        // as long as something that failed on the server is being cleaned up
        let busy: Vec<String> = (1..=4).map(|n| format!("share-servers.teardown#{n}=refuse:busy")).collect();
        let site = site(&db, json!({ "faults": busy })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        drop_share(&member, &share).await;
        operator.delete(&one(&server)).await.expect(202);
        support::wait::until("the server to go", || async {
            let answer = operator.get(&one(&server)).await;
            if answer.status == 404 {
                return Some(());
            }
            assert_eq!(answer.body()["share_server"]["status"], "deleting");
            None
        })
        .await;
        assert!(site.given().await.is_empty());
    }

    async fn a_server_in_work_is_waited_for(db) {
        let site = site(&db, json!({ "faults": ["share-servers.setup=pending:20"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = create(&member, &id).await;
        let server = support::wait::until("the server to be there", || async {
            let servers = site.servers(&id).await;
            servers.first().map(|s| s["id"].as_str().unwrap().to_owned())
        })
        .await;
        let refused = operator.delete(&one(&server)).await.expect(403);
        assert!(refused["forbidden"]["message"].as_str().unwrap().contains("creating"), "{refused}");
        member.delete(&net::path(&id)).await.expect(409);
        member.share_until(&share, "available").await;
    }
}
