//! Migration of share servers whose driver fails, falls silent or lies: what everything is afterwards, that nothing is left or
//! counted twice, and that the next attempt succeeds.

use serde_json::{Value, json};
use stowage::config::BackendConfig;
use support::{Persona, both_databases, db::Db};

use crate::{
    live::rule_until,
    migrating::{Moving, THERE, ask, between, experimental, fresh, n, site, to},
    served::{one, paths, servers},
    site::Site,
};

const START: &str = "share-server-migration.start";
const COMPLETE: &str = "share-server-migration.complete";
const CANCEL: &str = "share-server-migration.cancel";

async fn faulty(db: &Db, faults: &[&str]) -> Site {
    site(db, json!({ "faults": faults })).await
}

/// It comes to nothing; afterwards all is as before, the operator reads why, and the next one, without the faults, succeeds.
async fn comes_to_nothing(db: &Db, faults: &[&str], is_last: bool) {
    let db = fresh(db).await;
    let site = faulty(&db, faults).await;
    let moving = Moving::on(&site).await;
    moving.start().await;
    if is_last {
        moving.copied().await;
        moving.complete().await;
    }
    moving.is_here(&site, "migration_error").await;
    let said = site.messages(&moving.server).await;
    assert!(said.len() == 1 && said[0].contains("could not be migrated; it is where it was"), "{faults:?}: {said:?}");
    site.reconfigure(vec![servers("m", json!({})), n(json!({}))]).await;
    let destination = moving.start_and_complete().await;
    moving.is_there(&site, &destination).await;
}

/// A fault that a repeat cures.
async fn heals_itself(db: &Db, of_m: &[&str], of_n: &[&str]) {
    let db = fresh(db).await;
    let site = between(&db, servers("m", json!({ "faults": of_m })), n(json!({ "faults": of_n }))).await;
    let moving = Moving::on(&site).await;
    let destination = moving.start_and_complete().await;
    moving.is_there(&site, &destination).await;
}

fn liar(lie: &str) -> BackendConfig {
    let mut backend = BackendConfig::of_shares("n", "hostile-servers");
    backend.options.insert("lie".to_owned(), json!(lie));
    backend
}

