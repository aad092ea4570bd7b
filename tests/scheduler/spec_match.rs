//! The grammar of extra specs, row by row as the released services answer. Where they raise, ours does not match.

use serde_json::{Value, json};
use stowage::scheduler::spec_match::{Dialect, capability_path, matches, satisfies};

#[track_caller]
fn row(value: &Value, spec: &str, block: bool, share: bool) {
    assert_eq!(matches(value, spec, Dialect::Block), block, "block: {value} against `{spec}`");
    assert_eq!(matches(value, spec, Dialect::Share), share, "share: {value} against `{spec}`");
}

macro_rules! vector {
    ($($name:ident: $value:expr, $spec:literal, $block:literal, $share:literal;)*) => {
        $(
            #[test]
            fn $name() {
                row(&$value, $spec, $block, $share);
            }
        )*
    };
}

vector! {
    a_boolean_is_not_the_word_true: json!(true), "True", false, true;
    a_boolean_is_not_the_lower_case_word: json!(true), "true", false, true;
    a_boolean_is_true: json!(true), "<is> True", true, true;
    the_word_true_is_true: json!("True"), "<is> true", true, true;
    yes_is_true: json!("yes"), "<is> True", true, true;
    on_is_t: json!("on"), "<is> t", true, true;
    one_is_true: json!(1), "<is> True", true, true;
    junk_is_false: json!("junk"), "<is> False", true, true;
    null_is_not_false: json!(null), "<is> False", false, false;
    a_false_boolean_is_false: json!(false), "<is> False", true, true;
    case_counts_for_block_alone: json!("NetApp"), "netapp", false, true;
    the_same_word_matches: json!("NetApp"), "NetApp", true, true;
    text_equality_matches: json!("NetApp"), "s== NetApp", true, true;
    text_equality_minds_case_for_block_alone: json!("NetApp"), "s== netapp", false, true;
    a_number_is_not_its_word: json!(5), "5", false, false;
    the_equals_sign_is_at_least_and_passes_below: json!(5), "= 4", true, true;
    the_equals_sign_is_at_least_and_passes_equal: json!(5), "= 5", true, true;
    the_equals_sign_is_at_least_and_fails_above: json!(5), "= 6", false, false;
    a_text_number_equals_numerically: json!("5"), "== 5.0", true, true;
    unequal_numbers_only: json!(5), "!= 5", false, false;
    at_least_four: json!(5), ">= 4", true, true;
    at_most_four: json!(5), "<= 4", false, false;
    there_is_no_greater_than: json!(5), "> 4", false, false;
    there_is_no_less_than: json!(5), "< 6", false, false;
    a_word_is_no_number: json!("abc"), "== 5", false, false;
    text_order_is_not_numeric: json!("10"), "s>= 9", false, false;
    in_finds_a_part: json!("iSCSI_FC"), "<in> iSCSI", true, true;
    in_is_not_the_other_way_round: json!("iSCSI"), "<in> iSCSI_FC", false, false;
    in_finds_an_element: json!(["a", "b"]), "<in> a", true, true;
    in_on_a_number_does_not_match: json!(5), "<in> 5", false, false;
    or_takes_the_first: json!("a"), "<or> a <or> b", true, true;
    or_takes_the_second: json!("b"), "<or> a <or> b", true, true;
    or_needs_its_keyword_between: json!("b"), "<or> a b", false, false;
    or_without_the_value: json!("c"), "<or> a <or> b", false, false;
    or_takes_words_not_phrases: json!("a b"), "<or> a b", false, false;
    or_does_not_match_numbers: json!(5), "<or> 5", false, false;
    or_alone_does_not_match: json!("a"), "<or>", false, false;
    an_operator_alone_does_not_match: json!("x"), "=", false, false;
    an_empty_spec_is_not_a_word: json!("x"), "", false, false;
    an_empty_spec_is_the_empty_text: json!(""), "", true, true;
    a_phrase_matches_as_a_whole: json!("a b"), "a b", true, true;
    blanks_count_without_an_operator: json!("a"), "  a ", false, false;
    null_matches_no_word: json!(null), "a", false, false;
    or_with_a_dangling_keyword: json!("b"), "<or> a <or>", false, false;
    a_list_is_no_number: json!(["1", "2"]), "== 1", false, false;
    in_looks_at_the_first_word_alone: json!("hello world"), "<in> hello world", true, true;
    in_looks_at_the_first_word_in_any_place: json!("hello world"), "<in> world hello", true, true;
    unicode_compares: json!("≥"), "s== ≥", true, true;
    inf_is_a_number: json!("inf"), ">= 5", true, true;
    nan_equals_nothing: json!("nan"), "== nan", false, false;
    exponents_are_numbers: json!("1e3"), "== 1000", true, true;
    blanks_around_a_number: json!(" 5 "), "== 5", true, true;
    underscores_between_digits: json!("1_0"), "== 10", true, true;
}

#[test]
fn every_element_of_a_reported_list_is_tried_with_every_operator() {
    let list = json!(["1", "9"]);
    assert!(satisfies(&list, "== 9", Dialect::Block));
    assert!(satisfies(&list, "9", Dialect::Block));
    assert!(satisfies(&json!([false, true]), "<is> True", Dialect::Block));
    assert!(!satisfies(&list, "== 5", Dialect::Block));
    assert!(!satisfies(&json!([]), "<is> False", Dialect::Block));
}

#[test]
fn keys_of_other_scopes_are_not_looked_at() {
    assert_eq!(capability_path("multiattach"), Some(vec!["multiattach"]));
    assert_eq!(capability_path("capabilities:multiattach"), Some(vec!["multiattach"]));
    assert_eq!(capability_path("capabilities:a:b"), Some(vec!["a", "b"]));
    assert_eq!(capability_path("provisioning:type"), None);
    assert_eq!(capability_path("replication:x"), None);
}

#[test]
fn underscores_elsewhere_make_no_number() {
    for text in ["_10", "10_", "1__0", "1_e3"] {
        assert!(!matches(&json!(text), ">= 0", Dialect::Block), "{text}");
    }
}
