//! Filters and weighers over made pools: who passes, who does not and why, in which order.

use serde_json::json;
use stowage::scheduler::{
    BackendKind, Hints, Limit, Operation, Options, PlacementRequest, PoolRow, Reach, ShareNeeds,
    capacity::Capacity::{Gib, Unknown},
};

use crate::world::{capability, row, specs, verdict, verdict_near, volume, with_capabilities};

const A: &str = "stowage@a#p";
const B: &str = "stowage@b#p";

#[track_caller]
fn out(bad: PoolRow, request: &PlacementRequest, limit: Limit, because: &str) {
    let name = bad.name.clone();
    let (passed, rejected, last) = verdict(vec![bad], request);
    assert_eq!(passed, Vec::<String>::new());
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0].0, name);
    assert!(rejected[0].2.contains(because), "{}", rejected[0].2);
    assert_eq!(last, limit);
}

#[track_caller]
fn passes(good: PoolRow, request: &PlacementRequest) {
    let name = good.name.clone();
    let (passed, rejected, _) = verdict(vec![good], request);
    assert_eq!(passed, vec![name], "{rejected:?}");
}

fn share(gib: i64) -> PlacementRequest {
    PlacementRequest { service: BackendKind::Share, resource_kind: "share", ..volume("s", gib) }
}
fn share_row(name: &str) -> PoolRow {
    PoolRow { kind: BackendKind::Share, ..row(name) }
}

#[test]
fn without_any_pool_the_limit_is_that_there_is_no_back_end() {
    assert_eq!(verdict(vec![], &volume("v", 1)), (vec![], vec![], Limit::NoBackend));
}

#[test]
fn a_pool_whose_back_end_cannot_take_it_is_out_with_the_reason() {
    let v = volume("v", 1);
    out(PoolRow { up: false, state_reason: Some("log-in refused".into()), ..row(A) }, &v, Limit::Service, "log-in refused");
    out(PoolRow { configured: false, ..row(A) }, &v, Limit::Service, "no longer in the configuration");
    out(PoolRow { enabled: false, disabled_reason: Some("firmware".into()), ..row(A) }, &v, Limit::Service, "firmware");
    out(PoolRow { frozen: true, ..row(A) }, &v, Limit::Service, "frozen");
    out(PoolRow { available: false, ..row(A) }, &v, Limit::Service, "takes nothing new");
    out(PoolRow { present: false, ..row(A) }, &v, Limit::Service, "no longer reports");
    let silent = PoolRow { report_due_at: 0, reported_at: 0, ..row(A) };
    out(silent, &v, Limit::Service, "overdue");
}

#[test]
fn what_grows_where_it_lies_is_not_kept_away_by_an_operators_switch() {
    let grow = PlacementRequest { operation: Operation::Extend, only_pool: Some(A.into()), ..volume("v", 1) };
    passes(PoolRow { enabled: false, frozen: true, ..row(A) }, &grow);
    out(PoolRow { up: false, ..row(A) }, &grow, Limit::Service, "down");
}

#[test]
fn the_zone_asked_must_be_the_back_ends() {
    let asked = |zone: &str| PlacementRequest { availability_zone: Some(zone.into()), ..volume("v", 1) };
    passes(row(A), &asked("nova"));
    out(row(A), &asked("west"), Limit::AvailabilityZone, "zone west is asked, the back end is in nova");
}

#[test]
fn a_type_may_allow_some_zones_only() {
    let allowed = |zones: &str| PlacementRequest { extra_specs: specs([("RESKEY:availability_zones", zones)]), ..volume("v", 1) };
    passes(row(A), &allowed("west, nova"));
    out(row(A), &allowed("west,east"), Limit::AvailabilityZone, "west,east");
}

#[test]
fn a_pool_without_room_is_out_with_its_figures() {
    let request = volume("v", 41);
    let full = PoolRow { free: Gib(50.0), claimed_gib: 10, ..row(A) };
    out(full.clone(), &request, Limit::Capacity, "41 GiB asked, 40 GiB of room");
    passes(full, &volume("v", 40));
}