both_databases! {
    async fn whatever_fails_while_the_destination_is_built_all_stays_where_it_was(db) {
        for fault in [
            "share-servers.allocations-wanted=refuse:internal",
            "share-servers.setup=refuse:exhausted",
            "share-servers.setup=fail-after:internal",
            "share-servers.setup=trap-after",
        ] {
            comes_to_nothing(&db, &[fault], false).await;
        }
    }

    async fn whatever_fails_while_it_is_copied_all_stays_where_it_was(db) {
        for fault in ["=refuse:invalid", "=refuse:exhausted", "=fail-after:internal", "=trap-after"] {
            comes_to_nothing(&db, &[&format!("{START}{fault}")], false).await;
        }
        comes_to_nothing(&db, &["share-server-migration.start=pending:50", "poll.poll=refuse:internal"], false).await;
    }

    async fn whatever_fails_in_the_last_step_all_is_brought_back(db) {
        for fault in ["=refuse:invalid", "=fail-after:internal", "=trap-after", "=wrong-answer", "=leave-out", "=wrong-id"] {
            comes_to_nothing(&db, &[&format!("{COMPLETE}{fault}")], true).await;
        }
    }

    async fn what_cannot_be_cancelled_goes_with_the_destinations_tear_down(db) {
        comes_to_nothing(&db, &[&format!("{START}=fail-after:internal"), &format!("{CANCEL}=refuse:internal")], false).await;
        comes_to_nothing(&db, &[&format!("{START}=fail-after:internal"), "share-servers.teardown#1=refuse:internal"], false).await;
    }

    async fn a_last_step_that_may_have_happened_and_cannot_be_taken_back_is_an_error_that_says_so(db) {
        let site = faulty(&db, &[&format!("{COMPLETE}=trap-after"), &format!("{CANCEL}=refuse:internal")]).await;
        let (member, operator) = (site.member().await, experimental(&site).await);
        let moving = Moving::on(&site).await;
        let destination = moving.start_and_complete().await;
        moving.until_task("migration_error").await;
        for server in [&moving.server, &destination] {
            assert_eq!(operator.get(&one(server)).await.expect(200)["share_server"]["status"], "error");
        }
        assert_eq!(member.get(&format!("/shares/{}", moving.share)).await.expect(200)["share"]["status"], "error");
        assert_eq!(paths(&member, &moving.share).await, moving.paths);
        assert!(site.messages(&moving.server).await[0].contains("could not be taken back"));
        // nobody is stuck: all of it can be deleted
        site.reconfigure(vec![servers("m", json!({})), n(json!({}))]).await;
        let kept = format!("/snapshots/{}", moving.snapshot.clone().unwrap());
        operator.delete(&kept).await.expect(202);
        operator.until_gone(&kept).await;
        member.delete(&format!("/shares/{}", moving.share)).await.expect(202);
        member.until_gone(&format!("/shares/{}", moving.share)).await;
        site.delete_server(&moving.server).await;
        operator.delete(&one(&destination)).await.expect(202);
    }

    async fn lost_answers_are_asked_for_again(db) {
        let lost = ["share-servers.setup", START, COMPLETE, "poll.poll"].map(|verb| format!("{verb}#1=lose-answer"));
        let mut of_n: Vec<&str> = lost.iter().map(String::as_str).collect();
        heals_itself(&db, &["share-server-migration.abandon#1=lose-answer", "share-servers.teardown#1=lose-answer"], &of_n).await;
        of_n.extend(["share-server-migration.start=pending:3", "share-server-migration.complete=pending:3"]);
        heals_itself(&db, &[], &of_n).await;
    }

    async fn an_array_that_is_away_for_a_moment_is_waited_for(db) {
        for verb in ["share-server-migration.check", START, COMPLETE] {
            heals_itself(&db, &[], &[&format!("{verb}#1=refuse:transient")]).await;
        }
        heals_itself(&db, &["share-server-migration.abandon#1=refuse:transient", "share-servers.teardown#1=refuse:busy"], &[]).await;
    }

    async fn a_cancel_whose_answer_is_lost_is_asked_for_again(db) {
        let site = faulty(&db, &[&format!("{CANCEL}#1=lose-answer"), "share-servers.teardown#1=lose-answer"]).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        moving.copied().await;
        moving.ask("migration_cancel", Value::Null).await.expect(202);
        moving.is_here(&site, "migration_cancelled").await;
        moving.usable(&site).await;
    }

    async fn a_cancel_that_the_driver_refuses_leaves_nothing_either(db) {
        let site = faulty(&db, &[&format!("{CANCEL}=refuse:internal")]).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        moving.copied().await;
        moving.ask("migration_cancel", Value::Null).await.expect(202);
        moving.is_here(&site, "migration_cancelled").await;
        moving.usable(&site).await;
    }

    async fn a_source_that_cannot_be_abandoned_yet_is_inactive_and_in_nobodys_way(db) {
        let site = between(&db, servers("m", json!({ "faults": ["share-server-migration.abandon=refuse:transient"] })), n(json!({}))).await;
        let (member, operator) = (site.member().await, experimental(&site).await);
        let moving = Moving::on(&site).await;
        let destination = moving.start_and_complete().await;
        operator.until(&one(&destination), |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        let source = operator.get(&one(&moving.server)).await.expect(200)["share_server"].clone();
        assert_eq!((&source["status"], &source["task_state"]), (&json!("inactive"), &json!("migration_success")));
        rule_until(&member, &moving.rule, "active").await;
        member.share_until(&moving.share, "available").await;
        for verb in ["migration_start", "migration_check"] {
            ask(&operator, &moving.server, verb, to(THERE, json!({}))).await.expect(409);
        }
        site.reconfigure(vec![servers("m", json!({})), n(json!({}))]).await;
        operator.until_gone(&one(&moving.server)).await;
    }

    async fn what_a_driver_lies_of_a_migration_is_not_believed(db) {
        let lies = [
            ("moved-less", "is not answered"),
            ("moved-more", "is not on the server"),
            ("moved-twice", "twice"),
            ("moved-snapshots", "is not on the server"),
            ("moved-into-no-pool", "gold"),
            ("moved-nowhere", "no export location"),
            ("moved-details", "server details has 1048576 bytes"),
            ("moved-trap", "trap"),
        ];
        for (lie, why) in lies {
            let db = fresh(&db).await;
            let site = between(&db, servers("m", json!({})), liar(lie)).await;
            let admin = site.admin(Persona::Admin).await;
            let moving = Moving::without_snapshot(&site).await;
            moving.start_and_complete().await;
            moving.is_here(&site, "migration_error").await;
            let said = site.messages(&moving.server).await;
            assert!(said.len() == 1 && !said[0].contains(why), "a user reads nothing of the driver's words: {said:?}");
            let jobs = admin.get("/jobs?kind=share_server.migrate").await.expect(200);
            assert!(jobs.to_string().contains(why), "{lie}: {jobs}");
            moving.usable(&site).await;
        }
    }

    async fn a_token_beyond_all_limits_ends_it(db) {
        let site = between(&db, servers("m", json!({})), liar("endless-copy-token")).await;
        let moving = Moving::without_snapshot(&site).await;
        moving.start().await;
        moving.is_here(&site, "migration_error").await;
        moving.usable(&site).await;
    }

    async fn a_copy_that_never_ends_is_ended_by_an_operator(db) {
        let site = between(&db, servers("m", json!({})), liar("endless-copy")).await;
        let moving = Moving::without_snapshot(&site).await;
        moving.start().await;
        moving.until_task("migration_driver_in_progress").await;
        support::wait::until("the driver to say that it is nearly done", || async {
            (moving.ask("migration_get_progress", Value::Null).await.expect(200)["total_progress"] == 99).then_some(())
        })
        .await;
        moving.ask("migration_complete", Value::Null).await.expect(400);
        moving.ask("migration_cancel", Value::Null).await.expect(202);
        moving.is_here(&site, "migration_cancelled").await;
        moving.usable(&site).await;
    }

    async fn a_check_that_is_refused_with_a_book_is_answered_with_its_beginning(db) {
        let site = between(&db, servers("m", json!({})), liar("long-refusal")).await;
        let moving = Moving::without_snapshot(&site).await;
        let said = moving.ask("migration_check", to(THERE, json!({}))).await.expect(200);
        assert_eq!(said["compatible"], false);
        assert!(said.to_string().len() < 10_000, "{} bytes", said.to_string().len());
        moving.ask("migration_start", to(THERE, json!({}))).await.expect(409);
    }
}
