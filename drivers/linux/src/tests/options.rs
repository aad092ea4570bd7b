use stowage_driver_sdk::{mock, prelude::*};

use super::{Nodes, host, open, volume, with_spec};
use crate::{Linux, options::Layout};

fn refusal(host: &mock::Host) -> String {
    let Err(refused) = Linux::open(&host.context("test")) else { panic!("it was accepted") };
    assert_eq!(refused.kind, ErrorKind::Invalid);
    refused.message
}

#[test]
fn a_node_is_named_by_pool_and_url() {
    let (driver, _) = open(&host(&Nodes::new()));
    let places: Vec<(&str, &str)> = driver.config.nodes.iter().map(|n| (n.pool.as_str(), n.url.as_str())).collect();
    assert_eq!(places, [("a", "http://a.test:8788"), ("b", "http://b.test:8788")], "a slash at the end does not matter");
}

#[test]
fn entries_that_are_no_node_are_refused_with_their_text() {
    for bad in [
        "a",
        "=http://a.test",
        "a=",
        "a=ftp://a.test",
        "a=a.test:8788",
        "a=http://",
        "a=http://user:password@a.test",
        "a=http://a.test/v1",
        "a=http://a.test?x",
        "a#b=http://a.test",
        "a@b=http://a.test",
        "a b=http://a.test",
    ] {
        let message = refusal(&mock::Host::new().option("nodes", [bad]));
        assert!(message.contains(bad), "{bad}: {message}");
    }
}

#[test]
fn no_node_is_refused() {
    assert!(refusal(&mock::Host::new().option("nodes", [])).contains("empty"));
}

#[test]
fn a_pool_or_a_url_stands_once() {
    for twice in [["a=http://a.test", "a=http://b.test"], ["a=http://a.test", "b=http://A.test/"]] {
        assert!(refusal(&mock::Host::new().option("nodes", twice)).contains("overlap"), "{twice:?}");
    }
}

#[test]
fn a_ratio_below_one_is_refused() {
    let host = mock::Host::new().option("nodes", ["a=http://a.test"]).option("max_over_subscription_ratio", 0.5);
    assert!(refusal(&host).contains("max_over_subscription_ratio"));
}

#[test]
fn every_option_is_described_and_the_token_is_a_secret() {
    let specs = Linux::options();
    assert!(specs.iter().all(|s| !s.help.is_empty()));
    assert!(matches!(specs.iter().find(|s| s.name == "token"), Some(OptionSpec { kind: OptionKind::Secret, required: true, .. })));
}

#[test]
fn a_type_without_a_layout_gets_that_of_the_back_end() {
    let (driver, _) = open(&host(&Nodes::new()).option("layout", "target-per-initiator"));
    assert_eq!(driver.config.layout_of(&volume("v", 1).specs), Ok(Layout::TargetPerInitiator));
}

#[test]
fn a_type_chooses_the_layout_where_the_operator_permits_it() {
    let asks = with_spec(volume("v", 1), "linux:layout", "target-per-initiator");
    let (strict, _) = open(&host(&Nodes::new()));
    assert_eq!(strict.config.layout_of(&asks.specs).unwrap_err().kind, ErrorKind::Unsupported);
    let (lenient, _) = open(&host(&Nodes::new()).option("layout_by_type", true));
    assert_eq!(lenient.config.layout_of(&asks.specs), Ok(Layout::TargetPerInitiator));
}

#[test]
fn a_type_that_asks_for_the_layout_of_the_back_end_is_served_in_any_case() {
    let (driver, _) = open(&host(&Nodes::new()));
    let asks = with_spec(volume("v", 1), "linux:layout", "target-per-volume");
    assert_eq!(driver.config.layout_of(&asks.specs), Ok(Layout::TargetPerVolume));
}

#[test]
fn specs_of_this_driver_that_are_not_understood_are_refused_and_those_of_others_ignored() {
    let (driver, _) = open(&host(&Nodes::new()).option("layout_by_type", true));
    for (key, value) in [("linux:layuot", "target-per-volume"), ("linux:layout", "one-for-all")] {
        let refused = driver.config.layout_of(&[KeyValue::new(key, value)]).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Unsupported);
        assert!(refused.message.contains(key) && refused.user_message.is_some(), "{refused:?}");
    }
    assert!(driver.config.layout_of(&[KeyValue::new("acme:layout", "odd"), KeyValue::new("multiattach", "<is> True")]).is_ok());
}
