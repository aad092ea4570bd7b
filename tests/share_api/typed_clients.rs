//! What clients in typed languages read (gophercloud, and with it Terraform's provider and CSI): a member is null or of its
//! type, at every version they speak; an answer has a status that they take for success.

use serde_json::{Value, json};
use support::{Client, both_databases};

use crate::{
    net::{network, service},
    site::{Site, action, allow, backend, snapshot},
};

#[derive(Clone, Copy)]
enum Is {
    Text,
    Whole,
    Truth,
    /// `2026-01-02T03:04:05.678901`, without a zone.
    Time,
    /// An object whose values are texts.
    Texts,
    /// A list of such.
    ListOfTexts,
    /// A number, or a text such as `unknown`.
    Size,
    Object,
}
use Is::{ListOfTexts, Object, Size, Text, Texts, Time, Truth, Whole};

impl Is {
    fn fits(self, value: &Value) -> bool {
        let texts = |v: &Value| v.as_object().is_some_and(|o| o.values().all(Value::is_string));
        match self {
            Text => value.is_string(),
            Whole => value.is_i64(),
            Truth => value.is_boolean(),
            Time => value.as_str().is_some_and(|t| {
                let form: String = t.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
                form == "0000-00-00T00:00:00.000000"
            }),
            Texts => texts(value),
            ListOfTexts => value.as_array().is_some_and(|l| l.iter().all(texts)),
            Size => value.is_number() || value.is_string(),
            Object => value.is_object(),
        }
    }
}

const SHARE: &[(&str, Is)] = &[
    ("id", Text),
    ("name", Text),
    ("description", Text),
    ("availability_zone", Text),
    ("has_replicas", Truth),
    ("host", Text),
    ("is_public", Truth),
    ("links", ListOfTexts),
    ("metadata", Texts),
    ("project_id", Text),
    ("replication_type", Text),
    ("share_network_id", Text),
    ("share_proto", Text),
    ("share_server_id", Text),
    ("share_type", Text),
    ("share_type_name", Text),
    ("share_group_id", Text),
    ("size", Whole),
    ("snapshot_id", Text),
    ("status", Text),
    ("task_state", Text),
    ("volume_type", Text),
    ("snapshot_support", Truth),
    ("create_share_from_snapshot_support", Truth),
    ("created_at", Time),
    ("updated_at", Time),
];
const LOCATION: &[(&str, Is)] =
    &[("id", Text), ("path", Text), ("share_instance_id", Text), ("is_admin_only", Truth), ("preferred", Truth)];
const RULE: &[(&str, Is)] = &[
    ("id", Text),
    ("share_id", Text),
    ("access_type", Text),
    ("access_to", Text),
    ("access_key", Text),
    ("access_level", Text),
    ("state", Text),
    ("metadata", Object),
    ("created_at", Time),
    ("updated_at", Time),
];
const SNAPSHOT: &[(&str, Is)] = &[
    ("id", Text),
    ("name", Text),
    ("share_id", Text),
    ("share_proto", Text),
    ("share_size", Whole),
    ("size", Whole),
    ("status", Text),
    ("project_id", Text),
    ("links", ListOfTexts),
    ("created_at", Time),
];
const NETWORK: &[(&str, Is)] = &[
    ("id", Text),
    ("project_id", Text),
    ("neutron_net_id", Text),
    ("neutron_subnet_id", Text),
    ("nova_net_id", Text),
    ("network_type", Text),
    ("segmentation_id", Whole),
    ("cidr", Text),
    ("ip_version", Whole),
    ("name", Text),
    ("description", Text),
    ("created_at", Time),
    ("updated_at", Time),
];
const SECURITY: &[(&str, Is)] = &[
    ("id", Text),
    ("project_id", Text),
    ("domain", Text),
    ("status", Text),
    ("type", Text),
    ("name", Text),
    ("dns_ip", Text),
    ("user", Text),
    ("password", Text),
    ("server", Text),
    ("created_at", Time),
    ("updated_at", Time),
];
const TYPE: &[(&str, Is)] = &[
    ("id", Text),
    ("name", Text),
    ("os-share-type-access:is_public", Truth),
    ("share_type_access:is_public", Truth),
    ("required_extra_specs", Object),
    ("extra_specs", Object),
    ("description", Text),
    ("is_default", Truth),
];
const SERVICE: &[(&str, Is)] =
    &[("id", Whole), ("binary", Text), ("host", Text), ("state", Text), ("status", Text), ("updated_at", Time), ("zone", Text)];
const ZONE: &[(&str, Is)] = &[("id", Text), ("name", Text), ("created_at", Time), ("updated_at", Time)];
const CAPABILITIES: &[(&str, Is)] = &[
    ("qos", Truth),
    ("timestamp", Text),
    ("share_backend_name", Text),
    ("driver_handles_share_servers", Truth),
    ("driver_version", Text),
    ("free_capacity_gb", Size),
    ("storage_protocol", Text),
    ("total_capacity_gb", Size),
    ("allocated_capacity_gb", Size),
    ("snapshot_support", Truth),
    ("replication_domain", Text),
    ("vendor_name", Text),
    ("reserved_percentage", Whole),
];

