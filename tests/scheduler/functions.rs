//! Filter and goodness functions of pools: who is kept away, and who is preferred.

use serde_json::{Value, json};
use stowage::scheduler::{Limit, Operation, Options, PlacementRequest, PoolRow, capacity::Capacity::Gib};

use crate::world::{row, specs, verdict, volume, with_capabilities};

const A: &str = "stowage@a#p";
const B: &str = "stowage@b#p";

fn with(name: &str, key: &str, function: &str) -> PoolRow {
    with_capabilities(row(name), json!({ key: function, "rpm": 7200, "vendor_name": "Acme", "storage_protocol": "iSCSI" }))
}

fn filter(name: &str, function: &str) -> PoolRow {
    with(name, "filter_function", function)
}

fn good(name: &str, function: &str) -> PoolRow {
    with(name, "goodness_function", function)
}

fn passes(function: &str, request: &PlacementRequest) -> bool {
    let (passed, rejected, limit) = verdict(vec![filter(A, function)], request);
    if passed.is_empty() {
        assert_eq!((rejected[0].1.as_str(), limit), ("DriverFilter", Limit::Function), "{rejected:?}");
    }
    !passed.is_empty()
}

#[test]
fn a_pool_takes_what_its_filter_function_takes() {
    for (function, expected) in [
        ("volume.size < 10", true),
        ("volume.size > 10", false),
        ("stats.total_capacity_gb == 100 && capabilities.free_capacity_gb >= volume.size", true),
        ("capabilities.rpm > 10000", false),
        ("stats.vendor_name == \"Acme\"", true),
        ("extra.tier == 1", true),
        ("extra.tier == 2", false),
        ("qos.maxiops <= 500", true),
        ("1", true),
        ("0", false),
        ("true", true),
        ("", true),
    ] {
        let request = PlacementRequest {
            extra_specs: specs([("vendor:tier", "x"), ("tier", "1")]),
            qos: specs([("maxiops", "500")]),
            ..volume("v", 5)
        };
        // `tier` is an unscoped spec, and the pool reports it
        let pool = with_capabilities(row(A), json!({ "filter_function": function, "rpm": 7200, "vendor_name": "Acme", "tier": "1" }));
        assert_eq!(!verdict(vec![pool], &request).0.is_empty(), expected, "{function}");
    }
}

#[test]
fn a_pool_without_a_function_takes_everything() {
    let none = with_capabilities(row(A), json!({ "filter_function": Value::Null }));
    assert_eq!(verdict(vec![none, row(B)], &volume("v", 1)).0.len(), 2);
}

#[test]
fn a_function_that_cannot_be_read_or_computed_takes_nothing_and_says_why() {
    for (function, because) in [
        ("volume.size <", "ends where a value is expected"),
        ("stats.no_such > 1", "there is no stats.no_such"),
        ("qos.maxiops > 1", "there is no qos.maxiops"),
        ("share.size > 1", "there is no share.size"),
        ("1 / 0", "division by zero"),
    ] {
        let (passed, rejected, limit) = verdict(vec![filter(A, function)], &volume("v", 1));
        assert_eq!((passed.len(), limit), (0, Limit::Function), "{function}");
        assert!(rejected[0].2.contains(because), "{function}: {}", rejected[0].2);
    }
}

#[test]
fn a_function_that_names_the_protocol_is_asked_for_each_spelling() {
    assert!(passes("stats.storage_protocol == \"iSCSI\"", &volume("v", 1)));
    assert!(passes("capabilities.storage_protocol == \"iscsi\"", &volume("v", 1)));
    assert!(!passes("stats.storage_protocol == \"FC\"", &volume("v", 1)));
}

#[test]
fn what_grows_is_seen_with_its_new_size() {
    let grow = PlacementRequest { operation: Operation::Extend, whole_gib: Some(50), ..volume("v", 10) };
    assert!(passes("volume.size == 50", &grow));
}

#[test]
fn a_pool_that_is_full_and_one_that_declines_are_told_apart() {
    let full = PoolRow { free: Gib(0.0), ..row(A) };
    let (_, rejected, limit) = verdict(vec![filter(B, "0"), full], &volume("v", 1));
    assert_eq!(limit, Limit::Capacity, "a pool that declines nothing and has no room is what is missing");
    assert_eq!(rejected.iter().map(|r| r.1.as_str()).collect::<Vec<_>>(), ["DriverFilter", "CapacityFilter"]);
}

#[test]
fn the_better_pool_is_first() {
    // as much room in both: only the functions differ
    for (a, b, first) in [
        ("10", "20", B),
        ("100", "99.5", A),
        ("volume.size * 10", "49", A),
        ("1 == 1", "99", A),
        ("1 == 2", "1", B),
        ("101", "1", B),
        ("0 - 1", "1", B),
        ("\"text\"", "1", B),
        ("1 / 0", "1", B),
        ("nonsense(", "1", B),
        ("stats.storage_protocol == \"iscsi\" ? 80 : 0", "70", A),
    ] {
        let ranked = verdict(vec![good(A, a), good(B, b)], &volume("v", 5)).0;
        assert_eq!(ranked[0], first, "{a} against {b}");
    }
}

#[test]
fn goodness_weighs_as_the_operator_says() {
    let rows = || vec![PoolRow { free: Gib(50.0), ..good(A, "100") }, good(B, "0")];
    let at = |goodness_weight_multiplier| PlacementRequest {
        options: Options { goodness_weight_multiplier, ..Options::default() },
        ..volume("v", 1)
    };
    assert_eq!(verdict(rows(), &at(2.0)).0, [A, B]);
    assert_eq!(verdict(rows(), &at(0.5)).0, [B, A]);
    assert_eq!(verdict(rows(), &at(0.0)).0, [B, A]);
}

#[test]
fn the_number_of_volumes_counts_where_the_operator_wants_it() {
    let rows = || vec![PoolRow { resources: 9, ..row(A) }, PoolRow { resources: 2, allocated_gib: 5, ..row(B) }];
    let options = Options { volume_number_multiplier: -1.0, ..Options::default() };
    assert_eq!(verdict(rows(), &PlacementRequest { options, ..volume("v", 1) }).0, [B, A]);
    assert_eq!(verdict(rows(), &volume("v", 1)).0, [A, B], "left out unless it is asked for");
}
