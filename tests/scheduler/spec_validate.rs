//! Extra specs that could never match are refused when they are set.

use stowage::scheduler::spec_match::validate;

#[track_caller]
fn refused(value: &str, hint: &str) {
    let why = validate("some_key", value).expect_err(value);
    assert!(why.contains("some_key"), "{why}");
    assert!(why.contains(hint), "{why}");
}

#[test]
fn ordinary_specs_are_taken() {
    for value in
        ["", "NetApp", "<is> True", "<in> iSCSI", "<or> a <or> b", "<or> a", "= 5", ">= 1e3", "s== x", "a phrase", "<in> two words", "True"]
    {
        assert_eq!(validate("some_key", value), Ok(()), "{value}");
    }
}

#[test]
fn alternatives_need_their_keyword_before_each() {
    for value in ["<or>", "<or> a b", "<or> a <or>", "<or> <or> a"] {
        refused(value, "<or> a <or> b");
    }
}

#[test]
fn an_operator_needs_a_value() {
    for value in ["=", "<is>", "<in>", "s<"] {
        refused(value, "missing");
    }
}

#[test]
fn numeric_operators_need_a_number() {
    refused("= many", "s=");
    refused(">= big", "s>=");
}

#[test]
fn greater_and_less_than_do_not_exist_for_numbers() {
    refused("> 4", ">=");
    refused("< 6", "<=");
}

#[test]
fn keys_that_the_scheduler_does_not_look_at_may_hold_anything() {
    assert_eq!(validate("provisioning:type", "<or>"), Ok(()));
    assert_eq!(validate("vendor:thing", "= lots"), Ok(()));
    assert!(validate("capabilities:thing", "= lots").is_err());
}
