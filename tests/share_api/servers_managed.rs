//! Share servers that somebody else made and that are taken over, and servers that are let go of.

use serde_json::{Value, json};
use support::{Answer, Client, both_databases, db::Db};

use crate::{
    net,
    served::{SERVED, available, named, network, one, paths, servers, site_with},
    site::{Site, action, backend, text, uuid},
};

const HOST: &str = "stowage@m";

async fn start(db: &Db, options: Value) -> Site {
    let mut all = json!({ "foreign_servers": ["filer-a=10.1.0.50", "filer-b=10.1.0.51", "filer-far=10.7.0.1", "filer-none="] });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    site_with(db, vec![servers("m", all), backend("plain", json!({}))], |_| {}).await
}

async fn try_manage(client: &Client, network: &str, identifier: &str, members: Value) -> Answer {
    let mut server = json!({ "host": HOST, "share_network_id": network, "identifier": identifier });
    server.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    client.post("/share-servers/manage", json!({ "share_server": server })).await
}

async fn ends_in(client: &Client, id: &str, status: &str) {
    client
        .until(&one(id), |a| {
            a.body()["share_server"]["status"] != "manage_starting" && a.body()["share_server"]["status"] != "unmanage_starting"
        })
        .await;
    assert_eq!(client.get(&one(id)).await.expect(200)["share_server"]["status"], status);
}

/// A server that was taken over; its id.
async fn manage(client: &Client, network: &str, identifier: &str) -> String {
    let id = text(&try_manage(client, network, identifier, json!({})).await.expect(202)["share_server"]["id"]);
    ends_in(client, &id, "active").await;
    id
}

async fn try_unmanage(client: &Client, id: &str, inner: Value) -> Answer {
    client.post(&format!("{}/action", one(id)), json!({ "unmanage": inner })).await
}

async fn unmanage(client: &Client, id: &str) {
    try_unmanage(client, id, Value::Null).await.expect(202);
    client.until_gone(&one(id)).await;
}

async fn let_go(client: &Client, share: &str) {
    client.post(&action(share), json!({ "unmanage": null })).await.expect(202);
    client.until_gone(&format!("/shares/{share}")).await;
}

async fn given(site: &Site) -> Vec<String> {
    let mut all: Vec<String> = site.given().await.iter().map(ToString::to_string).collect();
    all.sort_unstable();
    all
}