#[test]
fn a_capability_that_is_asked_must_be_reported() {
    let asked = |key: &str, value: &str| PlacementRequest { extra_specs: specs([(key, value)]), ..volume("v", 1) };
    let pool = with_capabilities(row(A), json!({"multiattach": true, "disk": {"kind": "ssd"}, "vendor_name": "Acme"}));
    passes(pool.clone(), &asked("multiattach", "<is> True"));
    passes(pool.clone(), &asked("capabilities:disk:kind", "ssd"));
    passes(pool.clone(), &asked("vendor_name", "<or> Acme <or> Other"));
    passes(pool.clone(), &asked("provisioning:type", "thick"));
    passes(pool.clone(), &asked("replication:level", "9"));
    out(pool.clone(), &asked("compression", "<is> True"), Limit::Capabilities, "does not report it");
    out(pool.clone(), &asked("capabilities:disk:size", "1"), Limit::Capabilities, "does not report it");
    out(pool, &asked("vendor_name", "acme"), Limit::Capabilities, "the pool reports \"Acme\"");
}

#[test]
fn multiattach_is_placed_on_pools_that_report_it_alone() {
    let request = PlacementRequest { extra_specs: specs([("multiattach", "<is> True")]), ..volume("v", 1) };
    out(with_capabilities(row(A), capability("multiattach", false)), &request, Limit::Capabilities, "multiattach");
    out(row(A), &request, Limit::Capabilities, "multiattach");
    passes(with_capabilities(row(A), capability("multiattach", true)), &request);
}

#[test]
fn a_protocol_matches_in_any_of_its_spellings() {
    for (reported, asked) in [("fibre_channel", "FC"), ("iscsi", "iSCSI"), ("NFS", "nfs"), ("nvmeof", "NVMe-oF"), ("ceph", "ceph")] {
        let request = PlacementRequest { extra_specs: specs([("storage_protocol", asked)]), ..volume("v", 1) };
        passes(with_capabilities(row(A), capability("storage_protocol", reported)), &request);
    }
    let request = PlacementRequest { extra_specs: specs([("storage_protocol", "FC")]), ..volume("v", 1) };
    out(with_capabilities(row(A), capability("storage_protocol", "iSCSI")), &request, Limit::Capabilities, "storage_protocol");
}

#[test]
fn an_attached_volume_grows_only_where_that_works() {
    let grow = |attached| PlacementRequest { operation: Operation::Extend, attached, ..volume("v", 1) };
    let cannot = with_capabilities(row(A), capability("online_extend_support", false));
    out(cannot.clone(), &grow(true), Limit::Capabilities, "attached");
    passes(cannot, &grow(false));
    passes(row(A), &grow(true));
}

#[test]
fn pools_tried_before_are_not_tried_again() {
    let request = PlacementRequest { exclude_pools: vec![A.into()], ..volume("v", 1) };
    let (passed, rejected, _) = verdict(vec![row(A), row(B)], &request);
    assert_eq!(passed, vec![B.to_owned()]);
    assert_eq!(rejected[0].1, "IgnoreAttemptedHostsFilter");
    out(row(A), &request, Limit::Attempted, "tried");
}

#[test]
fn a_request_may_be_bound_to_one_pool_or_back_end() {
    let one = PlacementRequest { only_pool: Some(B.into()), ..volume("v", 1) };
    assert_eq!(verdict(vec![row(A), row(B)], &one).0, vec![B.to_owned()]);
    let one = PlacementRequest { only_backend: Some("stowage@a".into()), ..volume("v", 1) };
    assert_eq!(verdict(vec![row(A), row(B)], &one).0, vec![A.to_owned()]);
}

#[test]
fn same_host_keeps_together_and_different_host_apart() {
    let id = "7d5bfbfb-8d2f-4d9c-8f0e-0f6a5e1ad0aa".to_owned();
    let a = ["stowage@a".to_owned()];
    let together = PlacementRequest { hints: Hints { same_host: vec![id.clone()], ..Hints::default() }, ..volume("v", 1) };
    assert_eq!(verdict_near(vec![row(A), row(B)], &together, &a, &[]).0, vec![A.to_owned()]);
    assert_eq!(verdict_near(vec![row(A), row(B)], &together, &[], &[]).2, Limit::Hints, "an unknown id has no back end");
    let apart = PlacementRequest { hints: Hints { different_host: vec![id], ..Hints::default() }, ..volume("v", 1) };
    assert_eq!(verdict_near(vec![row(A), row(B)], &apart, &[], &a).0, vec![B.to_owned()]);
    let odd = PlacementRequest { hints: Hints { different_host: vec!["junk".into()], ..Hints::default() }, ..volume("v", 1) };
    assert_eq!(verdict(vec![row(A)], &odd).2, Limit::Hints);
}

