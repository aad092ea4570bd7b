//! Asking drivers whether live share servers could be given another subnet: who is told what, and how long an answer counts. By
//! the rows of the specification.

use std::time::Duration;

use serde_json::{Value, json};
use stowage::{
    clock,
    domain::share_network::SubnetVerdict,
    driver::types::{IpVersion, Subnet},
    jobs::NewJob,
    store::sql::{
        jobs::JobFilter,
        subnet_checks::{AnswerRow, CheckRow, Question},
    },
};
use support::both_databases;

use crate::{
    live::{Live, able, add, ask, ask_with, asked, at_rest, faulty, said, site, site_with, try_add},
    net,
    site::{Site, uuid},
};

const REASON: &str = "vserver 12 sits on aggregate 7, which routes no VLAN";

fn reluctant() -> Value {
    json!({ "allocation_update_refusal": REASON })
}

/// How often drivers were asked for this network's servers.
async fn questions(site: &Site) -> usize {
    let jobs = site.admin(support::Persona::Admin).await.get("/jobs?kind=share_server.subnet_check").await.expect(200);
    jobs["jobs"].as_array().unwrap().len()
}

/// A check for another subnet in `red` that every driver agreed to some minutes ago.
async fn write_down(site: &Site, live: &Live, minutes: i64) {
    write_down_with(site, live, "red", minutes, 1).await;
}

/// The same for any configured subnet, and how many addresses each server's driver wanted.
async fn write_down_with(site: &Site, live: &Live, subnet: &str, minutes: i64, addresses: i64) {
    let (check, answer) = said_by(live, minutes, site.app().drivers.backend("stowage@m").unwrap().incarnation());
    let mut tx = site.app().store.begin().await.unwrap();
    tx.subnet_check_insert(&question(live, subnet), &check).await.unwrap();
    tx.subnet_check_asks(&answer).await.unwrap();
    assert!(tx.subnet_check_answer(&check.id, &live.server, SubnetVerdict::Possible, None, Some(addresses)).await.unwrap());
    tx.commit().await.unwrap();
}

fn question(live: &Live, subnet: &str) -> Question {
    Question {
        network_id: live.network.clone(),
        zone: String::new(),
        neutron_net_id: "net".to_owned(),
        neutron_subnet_id: subnet.to_owned(),
    }
}

/// A check of so many minutes ago, and what is waited for: this incarnation's answer.
fn said_by(live: &Live, minutes: i64, incarnation: String) -> (CheckRow, AnswerRow) {
    let check = CheckRow { id: uuid(), subnet_id: uuid(), created_at: clock::now() - minutes * 60_000_000 };
    let answer = AnswerRow {
        check_id: check.id.clone(),
        share_server_id: live.server.clone(),
        backend: "stowage@m".to_owned(),
        incarnation,
        job_id: uuid(),
        verdict: None,
        reason: None,
        addresses: None,
    };
    (check, answer)
}

