//! What the fields of a volume hold. Which fields there are is in `key_sets`, shared targets are in `spec_c`.

use serde_json::{Value, json};

use crate::site::{Site, attach, connect, reserve};

fn keys(volume: &Value) -> Vec<String> {
    volume.as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn values_have_the_wires_forms() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    let v = operator.at("3.71").get(&format!("/volumes/{id}")).await.expect(200)["volume"].clone();
    let time = v["created_at"].as_str().unwrap();
    assert!(time.len() == 26 && time.as_bytes()[19] == b'.' && !time.ends_with('Z'), "{time}");
    assert_eq!((&v["bootable"], &v["encrypted"], &v["multiattach"]), (&json!("false"), &json!(false), &json!(false)));
    assert_eq!((&v["provider_id"], &v["os-vol-tenant-attr:tenant_id"]), (&json!(format!("lun-{id}")), &json!(member.project_id)));
    assert_eq!((&v["consumes_quota"], &v["cluster_name"], &v["group_id"]), (&json!(true), &Value::Null, &Value::Null));
}

#[tokio::test]
async fn attachments_show_their_host_to_admins_and_services_only() {
    let site = Site::start().await;
    let (member, operator) = (site.member().await, site.operator().await);
    let id = site.volume().await;
    attach(&member, &id, "c1").await;
    let path = format!("/volumes/{id}");
    assert_eq!(member.get(&path).await.expect(200)["volume"]["attachments"][0]["host_name"], Value::Null);
    let shown = operator.get(&path).await.expect(200)["volume"]["attachments"][0].clone();
    assert_eq!(shown["host_name"], "c1");
    assert_eq!(keys(&shown), ["attached_at", "attachment_id", "device", "host_name", "id", "server_id", "volume_id"]);
    // only what is attached stands there
    let other = site.volume().await;
    let reserved = reserve(&member, &other, None).await;
    connect(&member, &reserved, "c1").await.expect(200);
    assert_eq!(member.get(&format!("/volumes/{other}")).await.expect(200)["volume"]["attachments"], json!([]));
}