#[test]
fn hints_are_one_id_or_a_list() {
    assert_eq!(Hints::from_json(&json!({"same_host": "a"})).same_host, vec!["a"]);
    assert_eq!(Hints::from_json(&json!({"different_host": ["a", "b"], "query": "x"})).different_host, vec!["a", "b"]);
    assert_eq!(Hints::from_json(&json!(null)), Hints::default());
}

#[test]
fn the_filter_that_left_nobody_names_the_limit() {
    let request = PlacementRequest { availability_zone: Some("nova".into()), ..volume("v", 10) };
    let elsewhere = PoolRow { availability_zone: "west".into(), ..row(A) };
    let full = PoolRow { free: Gib(1.0), ..row(B) };
    let (_, rejected, limit) = verdict(vec![elsewhere, full], &request);
    assert_eq!(limit, Limit::Capacity);
    assert_eq!(rejected.iter().map(|r| r.1.as_str()).collect::<Vec<_>>(), ["AvailabilityZoneFilter", "CapacityFilter"]);
}

/// What the request asks is looked at first: among pools that fail for different reasons, the one that had everything asked
/// names the limit, wherever it stands in the list.
#[test]
fn a_pool_that_has_all_that_is_asked_names_the_limit_before_one_that_has_not() {
    let id = "7d5bfbfb-8d2f-4d9c-8f0e-0f6a5e1ad0aa".to_owned();
    let request = PlacementRequest {
        extra_specs: specs([("color", "gold")]),
        availability_zone: Some("nova".into()),
        hints: Hints { different_host: vec![id], ..Hints::default() },
        exclude_pools: vec!["stowage@tried#p".into()],
        ..volume("v", 10)
    };
    let gold = |name: &str| with_capabilities(row(name), capability("color", "gold"));
    let apart = ["stowage@near".to_owned()];
    let unfit = [
        (row("stowage@kind#p"), Limit::Capabilities),
        (PoolRow { availability_zone: "west".into(), ..gold("stowage@zone#p") }, Limit::AvailabilityZone),
        (gold("stowage@near#p"), Limit::Hints),
    ];
    let fit = [
        (PoolRow { free: Gib(1.0), ..gold("stowage@full#p") }, Limit::Capacity),
        (PoolRow { up: false, ..gold("stowage@down#p") }, Limit::Service),
        (gold("stowage@tried#p"), Limit::Attempted),
    ];
    for (bad, its) in &unfit {
        assert_eq!(verdict_near(vec![bad.clone()], &request, &[], &apart).2, *its);
        for (momentary, limit) in &fit {
            for rows in [vec![bad.clone(), momentary.clone()], vec![momentary.clone(), bad.clone()]] {
                let (left, rejected, found) = verdict_near(rows, &request, &[], &apart);
                assert_eq!((left.len(), rejected.len(), found), (0, 2, *limit), "{} beside {}", momentary.name, bad.name);
            }
        }
        // both at once: it would not fit with room, either
        let both = PoolRow { free: Gib(1.0), ..bad.clone() };
        assert_eq!(verdict_near(vec![both], &request, &[], &apart).2, *its);
    }
}

#[test]
fn the_pool_with_most_room_is_first_and_one_without_a_number_last() {
    let rows = vec![PoolRow { free: Unknown, ..row("stowage@u#p") }, PoolRow { free: Gib(10.0), ..row(A) }, row(B)];
    assert_eq!(verdict(rows, &volume("v", 1)).0, [B, A, "stowage@u#p"]);
}

#[test]
fn a_negative_multiplier_fills_the_fullest_first() {
    let options = Options { capacity_weight_multiplier: -1.0, ..Options::default() };
    let request = PlacementRequest { options, ..volume("v", 1) };
    let rows = vec![row(B), PoolRow { free: Unknown, ..row("stowage@u#p") }, PoolRow { free: Gib(10.0), ..row(A) }];
    assert_eq!(verdict(rows, &request).0, [A, B, "stowage@u#p"]);
}

