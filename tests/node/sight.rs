//! Who sees what: an initiator never sees a LUN that is not attached to it.

use serde_json::{Value, json};
use support::{
    initiator::{Initiator, Session},
    node::Node,
};

const LAYOUTS: [&str; 2] = ["target-per-volume", "target-per-initiator"];

fn iqn(connection: &Value) -> String {
    connection["iqn"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn discovery_and_luns_show_what_is_attached_and_nothing_else() {
    let node = Node::start().await;
    let (a, b, c) = (Initiator::new("a"), Initiator::new("b"), Initiator::new("c"));
    for layout in LAYOUTS {
        for n in [1, 2, 3] {
            node.volume_in(&format!("{layout}-{n}"), layout).await;
        }
        let a1 = node.attach(&format!("{layout}-1"), &a.name).await;
        let a2 = node.attach(&format!("{layout}-2"), &a.name).await;
        let b2 = node.attach(&format!("{layout}-2"), &b.name).await;
        node.attach(&format!("{layout}-3"), "iqn.x:other").await;
        if layout == "target-per-initiator" {
            assert_eq!(iqn(&a1), iqn(&a2), "one target holds what an initiator has");
            assert_eq!(a1["auth"], a2["auth"]);
            assert_ne!(a1["lun"], a2["lun"]);
            assert_eq!(a.luns(&a1).await, [1, 2]);
        } else {
            assert_ne!(iqn(&a1), iqn(&a2));
            assert_eq!(a.luns(&a1).await, [1]);
        }
        assert_eq!(b.luns(&b2).await, [1]);
        let mut seen = a.discovers(&node.portal).await;
        seen.sort();
        let mut wanted = vec![iqn(&a1), iqn(&a2)];
        wanted.sort();
        wanted.dedup();
        assert_eq!(seen, wanted);
        assert_eq!(b.discovers(&node.portal).await, [iqn(&b2)]);
        assert!(c.discovers(&node.portal).await.is_empty());
        for n in [1, 2, 3] {
            node.delete(&format!("/v1/volumes/{layout}-{n}/attachments")).await.ok();
        }
        assert!(a.discovers(&node.portal).await.is_empty());
    }
}

#[tokio::test]
async fn a_log_in_needs_the_right_name_the_right_user_and_the_right_password() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    for layout in LAYOUTS {
        node.volume_in(layout, layout).await;
        let (at_a, at_b) = (node.attach(layout, &a.name).await, node.attach(layout, &b.name).await);
        assert!(a.can_read(&at_a).await);
        assert_ne!(at_a["auth"], at_b["auth"]);
        for (user, password) in [
            (json!("x"), json!("wrongwrongwrong1")),
            (at_a["auth"]["username"].clone(), json!("wrongwrongwrong1")),
            (at_b["auth"]["username"].clone(), at_b["auth"]["password"].clone()),
            (json!(""), json!("")),
        ] {
            let mut wrong = at_a.clone();
            wrong["auth"] = json!({"username": user, "password": password});
            assert!(!a.can_read(&wrong).await, "{layout}: {user}");
        }
        // the right secret under another name; and another's target
        assert!(!b.can_read(&at_a).await);
        let mut crossed = at_a.clone();
        crossed["auth"] = at_b["auth"].clone();
        assert!(!b.can_read(&crossed).await);
    }
}

#[tokio::test]
async fn a_detach_cuts_one_initiators_session_and_leaves_the_others() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    for layout in LAYOUTS {
        node.volume_in(layout, layout).await;
        let (at_a, at_b) = (node.attach(layout, &a.name).await, node.attach(layout, &b.name).await);
        let (mut session_a, mut session_b): (Session, Session) = (a.session(&at_a), b.session(&at_b));
        assert!(session_a.write(1, "0", "1M").await && session_b.reads(1, "0", "1M").await);
        node.detach(layout, &b.name).await;
        assert!(!session_b.has_access().await, "{layout}: the session that was there has no access");
        assert!(!b.can_read(&at_b).await, "{layout}: nor has a new one");
        // nor under the other's name with its own secret
        let thief = Initiator { name: a.name.clone() };
        let mut crossed = at_a.clone();
        crossed["auth"] = at_b["auth"].clone();
        assert!(!thief.can_read(&crossed).await);
        assert!(session_a.write(2, "0", "1M").await && session_a.reads(2, "0", "1M").await, "{layout}: the other goes on");
        node.agrees().await;
        node.detach(layout, &a.name).await;
        assert!(!session_a.has_access().await);
        node.agrees().await;
    }
}

