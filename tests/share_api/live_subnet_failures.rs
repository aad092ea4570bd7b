//! A live share server that could not be given another subnet: what is in error, what goes on, what is left, and how it is
//! healed. By the rows of the specification.

use serde_json::{Value, json};
use stowage::{clock, domain::share_server::ServerStatus, store::sql::jobs::JobFilter};
use support::{Answer, Client, Persona, both_databases, db::Db};

use crate::{
    ensure::{ended, patient},
    live::{Live, able, add, at_rest, faulty, rule_until, server_until, site_with, try_add},
    net,
    served::{create_with, one, paths},
    site::{Site, action, allow, text},
};

const HALF_WAY: &str = "allocations.update-network-allocations=fail-after:invalid";

async fn retry(client: &Client, server: &str) -> Answer {
    client.post(&format!("/share-servers/{server}/retry-network-update"), json!({})).await
}

async fn rules_status(client: &Client, share: &str) -> Value {
    client.get(&format!("/shares/{share}")).await.expect(200)["share"]["access_rules_status"].clone()
}

/// A site whose update fails half way, with a server on which it just has; what it is about, and the subnet.
async fn failed(site: &Site, member: &Client) -> (Live, String) {
    let live = Live::on(site, member).await;
    let subnet = add(member, &live.network, "green").await;
    server_until(site, &live.server, "error").await;
    at_rest(member, &live.network).await;
    (live, subnet)
}

/// One failure that a repeat cures.
async fn heals_itself(db: &Db, fault: &str) {
    let site = faulty(db, &[&format!("allocations.update-network-allocations{fault}")]).await;
    let member = site.member().await;
    let live = Live::on(&site, &member).await;
    add(&member, &live.network, "green").await;
    at_rest(&member, &live.network).await;
    server_until(&site, &live.server, "active").await;
    assert_eq!((paths(&member, &live.share).await.len(), site.addresses(&live.server).await.len()), (2, 2));
}