#[test]
fn the_allocated_weigher_prefers_the_pool_that_was_given_least() {
    let options = Options { capacity_weight_multiplier: 0.0, allocated_capacity_weight_multiplier: -1.0, ..Options::default() };
    let request = PlacementRequest { options, ..volume("v", 1) };
    let rows = vec![PoolRow { allocated_gib: 5, ..row(A) }, PoolRow { allocated_gib: 3, ..row(B) }];
    assert_eq!(verdict(rows, &request).0, [B, A]);
}

#[test]
fn equal_pools_are_ordered_by_what_they_were_given_and_then_by_name() {
    let given = PoolRow { allocated_gib: 1, ..row(A) };
    assert_eq!(verdict(vec![given, row(B), row("stowage@c#p")], &volume("v", 1)).0, [B, "stowage@c#p", A]);
}

#[test]
fn a_share_network_is_where_it_has_a_subnet() {
    let elsewhere = Reach { zones: [("elsewhere".to_owned(), 1)].into(), default: 0 };
    let on = |reach: Reach| PlacementRequest { share: ShareNeeds { network: Some(reach), ..ShareNeeds::default() }, ..share(1) };
    out(share_row(A), &on(elsewhere.clone()), Limit::AvailabilityZone, "no subnet");
    passes(share_row(A), &on(Reach { default: 1, ..elsewhere.clone() }));
    // several in another zone are nothing to this one
    passes(share_row(A), &on(Reach { zones: [("elsewhere".to_owned(), 3)].into(), default: 1 }));
}

#[test]
fn a_network_with_several_subnets_needs_the_capability_and_the_refusal_names_it() {
    let request = PlacementRequest {
        share: ShareNeeds { network: Some(Reach { default: 2, ..Reach::default() }), ..ShareNeeds::default() },
        ..share(1)
    };
    out(share_row(A), &request, Limit::SeveralSubnets, "share_server_multiple_subnet_support");
    assert!(Limit::SeveralSubnets.user_text().contains("share_server_multiple_subnet_support"));
    passes(with_capabilities(share_row(A), capability("share_server_multiple_subnet_support", true)), &request);
    passes(share_row(A), &share(1));
}

#[test]
fn well_known_share_specs_compare_as_booleans() {
    let asked = |value: &str| PlacementRequest { extra_specs: specs([("driver_handles_share_servers", value)]), ..share(1) };
    let pool = with_capabilities(share_row(A), capability("driver_handles_share_servers", false));
    passes(pool.clone(), &asked("False"));
    passes(pool.clone(), &asked("no"));
    passes(pool.clone(), &asked("<is> False"));
    out(pool, &asked("True"), Limit::Capabilities, "driver_handles_share_servers");
}

#[test]
fn a_shares_protocol_is_asked_where_its_type_does_not_say() {
    let needs = ShareNeeds { protocol: Some("NFS".into()), ..ShareNeeds::default() };
    let request = PlacementRequest { share: needs, ..share(1) };
    passes(with_capabilities(share_row(A), capability("storage_protocol", "NFS_CIFS")), &request);
    out(with_capabilities(share_row(A), capability("storage_protocol", "CIFS")), &request, Limit::Capabilities, "storage_protocol");
    let own = PlacementRequest { extra_specs: specs([("storage_protocol", "CIFS")]), ..request };
    passes(with_capabilities(share_row(A), capability("storage_protocol", "CIFS")), &own);
}

#[test]
fn a_share_type_that_rules_thin_out_takes_real_space_on_a_pool_that_does_both() {
    let both = PoolRow { thin: true, max_over_subscription: Some("2".into()), ..share_row(A) };
    let asked = |key: &str, gib| PlacementRequest { extra_specs: specs([(key, "False")]), ..share(gib) };
    passes(both.clone(), &share(200));
    out(both.clone(), &asked("thin_provisioning", 101), Limit::Capacity, "101 GiB asked");
    passes(both, &asked("capabilities:thin_provisioning", 100));
}

#[test]
fn growth_and_snapshots_have_reserves_of_their_own() {
    let pool = PoolRow { reserved_percentage: 10, reserved_extend_percentage: 5, reserved_snapshot_percentage: 5, ..share_row(A) };
    out(pool.clone(), &share(95), Limit::Capacity, "90 GiB of room");
    passes(pool.clone(), &PlacementRequest { operation: Operation::Extend, ..share(95) });
    passes(pool, &PlacementRequest { share: ShareNeeds { from_snapshot: true, ..ShareNeeds::default() }, ..share(95) });
}
