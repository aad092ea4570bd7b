//! Subnets of share networks.

use serde_json::{Value, json};
use stowage::domain::share_server::ServerStatus;
use support::{Persona, both_databases};

use crate::{
    net::{action, network, server, site, subnet, subnet_ids, subnets, try_subnet},
    site::{keys, text, uuid},
};

both_databases! {
    async fn a_subnet_says_whose_it_is(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({ "name": "n" })).await;
        let asked = json!({ "availability_zone": "nova", "neutron_net_id": "a", "neutron_subnet_id": "b", "metadata": { "k": "v" } });
        let made = try_subnet(&member, &id, asked).await.expect(200)["share_network_subnet"].clone();
        assert_eq!((&made["share_network_id"], &made["share_network_name"], &made["availability_zone"]), (&json!(id), &json!("n"), &json!("nova")));
        assert_eq!((&made["neutron_net_id"], &made["neutron_subnet_id"], &made["metadata"]), (&json!("a"), &json!("b"), &json!({ "k": "v" })));
        let fields = [
            "availability_zone", "cidr", "created_at", "gateway", "id", "ip_version", "metadata", "mtu", "network_type", "neutron_net_id", "neutron_subnet_id",
            "segmentation_id", "share_network_id", "share_network_name", "updated_at",
        ];
        assert_eq!(keys(&made), fields);
        let one = format!("{}/{}", subnets(&id), text(&made["id"]));
        assert_eq!(member.get(&one).await.expect(200)["share_network_subnet"], made);
        let older = member.at("2.77").get(&one).await.expect(200)["share_network_subnet"].clone();
        assert_eq!(older.as_object().unwrap().len(), fields.len() - 1, "no metadata before 2.78");
        assert_eq!(subnet_ids(&member, &id).await.len(), 2);
        for answer in [member.at("2.50").get(&one).await, member.at("2.50").get(&subnets(&id)).await, try_subnet(&member.at("2.50"), &id, json!({})).await] {
            assert_eq!(answer.status, 404, "{answer:?}");
        }
    }

    async fn before_2_70_a_zone_has_one_subnet(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let older = member.at("2.69");
        try_subnet(&older, &id, json!({})).await.expect(409);
        try_subnet(&older, &id, json!({ "availability_zone": "nova" })).await.expect(200);
        try_subnet(&older, &id, json!({ "availability_zone": "nova" })).await.expect(409);
        assert_eq!(subnet_ids(&member, &id).await.len(), 2);
        for zone in [Value::Null, json!("nova")] {
            try_subnet(&member, &id, json!({ "availability_zone": zone })).await.expect(200);
        }
        assert_eq!(subnet_ids(&member, &id).await.len(), 4);
    }

    async fn of_two_at_once_one_comes_first(db) {
        let site = site(&db).await;
        let older = site.member().await.at("2.69");
        let id = network(&older, json!({})).await;
        let asked = json!({ "availability_zone": "nova" });
        let answers = futures::future::join_all((0..4).map(|_| try_subnet(&older, &id, asked.clone()))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|a| a.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409]);
    }

    async fn a_subnet_that_does_not_fit_is_refused(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        for (bad, status) in [
            (json!({ "neutron_net_id": "a" }), 400),
            (json!({ "neutron_subnet_id": "a" }), 400),
            (json!({ "availability_zone": "nowhere" }), 400),
            (json!({ "metadata": { "": "v" } }), 400),
            (json!({ "metadata": { "k": "" } }), 400),
            (json!({ "metadata": { "k": "v".repeat(1024) } }), 400),
            (json!({ "metadata": { "__affinity_same_host": "v" } }), 403),
        ] {
            assert_eq!(try_subnet(&member, &id, bad.clone()).await.status, status, "{bad}");
        }
        member.post(&subnets(&id), json!({ "share_network_subnet": {} })).await.expect(400);
        try_subnet(&member, "nothing", json!({})).await.expect(404);
        try_subnet(&site.share(Persona::Reader).await.at("2.99"), &id, json!({})).await.expect(403);
        assert_eq!(subnet_ids(&member, &id).await.len(), 1);
        // metadata were not known before 2.78
        let older = try_subnet(&member.at("2.77"), &id, json!({ "metadata": { "": "v" } })).await.expect(200)["share_network_subnet"].clone();
        let one = format!("{}/{}", subnets(&id), text(&older["id"]));
        assert_eq!(member.get(&one).await.expect(200)["share_network_subnet"]["metadata"], json!({}));
    }

    async fn a_subnet_of_another_network_is_not_found(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let (one, two) = (network(&member, json!({})).await, network(&member, json!({})).await);
        let of_two = subnet_ids(&member, &two).await.remove(0);
        let wrong = format!("{}/{of_two}", subnets(&one));
        for answer in [
            member.get(&wrong).await,
            member.delete(&wrong).await,
            member.get(&format!("{wrong}/metadata")).await,
            member.post(&format!("{wrong}/metadata"), json!({ "metadata": { "k": "v" } })).await,
            member.get(&format!("{}/nothing", subnets(&one))).await,
            member.delete(&format!("{}/nothing", subnets("nothing"))).await,
        ] {
            assert_eq!(answer.status, 404, "{answer:?}");
        }
        assert_eq!(subnet_ids(&member, &two).await, [of_two]);
    }

    async fn pairs_are_merged_replaced_and_removed(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let made = subnet(&member, &id, json!({ "metadata": { "a": "1" } })).await;
        let path = format!("{}/{made}/metadata", subnets(&id));
        let merged = member.post(&path, json!({ "metadata": { "b": "2" } })).await.expect(200);
        assert_eq!(merged, json!({ "metadata": { "a": "1", "b": "2" } }));
        assert_eq!(member.get(&format!("{path}/a")).await.expect(200), json!({ "meta": { "a": "1" } }));
        assert_eq!(member.post(&format!("{path}/a"), json!({ "metadata": { "a": "3" } })).await.expect(200), json!({ "metadata": { "a": "3" } }));
        member.post(&format!("{path}/a"), json!({ "metadata": { "b": "3" } })).await.expect(400);
        assert_eq!(member.put(&path, json!({ "metadata": { "c": "4" } })).await.expect(200), json!({ "metadata": { "c": "4" } }));
        member.delete(&format!("{path}/c")).await.expect(200);
        member.delete(&format!("{path}/c")).await.expect(404);
        member.get(&format!("{path}/c")).await.expect(404);
        assert_eq!(member.get(&path).await.expect(200), json!({ "metadata": {} }));
        for bad in [json!({ "": "v" }), json!({ "k".repeat(256): "v" }), json!({ "k": "v".repeat(1024) })] {
            member.post(&path, json!({ "metadata": bad })).await.expect(400);
            member.put(&path, json!({ "metadata": bad })).await.expect(400);
        }
        member.post(&path, json!({ "metadata": { "__affinity_same_host": "x" } })).await.expect(403);
        member.at("2.77").get(&path).await.expect(404);
        let reader = site.share(Persona::Reader).await.at("2.99");
        reader.get(&path).await.expect(200);
        reader.post(&path, json!({ "metadata": { "a": "1" } })).await.expect(403);
    }

    async fn a_deleted_subnet_is_gone(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let made = subnet(&member, &id, json!({ "availability_zone": "nova", "metadata": { "k": "v" } })).await;
        let one = format!("{}/{made}", subnets(&id));
        member.delete(&one).await.expect(202);
        member.get(&one).await.expect(404);
        member.delete(&one).await.expect(404);
        assert_eq!(subnet_ids(&member, &id).await.len(), 1);
        // its zone is free again
        try_subnet(&member.at("2.69"), &id, json!({ "availability_zone": "nova" })).await.expect(200);
    }

    async fn a_subnet_whose_servers_have_shares_stays(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let first = subnet_ids(&member, &id).await.remove(0);
        let server_id = site.server_on(&member, &id).await;
        site.put_share(&member, &id, Some(&server_id)).await;
        let refused = member.delete(&format!("{}/{first}", subnets(&id))).await.expect(409);
        assert!(refused["conflictingRequest"]["message"].as_str().unwrap().contains("one or more shares"), "{refused}");
        // another subnet of the network, with another server that is not ours to delete
        let second = subnet(&member, &id, json!({ "availability_zone": "nova" })).await;
        let mut other = server(&member.project_id, &id, &[second.clone()]);
        other.is_auto_deletable = false;
        site.put_server(&other).await;
        member.delete(&format!("{}/{second}", subnets(&id))).await.expect(409);
        assert_eq!(subnet_ids(&member, &id).await, [first, second]);
    }

    async fn a_subnet_whose_server_goes_already_goes_with_it(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        let second = subnet(&member, &id, json!({ "availability_zone": "nova" })).await;
        let mut going = server(&member.project_id, &id, &[second.clone()]);
        going.status = ServerStatus::Deleting;
        site.put_server(&going).await;
        member.delete(&format!("{}/{second}", subnets(&id))).await.expect(202);
        assert_eq!(subnet_ids(&member, &id).await.len(), 1);
    }

    async fn servers_that_cannot_follow_keep_a_zone_as_it_is(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        site.server_on(&member, &id).await;
        let refused = try_subnet(&member, &id, json!({})).await.expect(409);
        assert!(refused["conflictingRequest"]["message"].as_str().unwrap().contains("network_allocation_update_support"), "{refused}");
        assert_eq!(subnet_ids(&member, &id).await.len(), 1);
        // no server is in this one
        try_subnet(&member, &id, json!({ "availability_zone": "nova" })).await.expect(200);
    }

    async fn whether_a_subnet_could_be_added_can_be_asked(db) {
        let site = site(&db).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, json!({})).await;
        let ask = |members: Value| json!({ "share_network_subnet_create_check": members });
        assert_eq!(member.post(&action(&id), ask(json!({}))).await.expect(202), json!({ "compatible": true }));
        let seen = operator.post(&action(&id), ask(json!({ "availability_zone": "nova", "reset_operation": true }))).await.expect(202);
        assert_eq!(seen, json!({ "compatible": true, "hosts_check_result": {} }));
        member.post(&action("nothing"), ask(json!({}))).await.expect(404);
        member.post(&action(&uuid()), ask(json!({ "neutron_net_id": "a", "neutron_subnet_id": "b" }))).await.expect(404);
        member.post(&action(&id), ask(json!({ "availability_zone": "nowhere" }))).await.expect(400);
        member.post(&action(&id), ask(json!({ "neutron_net_id": "a" }))).await.expect(400);
        member.at("2.69").post(&action(&id), ask(json!({}))).await.expect(404);
        assert_eq!(subnet_ids(&member, &id).await.len(), 1, "asking makes none");
    }

    async fn a_network_has_no_more_subnets_than_everybody_can_read(db) {
        let site = site(&db).await;
        let member = site.member().await;
        let id = network(&member, json!({})).await;
        for _ in 1..64 {
            subnet(&member, &id, json!({})).await;
        }
        let refused = try_subnet(&member, &id, json!({})).await.fault(413);
        assert!(refused.contains("exceed"), "{refused}");
        assert_eq!(subnet_ids(&member, &id).await.len(), 64);
    }
}
