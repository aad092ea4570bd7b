//! Bootable and read-only.

use serde_json::json;
use support::Persona;

use super::{act, shown};
use crate::site::Site;

#[tokio::test]
async fn the_bootable_flag_is_set_and_shown() {
    let site = Site::start().await;
    let member = site.member().await;
    let id = site.volume().await;
    for (said, shows) in [(json!(true), "true"), (json!("False"), "false"), (json!("1"), "true")] {
        act(&member, &id, "os-set_bootable", json!({ "bootable": said })).await.expect(200);
        assert_eq!(shown(&member, &id).await["bootable"], shows);
    }
    for bad in [json!({}), json!({ "bootable": "perhaps" }), json!({ "bootable": 3 })] {
        assert_eq!(act(&member, &id, "os-set_bootable", bad.clone()).await.status, 400, "{bad}");
    }
    assert_eq!(act(&site.block(Persona::Reader).await, &id, "os-set_bootable", json!({ "bootable": true })).await.status, 403);
}

#[tokio::test]
async fn a_readonly_volume_is_attached_to_be_read_only() {
    let site = Site::start().await;
    let member = site.member().await.at("3.54");
    let id = site.volume_with(json!({ "metadata": { "k": "v" } })).await;
    assert_eq!(shown(&member, &id).await["metadata"], json!({ "k": "v" }));
    act(&member, &id, "os-update_readonly_flag", json!({ "readonly": true })).await.expect(202);
    assert_eq!(shown(&member, &id).await["metadata"], json!({ "k": "v", "readonly": "True" }));
    let body = json!({ "attachment": { "volume_uuid": id, "mode": "rw" } });
    let made = member.post("/attachments", body).await.expect(200)["attachment"].clone();
    assert_eq!(made["attach_mode"], "ro");
    // not while it is in use
    let text = act(&member, &id, "os-update_readonly_flag", json!({ "readonly": false })).await.fault(400);
    assert!(text.contains("reserved"), "{text}");
    member.delete(&format!("/attachments/{}", made["id"].as_str().unwrap())).await.expect(200);
    act(&member, &id, "os-update_readonly_flag", json!({ "readonly": false })).await.expect(202);
    assert_eq!(shown(&member, &id).await["metadata"]["readonly"], "False");
    let body = json!({ "attachment": { "volume_uuid": id, "mode": "rw" } });
    assert_eq!(member.post("/attachments", body).await.expect(200)["attachment"]["attach_mode"], "rw");
}
