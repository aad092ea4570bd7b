//! Share servers that cannot be built: nothing is left of them but a server in error, which can be deleted.

use serde_json::{Value, json};
use stowage::{config::BackendConfig, store::sql::jobs::JobFilter};
use support::{Client, Persona, both_databases};

use crate::{
    net::{self, subnet_ids},
    served::{available, create, create_with, failed, network, one, servers, site, site_with},
    site::{Site, text},
};

/// As [`fails_on`], as a user, wherever it is placed.
async fn fails(site: &Site, subnets: &[&str]) -> String {
    fails_on(site, &site.member().await, subnets, json!({})).await
}

/// A share on a network fails; what its owner reads. Its server is in error, without an address, and can be deleted, and then
/// nothing keeps the network.
async fn fails_on(site: &Site, client: &Client, subnets: &[&str], members: Value) -> String {
    let id = network(client, subnets).await;
    let share = create_with(client, &id, members).await;
    failed(client, &share).await;
    let messages = site.messages(&share).await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    let servers = site.servers(&id).await;
    assert_eq!((servers.len(), &servers[0]["status"]), (1, &json!("error")), "{messages:?}");
    assert!(site.given().await.is_empty(), "{messages:?}: {:?}", site.given().await);
    site.delete_server(&text(&servers[0]["id"])).await;
    client.delete(&format!("/shares/{share}")).await.expect(202);
    client.until_gone(&format!("/shares/{share}")).await;
    for subnet in &subnet_ids(client, &id).await[1..] {
        client.delete(&format!("{}/{subnet}", net::subnets(&id))).await.expect(202);
    }
    client.delete(&net::path(&id)).await.expect(202);
    client.until_gone(&net::path(&id)).await;
    messages[0].clone()
}

async fn job_done(site: &Site, kind: &str) {
    support::wait::until("the job to end well", || async {
        let filter = JobFilter { kind: Some(kind.to_owned()), ..JobFilter::default() };
        let jobs = site.app().store.list_jobs(&filter, None, 10).await.unwrap();
        (!jobs.is_empty() && jobs.iter().all(|j| j.ended_at.is_some())).then_some(())
    })
    .await;
}