both_databases! {
    async fn a8_a_refusal_changes_nothing_and_says_why_to_who_may_know(db) {
        let site = site(&db, reluctant()).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        let refused = try_add(&member, &live.network, "red").await.expect(409);
        assert!(!said(&refused).contains("aggregate") && !said(&refused).contains("stowage@m"), "{refused}");
        let refused = try_add(&operator, &live.network, "red").await.expect(409);
        assert!(said(&refused).contains(REASON) && said(&refused).contains("stowage@m"), "{refused}");
        let messages = site.messages(&live.network).await;
        assert_eq!(messages.len(), 1, "the driver was asked once: {messages:?}");
        assert!(messages[0].starts_with("add share network subnet: ") && !messages[0].contains("aggregate"), "{messages:?}");
        site.untouched(&member, &live).await;
    }

    async fn a8_one_refusal_of_several_refuses_the_whole(db) {
        let site = site_with(&db, vec![able("m", json!({})), able("n", reluctant())], |_| {}).await;
        let operator = site.operator().await;
        let network = crate::served::network(&operator, &["blue"]).await;
        for pool in ["stowage@m#p1", "stowage@n#p1"] {
            let share = crate::served::create_with(&operator, &network, json!({ "scheduler_hints": { "only_host": pool } })).await;
            operator.share_until(&share, "available").await;
        }
        let refused = try_add(&operator, &network, "red").await.expect(409);
        assert!(said(&refused).contains("stowage@n") && !said(&refused).contains("stowage@m"), "{refused}");
        let seen = ask(&operator, &network, "red").await;
        assert_eq!((&seen["compatible"], &seen["hosts_check_result"]), (&json!(false), &json!({ "stowage@m": true, "stowage@n": false })));
        assert_eq!(seen["hosts_check_reasons"], json!({ "stowage@n": REASON }));
        let statuses: Vec<Value> = site.servers(&network).await.iter().map(|s| s["status"].clone()).collect();
        assert_eq!((statuses, site.given().await.len()), (vec![json!("active"), json!("active")], 2));
        assert_eq!(net::subnet_ids(&operator, &network).await.len(), 1);
    }

    async fn a8_a_driver_that_does_not_answer_in_time_leaves_it_in_progress(db) {
        let faults = json!({ "faults": ["allocations.check-update-network-allocations=delay:3000"] });
        let site = site_with(&db, vec![able("m", faults)], |c| c.jobs.wait = Duration::from_millis(300)).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        let refused = try_add(&member, &live.network, "red").await.expect(400);
        assert!(said(&refused).contains("in progress"), "{refused}");
        assert_eq!(ask(&operator, &live.network, "red").await, json!({ "compatible": null, "hosts_check_result": { "stowage@m": null } }));
        site.untouched(&member, &live).await;
        assert_eq!(asked(&member, &live.network, "red").await, json!({ "compatible": true }));
        assert_eq!(questions(&site).await, 1, "each of them joined the first");
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
    }

    async fn a8_a_driver_that_fails_has_not_agreed_and_the_next_create_asks_again(db) {
        let site = faulty(&db, &["allocations.check-update-network-allocations#1=refuse:exhausted"]).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        try_add(&member, &live.network, "red").await.expect(409);
        site.untouched(&member, &live).await;
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
    }

    async fn a11_a_check_changes_nothing_and_a_create_after_it_asks_nobody(db) {
        let site = site(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let live = Live::on(&site, &member).await;
        assert_eq!(asked(&member, &live.network, "green").await, json!({ "compatible": true }), "users are not told of back ends");
        assert_eq!(ask(&operator, &live.network, "green").await, json!({ "compatible": true, "hosts_check_result": { "stowage@m": true } }));
        site.untouched(&member, &live).await;
        add(&member, &live.network, "green").await;
        at_rest(&member, &live.network).await;
        assert_eq!(questions(&site).await, 1);
    }

    async fn a11_a_create_without_a_check_asks_itself(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
        assert_eq!(questions(&site).await, 1);
        // what was said before the change is not taken for what is said now
        add(&member, &live.network, "red").await;
        assert_eq!(questions(&site).await, 2);
        at_rest(&member, &live.network).await;
    }

    async fn a11_a_refusal_stands_until_the_check_is_reset(db) {
        let site = faulty(&db, &["allocations.check-update-network-allocations#1=refuse:unsupported"]).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        for _ in 0..2 {
            assert_eq!(asked(&member, &live.network, "red").await, json!({ "compatible": false }));
        }
        try_add(&member, &live.network, "red").await.expect(409);
        assert_eq!(questions(&site).await, 1);
        ask_with(&member, &live.network, "red", json!({ "reset_operation": true })).await.expect(202);
        assert_eq!(asked(&member, &live.network, "red").await, json!({ "compatible": true }));
        assert_eq!(questions(&site).await, 2);
    }

    async fn a11_a_check_counts_for_the_subnet_it_was_made_for(db) {
        let site = site(&db, json!({ "ip_versions": ["4"] })).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        assert_eq!(asked(&member, &live.network, "red").await, json!({ "compatible": true }));
        try_add(&member, &live.network, "green").await.expect(409);
        assert_eq!(asked(&member, &live.network, "green").await, json!({ "compatible": false }));
        site.untouched(&member, &live).await;
    }

    async fn a11_a_check_counts_for_the_zone_it_was_made_for(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        site.another_server(&member, &live.network, true).await;
        let in_zone = || ask_with(&member, &live.network, "red", json!({ "availability_zone": "nova" }));
        asked(&member, &live.network, "red").await;
        let before = questions(&site).await;
        in_zone().await.expect(202);
        let after = questions(&site).await;
        assert!(after > before, "who said yes to a default subnet has said nothing of one in a zone");
        in_zone().await.expect(202);
        ask(&member, &live.network, "red").await;
        assert_eq!(questions(&site).await, after, "each is remembered");
    }

    async fn a11_a_check_counts_for_the_driver_that_was_asked(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        assert_eq!(asked(&member, &live.network, "red").await, json!({ "compatible": true }));
        site.reconfigure(vec![able("m", reluctant())]).await;
        try_add(&member, &live.network, "red").await.expect(409);
        site.untouched(&member, &live).await;
        site.reconfigure(vec![able("m", json!({}))]).await;
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
    }

    async fn a11_a_check_counts_for_the_servers_there_were(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        assert_eq!(asked(&member, &live.network, "red").await, json!({ "compatible": true }));
        site.another_server(&member, &live.network, true).await;
        ask(&member, &live.network, "red").await;
        assert_eq!(questions(&site).await, 3, "both are asked now");
    }

    async fn a11_a_check_is_forgotten_after_ten_minutes(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        for (minutes, asked) in [(11, 1), (9, 1)] {
            write_down(&site, &live, minutes).await;
            add(&member, &live.network, "red").await;
            at_rest(&member, &live.network).await;
            assert_eq!(questions(&site).await, asked, "{minutes} minutes old");
        }
    }

    async fn a8_a_driver_that_wants_addresses_without_measure_is_not_believed(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        site.reconfigure(vec![able("m", json!({ "faults": ["share-servers.allocations-wanted=wrong-answer"] }))]).await;
        // an IPv6 subnet, which would have as many
        assert_eq!(asked(&member, &live.network, "green").await, json!({ "compatible": false }));
        support::wait::until("a refusal", || async { (try_add(&member, &live.network, "green").await.status == 409).then_some(()) }).await;
        site.untouched(&member, &live).await;
        // others go on
        let elsewhere = site.stranger().await;
        let other = crate::served::network(&elsewhere, &["red"]).await;
        site.reconfigure(vec![able("m", json!({}))]).await;
        crate::served::available(&elsewhere, &other).await;
    }

    async fn a11_a_check_written_down_with_a_wild_count_reserves_no_more_than_there_is_use_for(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        write_down_with(&site, &live, "green", 1, i64::from(u32::MAX)).await;
        add(&member, &live.network, "green").await;
        assert_eq!(site.addresses(&live.server).await.len(), 1 + 256);
    }

    async fn a11_a_process_with_another_incarnation_asks_nobody(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        let (check, answer) = said_by(&live, 0, "another".to_owned());
        let subnet = Subnet {
            id: check.subnet_id.clone(),
            availability_zone: None,
            network_type: Some("flat".to_owned()),
            segmentation_id: None,
            cidr: "10.2.0.0/24".to_owned(),
            gateway: None,
            mtu: None,
            ip_version: IpVersion::V4,
            neutron_net_id: Some("net".to_owned()),
            neutron_subnet_id: Some("red".to_owned()),
        };
        let job = NewJob {
            kind: "share_server.subnet_check",
            resource_kind: "share_server",
            order_key: check.id.clone(),
            resource_id: live.server.clone(),
            backend: Some("stowage@m".to_owned()),
            payload: json!({ "check_id": check.id, "subnet": subnet }),
            max_age: Duration::from_secs(600),
            request_id: "req-1".to_owned(),
            project_id: member.project_id.clone(),
            user_id: member.user_id.clone(),
        };
        let mut tx = site.app().store.begin().await.unwrap();
        tx.subnet_check_insert(&question(&live, "red"), &check).await.unwrap();
        tx.subnet_check_asks(&answer).await.unwrap();
        let job = tx.enqueue(&site.app().jobs, job).await.unwrap();
        tx.commit().await.unwrap();
        support::wait::until("the question to be put off twice", || async {
            let filter = JobFilter { resource_id: Some(live.server.clone()), ..JobFilter::default() };
            let jobs = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
            let found = jobs.into_iter().find(|j| j.id == job).unwrap();
            assert_eq!(found.ended_at, None, "{found:?}");
            (found.attempts >= 2 && found.reason.contains("incarnation another was to be asked")).then_some(())
        })
        .await;
        assert_eq!(site.app().store.subnet_check_answers(&check.id).await.unwrap()[0].verdict, None);
        // the next create asks the one that is here
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
    }

    async fn a11_who_may_not_add_a_subnet_may_not_ask(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        ask_with(&site.stranger().await, &live.network, "red", json!({})).await.expect(404);
        ask_with(&site.share(support::Persona::Reader).await.at("2.99"), &live.network, "red", json!({})).await.expect(403);
        ask_with(&member.at("2.69"), &live.network, "red", json!({})).await.expect(404);
        assert_eq!(questions(&site).await, 0);
    }
}