/// Each of the members that is there fits, and the first is there.
fn fits(what: &str, one: &Value, members: &[(&str, Is)]) {
    assert!(!one[members[0].0].is_null(), "{what}: {one}");
    for (name, is) in members {
        let value = &one[*name];
        assert!(value.is_null() || is.fits(value), "{what}: {name} is {value}");
    }
}

async fn all_fit(client: &Client, path: &str, key: &str, members: &[(&str, Is)]) {
    let found = client.get(path).await.expect(200)[key].as_array().unwrap().clone();
    assert!(!found.is_empty(), "{path}");
    for one in &found {
        fits(path, one, members);
    }
}

both_databases! {
    async fn every_member_is_null_or_of_its_type(db) {
        let site = Site::on(&db, vec![backend("m", json!({ "admin_export_address": "192.0.2.99" }))], |_| {}).await;
        let (member, operator) = (site.member().await, site.operator().await);
        let id = site.available_with(json!({ "name": "one", "metadata": { "a": "b" } })).await;
        allow(&member, &id, "10.0.0.1").await;
        snapshot(&member, &id).await;
        network(&member, json!({ "network_type": "vlan", "segmentation_id": 7, "cidr": "10.0.0.0/24", "ip_version": 4 })).await;
        service(&member, "ldap", json!({ "name": "people" })).await;
        for version in ["2.7", "2.37", "2.51", "2.99"] {
            let (member, operator) = (member.at(version), operator.at(version));
            for client in [&member, &operator] {
                fits("the share", &client.get(&format!("/shares/{id}")).await.expect(200)["share"], SHARE);
                all_fit(client, "/types?is_public=all", "share_types", TYPE).await;
            }
            all_fit(&member, "/shares/detail", "shares", SHARE).await;
            if version != "2.7" {
                all_fit(&operator, &format!("/shares/{id}/export_locations"), "export_locations", LOCATION).await;
            }
            all_fit(&member, "/snapshots/detail", "snapshots", SNAPSHOT).await;
            all_fit(&member, "/share-networks/detail", "share_networks", NETWORK).await;
            all_fit(&operator, "/share-networks/detail?all_tenants=1", "share_networks", NETWORK).await;
            all_fit(&member, "/security-services/detail", "security_services", SECURITY).await;
            all_fit(&operator, "/services", "services", SERVICE).await;
            all_fit(&member, "/availability-zones", "availability_zones", ZONE).await;
            for pool in operator.get("/scheduler-stats/pools/detail").await.expect(200)["pools"].as_array().unwrap() {
                fits("a pool", &pool["capabilities"], &CAPABILITIES[1..]);
                fits("a pool", &pool["capabilities"], CAPABILITIES);
            }
        }
        all_fit(&member, &format!("/share-access-rules?share_id={id}"), "access_list", RULE).await;
        let older = member.at("2.37").post(&action(&id), json!({ "access_list": null })).await.expect(200);
        fits("a rule", &older["access_list"][0], RULE);
        assert_eq!(member.get(&format!("/shares/{id}/metadata/a")).await.expect(200)["meta"], json!({ "a": "b" }));
    }

    /// They send booleans where others send texts, and take for success what they know.
    async fn what_they_send_is_taken_and_answered_with_a_status_they_know(db) {
        let site = Site::on(&db, vec![backend("m", json!({}))], |_| {}).await;
        let (member, operator) = (site.member().await.at("2.37"), site.operator().await.at("2.37"));
        let kind = json!({ "share_type": {
            "name": "typed", "os-share-type-access:is_public": false,
            "extra_specs": { "driver_handles_share_servers": false, "snapshot_support": true },
        } });
        let kind = operator.post("/types", kind).await.expect(200)["share_type"]["id"].as_str().unwrap().to_owned();
        let specs = json!({ "extra_specs": { "create_share_from_snapshot_support": true } });
        operator.post(&format!("/types/{kind}/extra_specs"), specs).await.expect(200);
        let project = json!({ "addProjectAccess": { "project": member.project_id } });
        operator.post(&format!("/types/{kind}/action"), project).await.expect(202);
        let share = json!({ "share": {
            "share_proto": "NFS", "size": 1, "name": "pvc", "share_type": "typed", "is_public": false, "metadata": { "k8s": "yes" },
        } });
        let id = member.post("/shares", share).await.expect(200)["share"]["id"].as_str().unwrap().to_owned();
        member.share_until(&id, "available").await;
        let rule = json!({ "allow_access": { "access_type": "ip", "access_to": "0.0.0.0/0", "access_level": "rw" } });
        member.post(&action(&id), rule).await.expect(200);
        member.post(&action(&id), json!({ "extend": { "new_size": 2 } })).await.expect(202);
        member.share_until(&id, "available").await;
        member.post("/snapshots", json!({ "snapshot": { "share_id": id, "name": "s" } })).await.expect(202);
        member.post(&format!("/shares/{id}/metadata"), json!({ "metadata": { "more": "less" } })).await.expect(200);
        member.delete(&format!("/shares/{id}/metadata/more")).await.expect(200);
        member.post("/share-networks", json!({ "share_network": { "name": "n", "description": "" } })).await.expect(200);
    }
}