both_databases! {
    async fn a10_server_and_rules_are_in_error_and_the_network_goes_on(db) {
        let site = faulty(&db, &[HALF_WAY]).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let (live, subnet) = failed(&site, &member).await;
        rule_until(&member, &live.rule, "error").await;
        assert_eq!(rules_status(&member, &live.share).await, "error");
        assert_eq!(member.get(&format!("/shares/{}", live.share)).await.expect(200)["share"]["status"], "available", "its data are where they were");
        assert!(net::subnet_ids(&member, &live.network).await.contains(&subnet), "the subnet stays");
        let shown = operator.get(&one(&live.server)).await.expect(200)["share_server"].clone();
        assert!(shown["share_network_subnet_ids"].as_array().unwrap().contains(&json!(subnet)));
        let addresses = site.addresses(&live.server).await;
        let six = addresses.iter().find(|a| a.subnet_id.as_deref() == Some(&subnet)).expect("its address is recorded");
        assert_eq!(shown["backend_details"]["address.1"], six.ip_address, "what the driver says is left is kept");
        assert_eq!(paths(&member, &live.share).await.len(), 1, "no location is told that nobody knows to work");
        let messages = site.messages(&subnet).await;
        assert_eq!(messages, ["add share network subnet: The share server could not be given the new subnet. The storage refuses, as it was told to."]);
        // nothing else is added while it stands so
        try_add(&member, &live.network, "red").await.expect(400);
    }

    async fn a10_rules_of_a_failed_server_are_neither_changed_nor_sent_until_it_is_healed(db) {
        // whoever is told the rules that do not hold, takes them away: the driver must not hear of the share again
        let site = faulty(&db, &[HALF_WAY, "access.apply#2=refuse:invalid"]).await;
        let (member, operator, admin) = (site.member().await, site.operator().await, site.admin(Persona::Admin).await);
        let (live, _) = failed(&site, &member).await;
        rule_until(&member, &live.rule, "error").await;
        let one_more = json!({ "allow_access": { "access_type": "ip", "access_to": "10.1.0.201" } });
        member.post(&action(&live.share), one_more.clone()).await.expect(400);
        member.post(&action(&live.share), json!({ "deny_access": { "access_id": live.rule } })).await.expect(400);
        // the driver asks for the rules anew: the share has another location by now
        patient(&operator).await.expect(202);
        let run = ended(&site).await;
        assert_eq!(run["updated"], 1, "{run}");
        let filter = JobFilter { kind: Some("share.access".into()), resource_id: Some(live.share.clone()), ..JobFilter::default() };
        support::wait::until("the rules to be sent, or not", || async {
            let jobs = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
            (jobs.len() == 2 && jobs.iter().all(|j| j.ended_at.is_some())).then_some(())
        })
        .await;
        let messages = site.messages(&live.share).await;
        assert!(messages.is_empty(), "the driver was asked to change rules: {messages:?}");
        rule_until(&member, &live.rule, "error").await;
        site.reconfigure(vec![able("m", json!({}))]).await;
        retry(&admin, &live.server).await.expect(202);
        server_until(&site, &live.server, "active").await;
        rule_until(&member, &live.rule, "active").await;
        member.post(&action(&live.share), one_more).await.expect(200);
    }

    async fn a10_a_retry_goes_on_taking_away_what_was_denied(db) {
        let site = faulty(&db, &[HALF_WAY, "access.apply#3=refuse:unsupported"]).await;
        let (member, operator, admin) = (site.member().await, site.operator().await, site.admin(Persona::Admin).await);
        let live = Live::on(&site, &member).await;
        let kept = allow(&member, &live.share, "10.1.0.201").await;
        rule_until(&member, &kept, "active").await;
        add(&member, &live.network, "green").await;
        server_until(&site, &live.server, "error").await;
        at_rest(&member, &live.network).await;
        // an operator has rules change all the same
        let told = json!({ "reset_status": { "status": "active" } });
        operator.post(&format!("{}/action", one(&live.server)), told).await.expect(202);
        member.post(&action(&live.share), json!({ "deny_access": { "access_id": live.rule } })).await.expect(202);
        support::wait::until("the driver to refuse", || async { (!site.messages(&live.share).await.is_empty()).then_some(()) }).await;
        rule_until(&member, &live.rule, "error").await;
        site.reconfigure(vec![able("m", json!({}))]).await;
        retry(&admin, &live.server).await.expect(202);
        member.until_gone(&format!("/share-access-rules/{}", live.rule)).await;
        rule_until(&member, &kept, "active").await;
        assert_eq!(rules_status(&member, &live.share).await, "active");
    }

    async fn a10_a_share_that_something_works_on_is_waited_for_before_a_retry(db) {
        let site = faulty(&db, &[HALF_WAY, "shares.extend=delay:1500"]).await;
        let (member, admin) = (site.member().await, site.admin(Persona::Admin).await);
        let (live, _) = failed(&site, &member).await;
        member.post(&action(&live.share), json!({ "extend": { "new_size": 2 } })).await.expect(202);
        let refused = retry(&admin, &live.server).await.expect(409);
        assert!(refused.to_string().contains(&live.share), "{refused}");
        member.share_until(&live.share, "available").await;
        retry(&admin, &live.server).await.expect(202);
    }

    async fn a10_a_failed_server_that_an_operator_calls_active_is_healed_like_any(db) {
        let site = faulty(&db, &[HALF_WAY]).await;
        let (member, operator, admin) = (site.member().await, site.operator().await, site.admin(Persona::Admin).await);
        let (live, _) = failed(&site, &member).await;
        let told = json!({ "reset_status": { "status": "active" } });
        operator.post(&format!("{}/action", one(&live.server)), told).await.expect(202);
        site.reconfigure(vec![able("m", json!({}))]).await;
        retry(&admin, &live.server).await.expect(202);
        server_until(&site, &live.server, "active").await;
        at_rest(&member, &live.network).await;
        assert_eq!(paths(&member, &live.share).await.len(), 2);
    }

    async fn a10_the_other_servers_go_on(db) {
        let site = site_with(&db, vec![able("m", json!({ "faults": [HALF_WAY] })), able("n", json!({}))], |_| {}).await;
        let operator = site.operator().await;
        let network = crate::served::network(&operator, &["blue"]).await;
        let mut shares = Vec::new();
        for pool in ["stowage@m#p1", "stowage@n#p1"] {
            let share = create_with(&operator, &network, json!({ "scheduler_hints": { "only_host": pool } })).await;
            operator.share_until(&share, "available").await;
            let rule = allow(&operator, &share, "10.1.0.200").await;
            rule_until(&operator, &rule, "active").await;
            shares.push((share, rule));
        }
        add(&operator, &network, "green").await;
        at_rest(&operator, &network).await;
        let mut found: Vec<(String, String)> = site.servers(&network).await.iter().map(|s| (text(&s["host"]), text(&s["status"]))).collect();
        found.sort_unstable();
        assert_eq!(found, [("stowage@m".to_owned(), "error".to_owned()), ("stowage@n".to_owned(), "active".to_owned())]);
        rule_until(&operator, &shares[0].1, "error").await;
        rule_until(&operator, &shares[1].1, "active").await;
        assert_eq!((paths(&operator, &shares[0].0).await.len(), paths(&operator, &shares[1].0).await.len()), (1, 2));
    }

    async fn a10_a_retry_heals_with_the_same_addresses(db) {
        let site = faulty(&db, &[HALF_WAY]).await;
        let (member, admin) = (site.member().await, site.admin(Persona::Admin).await);
        let (live, _) = failed(&site, &member).await;
        let before = site.addresses(&live.server).await;
        // as long as the reason is there, it fails again
        retry(&admin, &live.server).await.expect(202);
        server_until(&site, &live.server, "error").await;
        at_rest(&member, &live.network).await;
        site.reconfigure(vec![able("m", json!({}))]).await;
        retry(&admin, &live.server).await.expect(202);
        server_until(&site, &live.server, "active").await;
        assert_eq!(at_rest(&member, &live.network).await["status"], "active");
        rule_until(&member, &live.rule, "active").await;
        assert_eq!((rules_status(&member, &live.share).await, paths(&member, &live.share).await.len()), (json!("active"), 2));
        assert_eq!(site.addresses(&live.server).await, before, "the same addresses");
        // and the network takes another subnet
        add(&member, &live.network, "red").await;
        at_rest(&member, &live.network).await;
        assert_eq!(paths(&member, &live.share).await.len(), 3);
    }

    async fn a10_deleting_the_failed_server_gives_every_address_back(db) {
        let site = faulty(&db, &[HALF_WAY]).await;
        let member = site.member().await;
        let (live, subnet) = failed(&site, &member).await;
        assert_eq!(site.given().await.len(), 2);
        member.delete(&format!("/shares/{}", live.share)).await.expect(202);
        member.until_gone(&format!("/shares/{}", live.share)).await;
        site.delete_server(&live.server).await;
        assert!(site.given().await.is_empty());
        for id in [subnet.as_str(), net::subnet_ids(&member, &live.network).await[0].as_str()] {
            member.delete(&format!("{}/{id}", net::subnets(&live.network))).await.expect(202);
        }
        member.delete(&net::path(&live.network)).await.expect(202);
    }

    async fn a10_a_driver_that_answers_for_others_is_not_believed(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=wrong-answer"]).await;
        let member = site.member().await;
        let (live, _) = failed(&site, &member).await;
        rule_until(&member, &live.rule, "error").await;
        assert_eq!(paths(&member, &live.share).await.len(), 1);
    }

    async fn a10_a_lost_answer_is_asked_for_again(db) {
        heals_itself(&db, "#1=lose-answer").await;
    }

    async fn a10_a_trap_is_asked_again(db) {
        heals_itself(&db, "#1=trap-after").await;
    }

    async fn a10_only_what_failed_is_retried_and_only_by_operators(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=delay:1500"]).await;
        let (member, admin) = (site.member().await, site.admin(Persona::Admin).await);
        let live = Live::on(&site, &member).await;
        retry(&admin, &live.server).await.expect(409);
        retry(&admin, "nothing").await.expect(404);
        retry(&site.admin(Persona::Member).await, &live.server).await.expect(403);
        add(&member, &live.network, "red").await;
        retry(&admin, &live.server).await.expect(409);
        at_rest(&member, &live.network).await;
        retry(&admin, &live.server).await.expect(409);
    }

    async fn a_server_that_has_another_status_meanwhile_is_left_so_and_the_network_goes_on(db) {
        let site = faulty(&db, &["allocations.update-network-allocations=delay:1500"]).await;
        let member = site.member().await;
        let live = Live::on(&site, &member).await;
        add(&member, &live.network, "red").await;
        let mut tx = site.app().store.begin().await.unwrap();
        assert!(tx.share_server_status(&live.server, &[ServerStatus::NetworkChange], ServerStatus::Error, clock::now()).await.unwrap());
        tx.commit().await.unwrap();
        at_rest(&member, &live.network).await;
        server_until(&site, &live.server, "error").await;
    }
}
