//! Migration of share servers, by what clients see: the members of each answer, what is refused and in which order, what goes on
//! meanwhile, and what waits for an operator.

use serde_json::{Value, json};
use support::both_databases;

use crate::{
    migrating::{HERE, KEPT, Moving, THERE, ask, between, experimental, fresh, n, site, to},
    net,
    served::{available, create_with, named, network, one, paths, servers},
    site::{action, keys, snapshot_action, text, uuid},
};

const WAITS: &str = "migration_driver_phase1_done";

both_databases! {
    async fn a_check_says_what_was_asked_for_and_what_can_be(db) {
        let site = site(&db, json!({ "migration": ["writable", "preserve-snapshots", "progress"] })).await;
        let moving = Moving::on(&site).await;
        let said = moving.ask("migration_check", to(THERE, json!({ "writable": false, "new_share_network_id": moving.network }))).await.expect(200);
        assert_eq!(keys(&said), ["compatible", "requested_capabilities", "supported_capabilities"]);
        assert_eq!(said["compatible"], true);
        let requested = &said["requested_capabilities"];
        assert_eq!(keys(requested), ["host", "nondisruptive", "preserve_snapshots", "share_network_id", "writable"]);
        assert_eq!((&requested["host"], &requested["share_network_id"]), (&json!(THERE), &json!(moving.network)));
        let supported = &said["supported_capabilities"];
        let all = ["migration_cancel", "migration_get_progress", "nondisruptive", "preserve_snapshots", "share_network_id", "writable"];
        assert_eq!(keys(supported), all);
        let flags: Vec<&Value> = all.iter().map(|k| &supported[*k]).collect();
        assert_eq!(flags, [&json!(false), &json!(true), &json!(false), &json!(true), &json!(moving.network), &json!(true)]);
        // what cannot be is not compatible, and not begun; and why is said
        let asked = to(THERE, json!({ "nondisruptive": true }));
        let said = moving.ask("migration_check", asked.clone()).await.expect(200);
        assert_eq!(said["compatible"], false);
        assert!(said["reason"].as_str().unwrap().contains("nondisruptive"), "{said}");
        moving.ask("migration_start", asked).await.expect(409);
        assert_eq!(site.servers(&moving.network).await.len(), 1);
    }

    async fn where_what_users_write_meanwhile_would_be_lost_nothing_moves(db) {
        let site = site(&db, json!({ "migration": ["preserve-snapshots", "cancel", "progress"] })).await;
        let moving = Moving::on(&site).await;
        for writable in [true, false] {
            let asked = to(THERE, json!({ "writable": writable }));
            let said = moving.ask("migration_check", asked.clone()).await.expect(200);
            assert!(said["compatible"] == false && said["reason"].as_str().unwrap().contains("write"), "{said}");
            moving.ask("migration_start", asked).await.expect(409);
        }
        moving.usable(&site).await;
    }

    async fn a_driver_that_refuses_and_a_back_end_without_room_are_not_compatible_and_say_why(db) {
        for (options, why) in [
            (json!({ "migration_refusal": "no licence for it" }), "no licence for it"),
            (json!({ "pools": ["p1:3"] }), "no pool has 4 GiB"),
            (json!({ "share_protocols": ["cifs"] }), ""),
            (json!({ "migration": ["writable", "cancel"] }), "snapshots"),
        ] {
            let db = fresh(&db).await;
            let site = site(&db, options.clone()).await;
            let moving = Moving::on(&site).await;
            let asked = to(THERE, json!({ "writable": false, "preserve_snapshots": false }));
            let said = moving.ask("migration_check", asked.clone()).await.expect(200);
            assert_eq!(said["compatible"], false, "{options}: {said}");
            assert!(said["reason"].as_str().unwrap().contains(why), "{options}: {said}");
            moving.ask("migration_start", asked).await.expect(409);
            moving.usable(&site).await;
        }
    }

    async fn what_the_destinations_driver_does_not_say_is_no_answer(db) {
        let site = site(&db, json!({ "faults": ["share-server-migration.check=refuse:internal"] })).await;
        let moving = Moving::on(&site).await;
        for verb in ["migration_check", "migration_start"] {
            moving.ask(verb, to(THERE, json!({}))).await.expect(503);
        }
        moving.usable(&site).await;
    }

    async fn refusals_come_in_the_order_server_network_host_state(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let (operator, nowhere, nothing) = (experimental(&site).await, to("stowage@nowhere", json!({})), uuid());
        let nowhere_at_all = to("stowage@nowhere", json!({ "new_share_network_id": nothing }));
        for verb in ["migration_check", "migration_start"] {
            ask(&operator, &uuid(), verb, nowhere_at_all.clone()).await.expect(404);
            moving.ask(verb, nowhere_at_all.clone()).await.expect(400);
            moving.ask(verb, nowhere.clone()).await.expect(404);
            moving.ask(verb, to(HERE, json!({}))).await.expect(409);
            for missing in ["host", "writable", "nondisruptive", "preserve_snapshots"] {
                let mut body = to(THERE, json!({}));
                body.as_object_mut().unwrap().remove(missing);
                moving.ask(verb, body).await.expect(400);
            }
            for (key, bad) in [("writable", json!("perhaps")), ("host", json!(7)), ("host", json!("stowage@n#p1")), ("host", json!(""))] {
                moving.ask(verb, to(THERE, json!({ key: bad }))).await.expect(400);
            }
        }
        for (verb, status) in [("migration_complete", 404), ("migration_cancel", 404), ("migration_get_progress", 400)] {
            ask(&operator, &uuid(), verb, Value::Null).await.expect(status);
            moving.ask(verb, Value::Null).await.expect(400);
        }
        // a server in error stays, whatever is asked
        ask(&operator, &moving.server, "reset_status", json!({ "status": "error" })).await.expect(202);
        for verb in ["migration_check", "migration_start"] {
            moving.ask(verb, to(THERE, json!({}))).await.expect(409);
            moving.ask(verb, nowhere.clone()).await.expect(404);
        }
    }

    async fn it_is_an_experiment_of_operators_from_2_57_on(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let (operator, member) = (site.operator().await, site.member().await);
        let verbs = ["migration_check", "migration_start", "migration_complete", "migration_cancel", "migration_get_progress"];
        for verb in verbs {
            ask(&operator, &moving.server, verb, to(THERE, json!({}))).await.expect(404);
            ask(&experimental(&site).await.at("2.56"), &moving.server, verb, to(THERE, json!({}))).await.expect(404);
            let curious = member.with_header("X-OpenStack-Manila-API-Experimental", "True");
            ask(&curious, &moving.server, verb, to(THERE, json!({}))).await.expect(403);
        }
        let before = operator.at("2.56").get(&one(&moving.server)).await.expect(200)["share_server"].clone();
        assert!(!keys(&before).iter().any(|k| *k == "task_state" || *k == "source_share_server_id"), "{before}");
    }

    async fn what_is_not_at_rest_does_not_move(db) {
        let site = between(&db, servers("m", json!({ "faults": ["access.apply@*=delay:20000"] })), n(json!({}))).await;
        let (member, operator) = (site.member().await, experimental(&site).await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let server = site.only_server(&id).await;
        for status in ["error", "migrating"] {
            site.tell(&share, status).await;
            for verb in ["migration_check", "migration_start"] {
                let refused = ask(&operator, &server, verb, to(THERE, json!({}))).await.expect(409);
                assert!(refused.to_string().contains(&share), "{refused}");
            }
        }
        site.tell(&share, "available").await;
        // a rule that is being made
        crate::site::allow(&member, &share, "10.1.0.200").await;
        ask(&operator, &server, "migration_start", to(THERE, json!({}))).await.expect(409);
        assert_eq!(site.servers(&id).await.len(), 1);
    }

    async fn a_network_without_a_subnet_in_the_destinations_zone_is_a_conflict(db) {
        let mut far = n(json!({}));
        far.availability_zone = "far".to_owned();
        let site = between(&db, servers("m", json!({})), far).await;
        let moving = Moving::on(&site).await;
        let member = site.member().await;
        let mut zoned = named("red");
        zoned["availability_zone"] = json!("nova");
        let elsewhere = net::network(&member, zoned).await;
        for verb in ["migration_check", "migration_start"] {
            let refused = moving.ask(verb, to(THERE, json!({ "new_share_network_id": elsewhere }))).await.expect(409);
            assert!(refused.to_string().contains("far"), "{refused}");
        }
        let destination = moving.start_and_complete().await;
        moving.is_there_only(&destination).await;
        assert_eq!(member.get(&format!("/shares/{}", moving.share)).await.expect(200)["share"]["availability_zone"], "far");
    }

    async fn meanwhile_nothing_else_changes_server_shares_snapshots_rules_or_networks(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, experimental(&site).await);
        let other = network(&member, &["red"]).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        let destination = moving.copied().await;
        let share = action(&moving.share);
        let of_share = [
            json!({ "extend": { "new_size": 9 } }),
            json!({ "shrink": { "new_size": 1 } }),
            json!({ "allow_access": { "access_type": "ip", "access_to": "10.0.0.9" } }),
            json!({ "deny_access": { "access_id": moving.rule } }),
            json!({ "soft_delete": null }),
            json!({ "revert": { "snapshot_id": moving.snapshot } }),
        ];
        for body in of_share {
            let answer = member.post(&share, body.clone()).await;
            assert!((400..500).contains(&answer.status.as_u16()), "{body}: {answer:?}");
        }
        for body in [json!({ "unmanage": null }), json!({ "force_delete": null }), json!({ "reset_status": { "status": "available" } })] {
            let answer = operator.post(&share, body.clone()).await;
            assert!((400..500).contains(&answer.status.as_u16()), "{body}: {answer:?}");
        }
        let kept = moving.snapshot.clone().unwrap();
        for path in [format!("/shares/{}", moving.share), format!("/snapshots/{kept}")] {
            let answer = member.delete(&path).await;
            assert!((400..500).contains(&answer.status.as_u16()), "{path}: {answer:?}");
        }
        member.post("/snapshots", json!({ "snapshot": { "share_id": moving.share } })).await.expect(400);
        operator.post(&snapshot_action(&kept), json!({ "unmanage": null })).await.expect(403);
        member.delete(&net::path(&moving.network)).await.expect(409);
        for server in [&moving.server, &destination] {
            let answer = operator.delete(&one(server)).await;
            assert!((400..500).contains(&answer.status.as_u16()), "{answer:?}");
            let answer = ask(&operator, server, "unmanage", Value::Null).await;
            assert!((400..500).contains(&answer.status.as_u16()), "{answer:?}");
            ask(&operator, server, "migration_start", to(HERE, json!({ "new_share_network_id": other }))).await.expect(409);
        }
        let answer = net::try_subnet(&member, &moving.network, named("red")).await;
        assert!((400..500).contains(&answer.status.as_u16()), "{answer:?}");
        // shares that come now get a server of their own
        let new = available(&member, &moving.network).await;
        let on = operator.get(&format!("/shares/{new}")).await.expect(200)["share"]["share_server_id"].clone();
        assert!(on != json!(moving.server) && on != json!(destination));
        member.delete(&format!("/shares/{new}")).await.expect(202);
        member.until_gone(&format!("/shares/{new}")).await;
        site.delete_server(&text(&on)).await;
        assert_eq!(paths(&member, &moving.share).await, moving.paths, "the source serves");
        moving.complete().await;
        moving.is_there(&site, &destination).await;
    }

    async fn servers_are_found_by_task_and_by_where_they_came_from(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let operator = experimental(&site).await;
        let found = async |filter: String| {
            let listed = operator.get(&format!("/share-servers?{filter}")).await.expect(200);
            listed["share_servers"].as_array().unwrap().iter().map(|s| text(&s["id"])).collect::<Vec<_>>()
        };
        assert!(found(format!("source_share_server_id={}", moving.server)).await.is_empty());
        assert!(found(format!("task_state={WAITS}")).await.is_empty());
        moving.start().await;
        let destination = moving.copied().await;
        assert_eq!(found(format!("task_state={WAITS}")).await, [moving.server.clone()]);
        assert_eq!(found(format!("source_share_server_id={}", moving.server)).await, [destination.clone()]);
        assert_eq!(found("status=server_migrating".into()).await, [moving.server.clone()]);
        let shown = operator.get(&one(&destination)).await.expect(200)["share_server"].clone();
        assert_eq!((&shown["source_share_server_id"], &shown["task_state"]), (&json!(moving.server), &Value::Null));
        let source = operator.get(&one(&moving.server)).await.expect(200)["share_server"].clone();
        assert_eq!((&source["source_share_server_id"], &source["status"]), (&Value::Null, &json!("server_migrating")));
        moving.complete().await;
        moving.is_there_only(&destination).await;
        assert_eq!(found("task_state=migration_success".into()).await, [destination]);
    }

    async fn progress_is_what_the_driver_says_and_the_driver_may_be_slow(db) {
        let site = site(&db, json!({ "faults": ["share-server-migration.start=pending:12", "share-server-migration.complete=pending:2"] })).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        support::wait::until("all to be copied", || async {
            let progress = moving.ask("migration_get_progress", Value::Null).await.expect(200);
            assert_eq!(keys(&progress), ["destination_share_server_id", "task_state", "total_progress"]);
            Some(progress).filter(|p| p["task_state"] == WAITS).map(|p| assert_eq!(p["total_progress"], 100))
        })
        .await;
        let progress = moving.ask("migration_get_progress", Value::Null).await.expect(200);
        let destination = moving.destination().await;
        assert_eq!(progress["destination_share_server_id"], json!(destination));
        moving.complete().await;
        moving.is_there(&site, &destination).await;
    }

    async fn a_slow_copy_says_how_far_it_is_and_is_cancelled_in_the_middle(db) {
        let site = site(&db, json!({ "faults": ["share-server-migration.start=pending:2000"] })).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        support::wait::until("some of it to be copied", || async {
            let progress = moving.ask("migration_get_progress", Value::Null).await.expect(200);
            (progress["task_state"] == "migration_driver_in_progress" && progress["total_progress"] != 100).then_some(())
        })
        .await;
        moving.ask("migration_complete", Value::Null).await.expect(400);
        moving.ask("migration_cancel", Value::Null).await.expect(202);
        moving.ask("migration_cancel", Value::Null).await.expect(400);
        moving.is_here(&site, "migration_cancelled").await;
        moving.usable(&site).await;
    }

    async fn one_that_is_copied_waits_over_a_restart_and_is_cancelled(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        moving.copied().await;
        let site = site.restarted().await;
        let moving = moving.again(&site).await;
        assert_eq!(moving.ask("migration_get_progress", Value::Null).await.expect(200)["task_state"], WAITS);
        moving.ask("migration_cancel", Value::Null).await.expect(202);
        moving.is_here(&site, "migration_cancelled").await;
        moving.usable(&site).await;
    }

    async fn one_that_is_copied_waits_over_a_restart_and_is_completed(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        let destination = moving.copied().await;
        let site = site.restarted().await;
        let moving = moving.again(&site).await;
        moving.complete().await;
        moving.is_there(&site, &destination).await;
    }

    async fn a_driver_that_cannot_cancel_is_not_asked_to(db) {
        let site = site(&db, json!({ "migration": ["writable", "preserve-snapshots", "progress"] })).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        let destination = moving.copied().await;
        let refused = moving.ask("migration_cancel", Value::Null).await.expect(400);
        assert!(refused.to_string().contains("cannot cancel"), "{refused}");
        moving.complete().await;
        moving.is_there(&site, &destination).await;
    }

    async fn of_two_who_begin_at_once_one_does(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let begin = || moving.ask("migration_start", to(THERE, json!({})));
        let all = futures::future::join_all([begin(), begin(), begin(), begin()]).await;
        let begun = all.iter().filter(|a| a.status == 202).count();
        assert!(begun == 1 && all.iter().all(|a| a.status == 202 || a.status == 409), "{all:?}");
        let destination = moving.copied().await;
        // and of two who decide
        let (one, other) = tokio::join!(moving.ask("migration_complete", Value::Null), moving.ask("migration_cancel", Value::Null));
        match (one.status.as_u16(), other.status.as_u16()) {
            (200, 400) => moving.is_there(&site, &destination).await,
            (400, 202) => moving.is_here(&site, "migration_cancelled").await,
            both => panic!("{both:?}"),
        }
    }

    async fn a_server_moves_to_another_network_of_its_back_end_and_its_network_can_go(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let (member, operator) = (site.member().await, experimental(&site).await);
        let other = network(&member, &["red"]).await;
        moving.ask("migration_start", to(HERE, json!({ "new_share_network_id": other }))).await.expect(202);
        let destination = moving.copied().await;
        for id in [&moving.network, &other] {
            member.delete(&net::path(id)).await.expect(409);
        }
        moving.complete().await;
        operator.until(&one(&destination), |a| a.body()["share_server"]["task_state"] == "migration_success").await;
        operator.until_gone(&one(&moving.server)).await;
        let share = member.get(&format!("/shares/{}", moving.share)).await.expect(200)["share"].clone();
        assert_eq!((&share["share_network_id"], &share["status"]), (&json!(other), &json!("available")));
        assert!(paths(&member, &moving.share).await.iter().all(|p| p.starts_with("10.2.0.")));
        member.delete(&net::path(&moving.network)).await.expect(202);
        member.until_gone(&net::path(&moving.network)).await;
        let instance = operator.get(&format!("/shares/{}/instances", moving.share)).await.expect(200)["share_instances"][0].clone();
        assert_eq!((&instance["share_network_id"], &instance["share_server_id"]), (&json!(other), &json!(destination)));
        // what its server serves is where the array has it: a new snapshot is of that
        crate::site::snapshot(&member, &moving.share).await;
    }

    async fn an_address_that_is_not_there_ends_it_before_the_driver_is_asked(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        let member = site.member().await;
        let tiny = network(&member, &["tiny"]).await;
        let taken = create_with(&member, &tiny, json!({ "share_type": KEPT })).await;
        member.share_until(&taken, "available").await;
        moving.ask("migration_start", to(THERE, json!({ "new_share_network_id": tiny }))).await.expect(202);
        moving.until_task("migration_error").await;
        let said = site.messages(&moving.server).await;
        assert!(said.len() == 1 && said[0].contains("could not be migrated"), "{said:?}");
        assert_eq!(site.given().await.len(), 2);
        assert_eq!(site.servers(&tiny).await.len(), 1);
        assert_eq!(paths(&member, &moving.share).await, moving.paths);
        member.share_until(&moving.share, "available").await;
    }

    async fn several_shares_move_together_each_to_its_own_pool(db) {
        let site = site(&db, json!({ "pools": ["p0:4", "p1:3", "p2:100"] })).await;
        let moving = Moving::on(&site).await;
        let (member, operator) = (site.member().await, experimental(&site).await);
        let mut shares = vec![moving.share.clone()];
        for size in [1, 2, 3] {
            let more = create_with(&member, &moving.network, json!({ "share_type": KEPT, "size": size })).await;
            member.share_until(&more, "available").await;
            shares.push(more);
        }
        assert_eq!(site.only_server(&moving.network).await, moving.server);
        let destination = moving.start_and_complete().await;
        moving.is_there_only(&destination).await;
        let mut all = std::collections::BTreeSet::new();
        for share in &shares {
            let shown = operator.get(&format!("/shares/{share}")).await.expect(200)["share"].clone();
            assert_eq!((&shown["status"], &shown["share_server_id"]), (&json!("available"), &json!(destination)));
            all.extend(paths(&member, share).await);
        }
        assert_eq!(all.len(), 4, "each has a path of its own");
        operator.until_gone(&one(&moving.server)).await;
        assert_eq!((site.allocated_on(HERE).await, site.allocated_on(THERE).await), (0, 2 + 1 + 2 + 3));
        for share in &shares[1..] {
            member.delete(&format!("/shares/{share}")).await.expect(202);
            member.until_gone(&format!("/shares/{share}")).await;
        }
    }

    async fn one_that_nobody_completes_is_cancelled_when_its_time_is_over(db) {
        let site = site(&db, json!({})).await;
        let moving = Moving::on(&site).await;
        moving.start().await;
        moving.copied().await;
        site.sql("UPDATE jobs SET expires_at = 1 WHERE kind = 'share_server.migrate'").await;
        moving.is_here(&site, "migration_error").await;
        assert!(site.messages(&moving.server).await[0].contains("could not be migrated"));
        moving.usable(&site).await;
    }
}
