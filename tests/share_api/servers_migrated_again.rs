//! What is left of a migration that is over: on the back end that the server came from, in rules, and for the way back.

use serde_json::{Value, json};
use support::both_databases;

use crate::{
    live::rule_until,
    migrating::{HERE, Moving, ask, between, experimental, n, site, to},
    served::{one, servers},
};

const ABANDON: &str = "share-server-migration.abandon";

both_databases! {
    async fn progress_of_one_that_has_moved_is_told_also_when_the_source_is_gone(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let destination = moving.start_and_complete().await;
        moving.is_there_only(&destination).await;
        let told = json!({ "total_progress": 100, "task_state": "migration_success", "destination_share_server_id": destination });
        assert_eq!(moving.ask("migration_get_progress", Value::Null).await.expect(200), told);
    }

    async fn rules_that_the_destination_refuses_are_in_error(db) {
        let site = site(&db, json!({ "faults": ["access.apply#1=refuse:invalid"] })).await;
        let member = site.member().await;
        let moving = Moving::on(&site).await;
        let destination = moving.start_and_complete().await;
        moving.is_there_only(&destination).await;
        rule_until(&member, &moving.rule, "error").await;
        member.share_until(&moving.share, "available").await;
    }

    async fn a_source_that_is_deleted_before_it_was_abandoned_is_abandoned_first(db) {
        let site = between(&db, servers("m", json!({ "faults": [format!("{ABANDON}=refuse:transient")] })), n(json!({}))).await;
        let operator = experimental(&site).await;
        let moving = Moving::on(&site).await;
        let destination = moving.start_and_complete().await;
        operator.until(&one(&destination), |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        operator.delete(&one(&moving.server)).await.expect(202);
        site.reconfigure(vec![servers("m", json!({})), n(json!({}))]).await;
        operator.until_gone(&one(&moving.server)).await;
        // the array has all its room again
        operator.until("/scheduler-stats/pools/detail", |a| {
            let pools = a.body()["pools"].as_array().cloned().unwrap_or_default();
            pools.iter().any(|p| p["name"] == "stowage@m#p1" && p["capabilities"]["free_capacity_gb"].as_f64() == Some(1000.0))
        })
        .await;
    }

    async fn the_way_back_waits_until_nothing_is_left_there(db) {
        let site = between(&db, servers("m", json!({ "faults": [format!("{ABANDON}=refuse:transient")] })), n(json!({}))).await;
        let (operator, member) = (experimental(&site).await, site.member().await);
        let moving = Moving::on(&site).await;
        let destination = moving.start_and_complete().await;
        operator.until(&one(&destination), |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        member.until(&format!("/shares/{}", moving.share), |a| a.body()["share"]["access_rules_status"] == "active").await;
        ask(&operator, &destination, "migration_start", to(HERE, json!({}))).await.expect(409);
        site.reconfigure(vec![servers("m", json!({})), n(json!({}))]).await;
        operator.until_gone(&one(&moving.server)).await;
        ask(&operator, &destination, "migration_start", to(HERE, json!({}))).await.expect(202);
        operator.until(&one(&destination), |a| a.body()["share_server"]["task_state"] == "migration_driver_phase1_done").await;
        ask(&operator, &destination, "migration_complete", Value::Null).await.expect(200);
        operator.until_gone(&one(&destination)).await;
        let share = operator.get(&format!("/shares/{}", moving.share)).await.expect(200)["share"].clone();
        assert_eq!((&share["status"], &share["host"]), (&json!("available"), &json!("stowage@m#p1")));
        moving.usable(&site).await;
    }
}