both_databases! {
    async fn a_server_that_is_taken_over_has_the_addresses_it_had_and_serves_shares(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let made = try_manage(&operator, &id, "filer-a", json!({ "driver_options": { "k": "v" } })).await.expect(202)["share_server"].clone();
        assert_eq!((&made["status"], &made["identifier"], &made["is_auto_deletable"]), (&json!("manage_starting"), &json!("filer-a"), &json!(false)));
        assert_eq!((&made["host"], &made["project_id"], &made["share_network_id"]), (&json!(HOST), &json!(member.project_id), &json!(id)));
        let server = text(&made["id"]);
        ends_in(&operator, &server, "active").await;
        let shown = operator.get(&one(&server)).await.expect(200)["share_server"].clone();
        assert_eq!((&shown["identifier"], &shown["is_auto_deletable"]), (&json!("filer-a"), &json!(false)));
        assert_eq!(shown["backend_details"]["address.0"], "10.1.0.50");
        assert_eq!(given(&site).await, ["10.1.0.50"]);
        let subnet = member.get(&net::subnets(&id)).await.expect(200)["share_network_subnets"][0].clone();
        assert_eq!(subnet["cidr"], "10.1.0.0/24", "what the subnet is, is known now");
        // a new share of the network comes to it
        let share = available(&member, &id).await;
        assert_eq!(site.only_server(&id).await, server);
        assert!(paths(&member, &share).await[0].starts_with("10.1.0.50:/"));
        member.delete(&format!("/shares/{share}")).await.expect(202);
        member.until_gone(&format!("/shares/{share}")).await;
        site.delete_server(&server).await;
        assert!(given(&site).await.is_empty());
    }

    async fn a_server_that_is_let_go_of_is_taken_over_again_with_its_shares(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let share = available(&member, &id).await;
        let path = paths(&member, &share).await.remove(0);
        let first = site.only_server(&id).await;
        let (addresses, name) = (given(&site).await, format!("memory-{first}"));
        try_unmanage(&operator, &first, Value::Null).await.expect(400);
        let_go(&operator, &share).await;
        unmanage(&operator, &first).await;
        assert!(given(&site).await.is_empty() && site.servers(&id).await.is_empty());
        let again = manage(&operator, &id, &name).await;
        assert_eq!(given(&site).await, addresses);
        let asked = json!({ "service_host": "stowage@m#p1", "export_path": path, "protocol": "nfs", "share_type": SERVED, "share_server_id": again });
        let taken = text(&operator.post("/shares/manage", json!({ "share": asked })).await.expect(200)["share"]["id"]);
        operator.share_until(&taken, "available").await;
        let place = path.split(":/").next().unwrap();
        assert!(paths(&operator, &taken).await[0].starts_with(place), "it is where it was");
        operator.delete(&format!("/shares/{taken}")).await.expect(202);
        operator.until_gone(&format!("/shares/{taken}")).await;
        site.delete_server(&again).await;
        member.delete(&net::path(&id)).await.expect(202);
        member.until_gone(&net::path(&id)).await;
    }

    async fn an_address_that_another_server_holds_or_that_lies_elsewhere_is_refused_and_nothing_is_taken(db) {
        // the first server that is built gets the only address of its subnet, and the foreign one says that it has the same
        let site = start(&db, json!({ "foreign_servers": ["filer-a=10.9.0.7", "filer-far=10.7.0.1", "filer-none="] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["tiny"]).await;
        available(&member, &id).await;
        for (identifier, said) in [("filer-a", "given to another share server"), ("filer-far", "lies in no subnet"), ("filer-none", "")] {
            let server = text(&try_manage(&operator, &id, identifier, json!({})).await.expect(202)["share_server"]["id"]);
            ends_in(&operator, &server, "manage_error").await;
            let messages = site.messages(&server).await;
            assert!(messages.len() == 1 && messages[0].starts_with("manage: Share Driver could not take over the share server."), "{messages:?}");
            assert!(messages[0].contains(said), "{messages:?}");
            assert!(site.addresses(&server).await.is_empty());
            operator.delete(&one(&server)).await.expect(403);
            unmanage(&operator, &server).await;
        }
        assert_eq!(given(&site).await, ["10.9.0.7"]);
    }

    async fn an_address_outside_of_the_ranges_is_kept_from_others_and_given_back(db) {
        let site = start(&db, json!({ "foreign_servers": ["filer-a=10.9.0.77", "filer-b=10.9.0.77"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["tiny"]).await;
        let server = manage(&operator, &id, "filer-a").await;
        let second = text(&try_manage(&operator, &id, "filer-b", json!({})).await.expect(202)["share_server"]["id"]);
        ends_in(&operator, &second, "manage_error").await;
        unmanage(&operator, &second).await;
        assert_eq!(given(&site).await, ["10.9.0.77"]);
        unmanage(&operator, &server).await;
        assert!(given(&site).await.is_empty());
        // the one address of the range is there as before
        available(&member, &id).await;
    }

    async fn a_new_server_does_not_get_an_address_that_was_taken_over(db) {
        let site = start(&db, json!({ "foreign_servers": ["filer-a=10.9.0.7"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let theirs = network(&member, &["tiny"]).await;
        manage(&operator, &theirs, "filer-a").await;
        let id = network(&member, &["tiny"]).await;
        let share = crate::served::create(&member, &id).await;
        crate::served::failed(&member, &share).await;
        assert!(site.messages(&share).await[0].contains("no free addresses"), "{:?}", site.messages(&share).await);
    }

    async fn what_the_array_does_not_know_ends_in_an_error_that_is_let_go_of(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = text(&try_manage(&operator, &id, "unheard-of", json!({})).await.expect(202)["share_server"]["id"]);
        ends_in(&operator, &server, "manage_error").await;
        assert!(site.messages(&server).await[0].contains("There is no such share server in the storage."));
        member.delete(&net::path(&id)).await.expect(409);
        let listed = operator.get("/share-servers?identifier=unheard-of").await.expect(200);
        assert_eq!(listed["share_servers"][0]["id"], json!(server));
        unmanage(&operator, &server).await;
        manage(&operator, &id, "filer-a").await;
    }

    async fn lost_answers_are_asked_for_again(db) {
        let faults = ["share-server-manage.addresses#1=lose-answer", "share-server-manage.adopt#1=lose-answer", "share-server-manage.release#1=lose-answer"];
        let site = start(&db, json!({ "faults": faults })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = manage(&operator, &id, "filer-a").await;
        assert_eq!(given(&site).await, ["10.1.0.50"]);
        unmanage(&operator, &server).await;
        assert!(given(&site).await.is_empty());
        manage(&operator, &id, "filer-a").await;
    }

    async fn a_driver_that_fails_half_way_holds_nothing_once_the_server_is_let_go_of(db) {
        let site = start(&db, json!({ "faults": ["share-server-manage.adopt#1=fail-after:invalid"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = text(&try_manage(&operator, &id, "filer-a", json!({})).await.expect(202)["share_server"]["id"]);
        ends_in(&operator, &server, "manage_error").await;
        assert_eq!(given(&site).await, ["10.1.0.50"], "the array uses it, and may hold it for us");
        unmanage(&operator, &server).await;
        assert!(given(&site).await.is_empty());
        // the next one, whose first call fails too, comes as far: the array has let go of it
        let server = text(&try_manage(&operator, &id, "filer-a", json!({})).await.expect(202)["share_server"]["id"]);
        ends_in(&operator, &server, "manage_error").await;
        assert_eq!(given(&site).await, ["10.1.0.50"]);
    }

    async fn a_wrong_answer_about_addresses_is_a_failure(db) {
        let site = start(&db, json!({ "faults": ["share-server-manage.addresses=wrong-answer"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = text(&try_manage(&operator, &id, "filer-a", json!({})).await.expect(202)["share_server"]["id"]);
        ends_in(&operator, &server, "manage_error").await;
        assert!(given(&site).await.is_empty());
    }

    async fn a_driver_that_does_not_let_go_leaves_an_error_that_is_tried_again_or_forgotten_by_force(db) {
        let site = start(&db, json!({ "faults": ["share-server-manage.release=refuse:invalid"] })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = manage(&operator, &id, "filer-a").await;
        try_unmanage(&operator, &server, json!({})).await.expect(202);
        ends_in(&operator, &server, "unmanage_error").await;
        assert!(site.messages(&server).await[0].starts_with("unmanage: Share Driver could not let go of the share server."));
        assert_eq!(given(&site).await, ["10.1.0.50"]);
        try_unmanage(&operator, &server, json!({ "force": true })).await.expect(202);
        operator.until_gone(&one(&server)).await;
        assert!(given(&site).await.is_empty());
    }

    async fn a_server_that_is_ours_is_not_taken_over_again_whatever_stands_around_its_name(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        manage(&operator, &id, "filer-a").await;
        for same in ["filer-a", "foo_filer-a_bar", "filer_a", "er-a"] {
            let answer = try_manage(&operator, &id, same, json!({})).await;
            assert_eq!(answer.status, 400, "{same}: {answer:?}");
        }
        // of several at once one gets it
        let ask = || try_manage(&operator, &id, "filer-b", json!({}));
        let all = futures::future::join_all([ask(), ask(), ask()]).await;
        assert_eq!(all.iter().filter(|a| a.status == 202).count(), 1);
    }

    async fn a_network_is_named_by_its_default_subnet_or_by_one_that_is_alone_in_its_zone(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue", "red"]).await;
        try_manage(&operator, &id, "filer-a", json!({})).await.expect(400);
        let mut zoned = named("blue");
        zoned["availability_zone"] = json!("nova");
        let subnet = net::subnet(&member, &id, zoned).await;
        let made = try_manage(&operator, &id, "filer-a", json!({ "share_network_subnet_id": subnet })).await.expect(202)["share_server"].clone();
        assert_eq!(made["share_network_subnet_ids"], json!([subnet]));
        ends_in(&operator, &text(&made["id"]), "active").await;
        // it was not heard of before 2.51
        try_manage(&operator.at("2.50"), &id, "filer-b", json!({ "share_network_subnet_id": subnet })).await.expect(400);
    }

    async fn bad_requests_are_refused_and_leave_nothing(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        operator.post("/share-servers/manage", json!({})).await.expect(422);
        for key in ["host", "share_network_id", "identifier"] {
            for nothing in [json!(null), json!("")] {
                try_manage(&operator, &id, "filer-a", json!({ key: nothing })).await.expect(400);
            }
        }
        for members in [
            json!({ "host": "stowage@m#p1" }),
            json!({ "host": "invalid_host" }),
            json!({ "host": "stowage@plain" }),
            json!({ "share_network_id": uuid() }),
            json!({ "share_network_subnet_id": uuid() }),
            json!({ "driver_options": "text" }),
            json!({ "identifier": "i".repeat(256) }),
            json!({ "identifier": "a\nb" }),
        ] {
            let answer = try_manage(&operator, &id, "filer-a", members.clone()).await;
            assert_eq!(answer.status, 400, "{members}: {answer:?}");
        }
        try_manage(&member, &id, "filer-a", json!({})).await.expect(403);
        try_manage(&operator.at("2.48"), &id, "filer-a", json!({})).await.expect(404);
        assert!(site.servers(&id).await.is_empty());
    }

    async fn a_network_that_is_being_changed_takes_no_server_and_lets_none_go(db) {
        let site = start(&db, json!({})).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = manage(&operator, &id, "filer-a").await;
        operator.post(&net::action(&id), json!({ "reset_status": { "status": "network_change" } })).await.expect(202);
        try_manage(&operator, &id, "filer-b", json!({})).await.expect(400);
        try_unmanage(&operator, &server, Value::Null).await.expect(400);
        operator.post(&net::action(&id), json!({ "reset_status": { "status": "active" } })).await.expect(202);
        unmanage(&operator, &server).await;
    }

    async fn what_must_not_be_let_go_of_is_not(db) {
        let site = start(&db, json!({ "multiple_subnets": true })).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = network(&member, &["blue"]).await;
        let server = manage(&operator, &id, "filer-a").await;
        for status in ["manage_starting", "creating", "deleting", "unmanage_starting", "network_change"] {
            operator.post(&format!("{}/action", one(&server)), json!({ "reset_status": { "status": status } })).await.expect(202);
            let answer = try_unmanage(&operator, &server, Value::Null).await;
            assert_eq!(answer.status, 400, "{status}: {answer:?}");
        }
        operator.post(&format!("{}/action", one(&server)), json!({ "reset_status": { "status": "active" } })).await.expect(202);
        try_unmanage(&member, &server, Value::Null).await.expect(403);
        try_unmanage(&operator, &uuid(), Value::Null).await.expect(404);
        let wide = network(&member, &["blue", "red"]).await;
        let share = available(&member, &wide).await;
        let over_two = site.only_server(&wide).await;
        let_go(&operator, &share).await;
        try_unmanage(&operator, &over_two, json!({ "force": true })).await.expect(400);
        unmanage(&operator, &server).await;
    }
}
