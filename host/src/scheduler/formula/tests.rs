//! The released services' outcomes, expression by expression, and what is ours beyond them.

use serde_json::{Value as Json, json};

use super::{
    Formula, MOST_BYTES,
    Value::{self, Bool, Number, Text},
};

fn lookup(space: &str, key: &str) -> Option<Json> {
    let known = json!({
        "stats": { "a": 10, "b": "x", "zero": 0, "none": null, "truth": true, "free_capacity_gb": 100, "str": "q", "half": 12.7, "texts": ["a"], "decimal": " 1.5 " },
        "capabilities": { "a": 10 },
        "volume": { "size": 3 },
        "share": { "size": 3 },
        "extra": { "x": "1" },
        "qos": { "m": 1 },
    });
    known[space].get(key).cloned()
}

fn value(text: &str) -> Result<Value, String> {
    Formula::parse(text).and_then(|f| f.evaluate(&lookup)).map_err(|e| e.to_string())
}

fn text(t: &str) -> Value {
    Text(t.to_owned())
}

#[test]
fn the_released_services_vectors() {
    for (formula, expected) in [
        ("1+2*3", Number(7.0)),
        ("2^3", Number(8.0)),
        ("2^3^2", Number(512.0)),
        ("-2^2", Number(-4.0)),
        ("1 < 2 < 3", Bool(true)),
        ("3 > 2 > 1", Bool(true)),
        ("3 > 2 > 2", Bool(false)),
        ("1 <> 2", Bool(true)),
        ("1 == 1.0", Bool(true)),
        ("\"a\" == \"a\"", Bool(true)),
        ("5 / 2", Number(2.5)),
        ("7 / 2 * 2", Number(7.0)),
        ("!(1 == 1)", Bool(false)),
        ("not 1 == 2", Bool(false)),
        ("NOT(1==2)", Bool(true)),
        ("1 == 1 ? 5 : 6", Number(5.0)),
        ("1 == 2 ? 5 : 6", Number(6.0)),
        ("max(1,2)", Number(2.0)),
        ("min(3, 1)", Number(1.0)),
        ("abs(-4)", Number(4.0)),
        ("max(1,2,3)", Number(3.0)),
        ("stats.a", Number(10.0)),
        ("stats.free_capacity_gb / 2", Number(50.0)),
        ("(stats.a < 20) and (stats.b == \"x\")", Bool(true)),
        ("1 && 0", Number(0.0)),
        ("1 || 0", Number(1.0)),
        ("true", text("true")),
        ("\"x\" + \"y\"", text("xy")),
        ("stats.truth", Number(1.0)),
        ("stats.truth == true", Bool(false)),
        ("1 ? 2 : 3", Number(2.0)),
        ("stats.str < \"z\"", Bool(true)),
        ("10 - 3 - 2", Number(5.0)),
        ("2 * -3", Number(-6.0)),
        ("volume.size * 2", Number(6.0)),
        ("share.size * 2", Number(6.0)),
        ("extra.x == \"1\"", Bool(false)),
        ("qos.m", Number(1.0)),
    ] {
        assert_eq!(value(formula), Ok(expected), "{formula}");
    }
}

#[test]
fn the_released_services_errors() {
    for formula in [
        "1 / 0",
        "1==1 ? 2==2 ? 7 : 8 : 9",
        "$stats.a",
        "stats.a and stats.zero",
        "stats.zero or stats.a",
        "stats.none == \"x\"",
        "10 % 3",
        "1.5e3",
        ".5",
        "sqrt(4)",
    ] {
        assert!(value(formula).is_err(), "{formula}: {:?}", value(formula));
    }
}

#[test]
fn what_reads_as_a_number_is_one_and_a_fraction_is_cut() {
    assert_eq!(value("stats.half"), Ok(Number(12.0)));
    assert_eq!(value("stats.decimal"), Ok(Number(1.5)));
    assert_eq!(value("extra.x + 1"), Ok(Number(2.0)));
}

#[test]
fn every_operand_of_a_long_chain_counts() {
    assert_eq!(value("1 && 1 && 0"), Ok(Number(0.0)));
    assert_eq!(value("0 || 0 || 5"), Ok(Number(5.0)));
    assert_eq!(value("1 && 2 || 0"), Ok(Number(2.0)));
    assert_eq!(value("(1 ? 0 : 1) ? 2 : (0 ? 3 : 4)"), Ok(Number(4.0)));
    assert!(value("1 ? 2 : 3 ? 4 : 5").is_err());
}

#[test]
fn what_cannot_be_computed_is_an_error_and_says_why() {
    for (formula, because) in [
        ("stats.missing", "there is no stats.missing"),
        ("nothing.here", "there is no nothing.here"),
        ("stats.texts == 1", "neither a number nor a text"),
        ("stats.b * 2", "needs numbers"),
        ("stats.b < 2", "no order"),
        ("0 && 1 / 0", "division by zero"),
        ("9 ^ 9 ^ 9 ^ 9", "no finite number"),
        ("(0 - 8) ^ 0.5", "no finite number"),
        ("max(1)", "two or more"),
        ("abs(1, 2)", "abs takes one"),
        ("1, 2", "an operator or the end"),
        ("2 ^ -1", "'-' stands where a value is expected"),
        ("1 = 1", "'=' has no meaning"),
        ("(1", "not closed"),
        ("\"a", "not closed"),
        ("", "ends where a value is expected"),
        ("1 +", "ends where a value is expected"),
        ("stats.a and 1", "put it in parentheses"),
    ] {
        let error = value(formula).unwrap_err();
        assert!(error.contains(because), "{formula}: {error}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    assert!(value(&"1+".repeat(MOST_BYTES)).unwrap_err().contains("bytes"));
    for deep in ["(".repeat(2000), "-".repeat(2000), "!".repeat(2000), "2^".repeat(1000), "abs(".repeat(900)] {
        assert!(value(&format!("{deep}1")).unwrap_err().contains("nested"), "{deep:.10}");
    }
    let long = format!("0{}", "+1".repeat(2000));
    assert_eq!(value(&long), Ok(Number(2000.0)));
}

#[test]
fn truth_is_a_number_other_than_0_or_a_text_that_is_not_empty() {
    for (formula, expected) in [("1", true), ("0", false), ("1 == 2", false), ("true", true), ("''", false)] {
        assert_eq!(value(formula).unwrap().is_true(), expected, "{formula}");
    }
}

#[test]
fn a_text_that_grows_beyond_its_limit_is_an_error() {
    let long = "x".repeat(1024);
    let lookup = |_: &str, _: &str| Some(json!(long));
    let sum = |n: usize| Formula::parse(&vec!["stats.t"; n].join(" + ")).unwrap().evaluate(&lookup);
    assert_eq!(sum(4), Ok(text(&"x".repeat(4096))));
    assert_eq!(sum(5).unwrap_err().to_string(), "the formula makes a text of more than 4096 bytes");
    assert!(sum(400).is_err());
}