#[tokio::test]
async fn a_shared_target_loses_one_lun_and_its_session_keeps_the_others() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    for id in ["v1", "v2"] {
        node.volume_in(id, "target-per-initiator").await;
    }
    let (one, two) = (node.attach("v1", &a.name).await, node.attach("v2", &a.name).await);
    let (mut first, mut second) = (a.session(&one), a.session(&two));
    assert!(first.write(1, "0", "1M").await && second.write(2, "0", "1M").await);
    node.detach("v1", &a.name).await;
    assert!(!first.has_access().await);
    assert!(!a.can_read(&one).await);
    assert!(second.reads(2, "0", "1M").await);
    // the next volume may get the number that came free, and not the content
    node.volume_in("v3", "target-per-initiator").await;
    let three = node.attach("v3", &a.name).await;
    assert_eq!(three["lun"], one["lun"]);
    assert!(a.reads(&three, 0, "0", "1M").await);
    node.agrees().await;
}

#[tokio::test]
async fn a_detach_under_load_ends_and_nothing_is_written_after_it() {
    let node = Node::start().await;
    let (a, b) = (Initiator::new("a"), Initiator::new("b"));
    for layout in LAYOUTS {
        node.volume_in(layout, layout).await;
        node.volume_in(&format!("{layout}-other"), layout).await;
        let at_a = node.attach(layout, &a.name).await;
        // keeps the shared target alive
        node.attach(&format!("{layout}-other"), &a.name).await;
        let mut session = a.session(&at_a);
        assert!(session.write(1, "0", "64M").await);
        let load = tokio::spawn(async move {
            let mut n = 1_u8;
            while session.write(n, "0", "64M").await {
                n = n % 250 + 1;
            }
        });
        node.detach(layout, &a.name).await;
        let at_b = node.attach(layout, &b.name).await;
        assert!(b.write(&at_b, 0xfe, "0", "64M").await);
        for _ in 0..5 {
            assert!(b.reads(&at_b, 0xfe, "0", "64M").await, "{layout}");
        }
        load.abort();
        node.agrees().await;
    }
}

#[tokio::test]
async fn a_volume_is_the_same_disk_after_a_restart_of_the_service() {
    let node = Node::start().await;
    let a = Initiator::new("a");
    node.volume("0b5c9d3e-2a1f-4c7d-8e6b-5a4f3c2d1e0f").await;
    let connection = node.attach("0b5c9d3e-2a1f-4c7d-8e6b-5a4f3c2d1e0f", &a.name).await;
    let identity = async || {
        let url = format!(
            "iscsi://{}%{}@{}/{}/1",
            connection["auth"]["username"].as_str().unwrap(),
            connection["auth"]["password"].as_str().unwrap(),
            node.portal,
            iqn(&connection)
        );
        let out = tokio::process::Command::new("iscsi-inq").args(["-i", &a.name, "-e", "1", "-c", "131", &url]).output().await.unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let before = identity().await;
    assert!(before.contains("0b5c9d3e2a1f4c7d8e6b5a4f3c2d1e0f"), "{before}");
    let pid = node.service_pid();
    node.kill_service();
    node.service_after(pid).await;
    assert_eq!(identity().await, before);
}