both_databases! {
    async fn a6_whatever_step_of_the_driver_fails_no_address_is_kept(db) {
        let faults = [
            "share-servers.allocations-wanted=refuse:internal",
            "share-servers.setup=refuse:unsupported",
            "share-servers.setup=refuse:exhausted",
            "share-servers.setup=fail-after:internal",
            "share-servers.setup=trap",
            "share-servers.setup=trap-after",
        ];
        let able = |fault: &str| json!({ "multiple_subnets": true, "faults": [fault] });
        let backends = faults.iter().enumerate().map(|(n, fault)| servers(&format!("b{n}"), able(fault))).collect();
        let site = site_with(&db, backends, |_| {}).await;
        let operator = site.operator().await;
        for (n, fault) in faults.iter().enumerate() {
            let pool = format!("stowage@b{n}#p1");
            let message = fails_on(&site, &operator, &["blue", "red"], json!({ "scheduler_hints": { "only_host": pool } })).await;
            assert!(message.contains("Could not find an existing share server or allocate one"), "{fault}: {message}");
        }
    }

    async fn what_a_driver_lies_of_its_servers_is_not_kept_and_the_operator_reads_which_lie(db) {
        let lies = [
            ("many-addresses", "4294967295 addresses in one place are wanted"),
            ("huge-details", "server details has 1048576 bytes"),
            ("endless-token", "a pending token has 100000 bytes"),
        ];
        let liar = |lie: &str| {
            let mut backend = BackendConfig::of_shares(lie, "hostile-servers");
            backend.options.insert("lie".to_owned(), json!(lie));
            backend
        };
        let mut backends: Vec<BackendConfig> = lies.iter().map(|(lie, _)| liar(lie)).collect();
        backends.push(servers("m", json!({})));
        let site = site_with(&db, backends, |_| {}).await;
        let (operator, admin) = (site.operator().await, site.admin(Persona::Admin).await);
        for (lie, why) in lies {
            let hints = json!({ "scheduler_hints": { "only_host": format!("stowage@{lie}#pool0") } });
            let message = fails_on(&site, &operator, &["blue"], hints).await;
            assert!(message.contains("Could not find an existing share server or allocate one"), "{lie}: {message}");
            assert!(!message.contains(why), "a user reads nothing of the driver's words: {message}");
            let jobs = admin.get("/jobs?kind=share_server.create").await.expect(200);
            let told = jobs["jobs"].as_array().unwrap().iter().any(|j| j["reason"].as_str().is_some_and(|r| r.contains(why)));
            assert!(told, "{lie}: {jobs}");
        }
        let honest = json!({ "scheduler_hints": { "only_host": "stowage@m#p1" } });
        let share = create_with(&operator, &network(&operator, &["blue"]).await, honest).await;
        operator.share_until(&share, "available").await;
    }

    async fn a6_a_subnet_without_an_address_left_fails_the_whole(db) {
        let site = site(&db, json!({ "multiple_subnets": true, "addresses_per_subnet": 2 })).await;
        for subnets in [&["tiny"][..], &["blue", "tiny"], &["tiny", "green"]] {
            let message = fails(&site, subnets).await;
            assert!(message.contains("no free addresses left") && message.contains("tiny"), "{message}");
        }
    }

    async fn a6_a_subnet_that_nobody_knows_fails_the_whole(db) {
        let site = site(&db, json!({ "multiple_subnets": true })).await;
        let message = fails(&site, &["blue", "purple"]).await;
        assert!(message.contains("purple"), "{message}");
    }

    async fn what_was_half_built_is_taken_down(db) {
        let site = site(&db, json!({ "faults": ["share-servers.setup=fail-after:internal"] })).await;
        let member = site.member().await;
        let id = network(&member, &["tiny"]).await;
        let share = create(&member, &id).await;
        failed(&member, &share).await;
        let broken = site.only_server(&id).await;
        let job = JobFilter { kind: Some("share_server.cleanup".into()), ..JobFilter::default() };
        assert!(site.app().store.list_jobs(&job, None, 10).await.unwrap().is_empty(), "nothing was left to clean up");
        assert!(site.given().await.is_empty());
        site.delete_server(&broken).await;
    }

    async fn what_cannot_be_taken_down_is_cleaned_up_later(db) {
        let faults = json!(["share-servers.setup=fail-after:internal", "share-servers.teardown#1=refuse:internal"]);
        let site = site(&db, json!({ "faults": faults })).await;
        let member = site.member().await;
        let id = network(&member, &["blue"]).await;
        let share = create(&member, &id).await;
        failed(&member, &share).await;
        assert!(site.given().await.is_empty());
        job_done(&site, "share_server.cleanup").await;
        let server = site.only_server(&id).await;
        site.delete_server(&server).await;
    }

    async fn a_failed_server_is_deleted_also_when_its_driver_does_not_take_it_down(db) {
        let faults = json!(["share-servers.setup=fail-after:internal", "share-servers.teardown=refuse:unsupported"]);
        let site = site(&db, json!({ "faults": faults })).await;
        fails(&site, &["blue"]).await;
    }

    async fn the_next_share_gets_a_new_server(db) {
        let site = site(&db, json!({})).await;
        let member = site.member().await;
        // the network's first server finds the only address taken
        let taken = network(&member, &["tiny"]).await;
        let first = available(&member, &taken).await;
        let id = network(&member, &["tiny"]).await;
        let share = create(&member, &id).await;
        failed(&member, &share).await;
        let broken = site.only_server(&id).await;
        member.delete(&format!("/shares/{first}")).await.expect(202);
        member.until_gone(&format!("/shares/{first}")).await;
        site.delete_server(&site.only_server(&taken).await).await;
        available(&member, &id).await;
        let servers = site.servers(&id).await;
        let statuses: std::collections::BTreeMap<String, String> = servers.iter().map(|s| (text(&s["id"]), text(&s["status"]))).collect();
        assert_eq!((statuses.len(), statuses[&broken].as_str()), (2, "error"));
        assert_eq!(site.given().await.len(), 1);
        // an errored server is no reason to refuse a subnet elsewhere, and goes with the network's others
        site.delete_server(&broken).await;
        assert_eq!(site.operator().await.get(&one(&site.only_server(&id).await)).await.expect(200)["share_server"]["status"], "active");
    }

    async fn a_server_that_could_not_be_built_is_in_nobodys_way_and_goes_by_itself(db) {
        let quick = |c: &mut stowage::config::Config| c.share.unused_share_server_cleanup_interval = std::time::Duration::ZERO;
        let site = site_with(&db, vec![servers("m", json!({ "multiple_subnets": true }))], quick).await;
        let member = site.member().await;
        let taken = network(&member, &["tiny"]).await;
        available(&member, &taken).await;
        let id = network(&member, &["tiny"]).await;
        let share = create(&member, &id).await;
        failed(&member, &share).await;
        // as in a network without any server
        assert_eq!(member.get(&net::path(&id)).await.expect(200)["share_network"]["network_allocation_update_support"], true);
        net::subnet(&member, &id, crate::served::named("blue")).await;
        let full = subnet_ids(&member, &id).await[0].clone();
        member.delete(&format!("{}/{full}", net::subnets(&id))).await.expect(202);
        available(&member, &id).await;
        let again = create(&member, &network(&member, &["tiny"]).await).await;
        failed(&member, &again).await;
        support::wait::until("no server in error to be left", || async {
            site.app().reconcilers.kick("idle-servers");
            let listed = site.operator().await.get("/share-servers").await.expect(200);
            listed["share_servers"].as_array().unwrap().iter().all(|s| s["status"] == "active").then_some(())
        })
        .await;
        assert_eq!(site.given().await.len(), 2);
    }

    async fn a_back_end_without_the_interface_is_not_asked(db) {
        let site = site_with(&db, vec![crate::site::backend("plain", json!({})), servers("m", json!({ "pools": ["p1:5"] }))], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        assert_eq!(operator.get(&format!("/shares/{share}")).await.expect(200)["share"]["host"], "stowage@m#p1");
        let large = create_with(&member, &id, json!({ "size": 50 })).await;
        failed(&member, &large).await;
        assert!(site.messages(&large).await[0].contains("Capacity filter"));
    }
}
