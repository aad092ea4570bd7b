//! Copies and back ends that fail.

use std::sync::atomic::Ordering;
use stowage::driver::ErrorKind;
use stowage::driver::capability::Capacity;

use super::{Two, name_id};
use crate::array::{Fault, pool};

#[tokio::test]
async fn a_driver_that_refuses_to_make_the_new_volume_is_heard_though_no_other_pool_is_left() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.b.fault("create", Fault::Refuse(ErrorKind::Exhausted));
    two.retype(&id, "on-demand").await.expect(202);
    let told = two.until_told(&id).await;
    assert!(!told.contains("No storage back end"), "{told}");
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn a_move_that_connects_again_and_again_knows_only_the_last_connections() {
    let two = Two::start().await;
    let id = two.volume().await;
    for _ in 0..2 {
        two.b.fault("connect", Fault::Refuse(ErrorKind::Transient));
    }
    two.hand.hold();
    two.retype(&id, "on-demand").await.expect(202);
    two.until_copying().await;
    assert_eq!(two.a().count("connect"), 3);
    assert_eq!(two.a().hosts_of(&id).len(), 1);
    let new = two.b.volumes().pop().unwrap();
    assert_eq!((two.b.count("connect"), two.b.hosts_of(&new).len()), (3, 1));
    two.hand.release();
    two.until_moved(&id, "success").await;
    two.hold(&[], &[&new]).await;
}

#[tokio::test]
async fn a_copy_that_keeps_failing_leaves_the_volume_as_it_was_with_a_message() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.fail.store(3, Ordering::SeqCst);
    two.retype(&id, "on-demand").await.expect(202);
    assert!(two.until_told(&id).await.contains("Copying the volume failed"));
    assert_eq!(two.hand.begun(), 3);
    two.until_moved(&id, "error").await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn a_copy_that_fails_once_is_begun_again_under_another_name() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.hand.fail.store(1, Ordering::SeqCst);
    two.retype(&id, "on-demand").await.expect(202);
    two.until_moved(&id, "success").await;
    let mut initiators: Vec<String> = two.b.ends("connect");
    assert_eq!(initiators.len(), 2, "{initiators:?}");
    initiators.dedup();
    assert_eq!(initiators.len(), 2, "a run that was given up knows no name that still counts");
}

#[tokio::test]
async fn a_full_destination_leaves_the_volume_as_it_was_with_a_message() {
    let two = Two::start().await;
    let id = two.volume().await;
    let sized = |gib: f64| {
        two.b.report(|r| {
            r.pools = vec![pool("p1")];
            r.pools[0].total = Capacity::Gib(gib);
            r.pools[0].free = Capacity::Gib(gib);
        });
    };
    sized(2.0);
    two.site.serve("stowage@b", &two.b).await;
    two.retype(&id, "on-demand").await.expect(202);
    let told = two.until_told(&id).await;
    assert!(told.starts_with("retype volume:Could not find any available weighted backend."), "{told}");
    two.until_moved(&id, "error").await;
    assert_eq!(two.b.count("create"), 0);
    sized(100.0);
    two.site.serve("stowage@b", &two.b).await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn a_destination_that_refuses_leaves_the_volume_as_it_was_and_holds_nothing() {
    let two = Two::start().await;
    let id = two.volume().await;
    two.b.fault("create", Fault::Refuse(ErrorKind::Exhausted));
    two.retype(&id, "on-demand").await.expect(202);
    two.until_told(&id).await;
    two.until_moved(&id, "error").await;
    two.is_what_it_was(&id).await;
}

#[tokio::test]
async fn lost_answers_on_the_way_are_asked_for_again() {
    let two = Two::start().await;
    let id = two.volume().await;
    for verb in ["create", "connect", "disconnect"] {
        two.b.fault(verb, Fault::LoseAnswer(ErrorKind::Deadline));
    }
    two.a().fault("delete", Fault::LoseAnswer(ErrorKind::Deadline));
    two.retype(&id, "on-demand").await.expect(202);
    let new = name_id(&two.until_moved(&id, "success").await);
    two.hold(&[], &[&new]).await;
}

#[tokio::test]
async fn back_ends_that_refuse_to_connect_leave_nothing_behind() {
    for which in ["a", "b"] {
        let two = Two::start().await;
        let id = two.volume().await;
        let array = if which == "a" { two.a() } else { &two.b };
        array.fault("connect", Fault::Refuse(ErrorKind::Unsupported));
        two.retype(&id, "on-demand").await.expect(202);
        two.until_told(&id).await;
        two.until_moved(&id, "error").await;
        two.is_what_it_was(&id).await;
    }
}

#[tokio::test]
async fn this_service_connects_to_no_portal_that_the_operator_did_not_grant() {
    // the arrays' is 192.0.2.1:3260
    for (http, portals, goes) in [
        (&[][..], &[][..], false),
        (&["192.0.2.2:443", "array.example:443"], &["198.51.100.0/24", "192.0.2.1:860"], false),
        (&["192.0.2.1:443"], &[], true),
        (&[], &["192.0.2.1:3260"], true),
        (&[], &["192.0.2.0/30"], true),
    ] {
        let case = format!("http {http:?}, portals {portals:?}");
        let two = Two::start().await;
        let owned = |list: &[&str]| list.iter().map(|e| (*e).to_owned()).collect::<Vec<_>>();
        let grant = |c: &mut stowage::config::BackendConfig| (c.grants.http, c.grants.portals) = (owned(http), owned(portals));
        two.site.serve_configured("stowage@b", &two.b, grant).await;
        let id = two.volume().await;
        two.retype(&id, "on-demand").await.expect(202);
        two.until_moved(&id, if goes { "success" } else { "error" }).await;
        assert_eq!(two.hand.begun(), usize::from(goes), "{case}");
        if !goes {
            two.site.serve("stowage@b", &two.b).await;
            two.is_what_it_was(&id).await;
        }
    }
}
