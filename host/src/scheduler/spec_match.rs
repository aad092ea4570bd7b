//! The grammar of extra specs: whether a value that a pool reports satisfies what a type asks.
//!
//! One string, split at white space; if its first word is an operator, only the next word counts (`<or>` apart). The two
//! services differ in two points, see [`Dialect`]. What cannot be compared does not match; nothing here fails.

use serde_json::Value;

/// Whose rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Case counts; a boolean without an operator never equals a word.
    Block,
    /// Both sides are lower-cased; a boolean without an operator is compared as a boolean.
    Share,
}

/// Operators that take one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `=`, numerically at least.
    AtLeast,
    Number(Order),
    Text(Order),
    In,
    Is,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Order {
    fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
        }
    }
}

fn operator(word: &str) -> Option<Operator> {
    Some(match word {
        "=" => Operator::AtLeast,
        "==" => Operator::Number(Order::Equal),
        "!=" => Operator::Number(Order::NotEqual),
        ">=" => Operator::Number(Order::GreaterOrEqual),
        "<=" => Operator::Number(Order::LessOrEqual),
        "s==" => Operator::Text(Order::Equal),
        "s!=" => Operator::Text(Order::NotEqual),
        "s<" => Operator::Text(Order::Less),
        "s<=" => Operator::Text(Order::LessOrEqual),
        "s>" => Operator::Text(Order::Greater),
        "s>=" => Operator::Text(Order::GreaterOrEqual),
        "<in>" => Operator::In,
        "<is>" => Operator::Is,
        _ => return None,
    })
}

/// Whether `value`, or any element of it if it is a list, satisfies `spec`: what the capabilities filter asks.
pub fn satisfies(value: &Value, spec: &str, dialect: Dialect) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|v| matches(v, spec, dialect)),
        one => matches(one, spec, dialect),
    }
}

/// Whether this one value satisfies `spec`.
pub fn matches(value: &Value, spec: &str, dialect: Dialect) -> bool {
    if dialect == Dialect::Block {
        return holds(value, spec, dialect);
    }
    match value {
        Value::String(text) => holds(&Value::String(text.to_lowercase()), &spec.to_lowercase(), dialect),
        other => holds(other, &spec.to_lowercase(), dialect),
    }
}

fn holds(value: &Value, spec: &str, dialect: Dialect) -> bool {
    let mut words = spec.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first == "<or>" {
        // the alternatives stand at every other place; the words between them should be `<or>` and are not looked at
        return words.step_by(2).any(|w| value.as_str() == Some(w));
    }
    let Some(operator) = operator(first) else { return equals(value, spec, dialect) };
    match words.next() {
        Some(word) if !value.is_null() => operator_holds(operator, value, word),
        _ => false,
    }
}

fn equals(value: &Value, spec: &str, dialect: Dialect) -> bool {
    match value {
        Value::Bool(b) if dialect == Dialect::Share => bool_word(spec) == Some(*b),
        Value::String(text) => text == spec,
        _ => false,
    }
}

fn operator_holds(operator: Operator, value: &Value, word: &str) -> bool {
    match operator {
        Operator::AtLeast => numbers(value, word).is_some_and(|(a, b)| a >= b),
        Operator::Number(order) => numbers(value, word).is_some_and(|(a, b)| order.holds(&a, &b)),
        Operator::Text(order) => match value {
            Value::String(text) => order.holds(&text.as_str(), &word),
            // other kinds are simply not equal to a text, and have no order with it
            _ => order == Order::NotEqual,
        },
        Operator::In => match value {
            Value::String(text) => text.contains(word),
            Value::Array(elements) => elements.iter().any(|v| v.as_str() == Some(word)),
            Value::Object(members) => members.contains_key(word),
            _ => false,
        },
        Operator::Is => truth(value) == bool_word(word).unwrap_or(false),
    }
}

fn numbers(value: &Value, word: &str) -> Option<(f64, f64)> {
    let reported = match value {
        Value::Number(n) => n.as_f64()?,
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::String(text) => float(text)?,
        _ => return None,
    };
    Some((reported, float(word)?))
}

/// A number as the released services read one: blanks around it, `inf`, `nan`, exponents, `_` between digits.
pub(crate) fn float(text: &str) -> Option<f64> {
    let text = text.trim();
    if !text.contains('_') {
        return text.parse().ok();
    }
    let bytes = text.as_bytes();
    let between_digits = |n: usize| n > 0 && bytes[n - 1].is_ascii_digit() && bytes.get(n + 1).is_some_and(u8::is_ascii_digit);
    if bytes.iter().enumerate().any(|(n, b)| *b == b'_' && !between_digits(n)) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(b) => *b,
        Value::String(text) => bool_word(text).unwrap_or(false),
        Value::Number(n) => bool_word(&n.to_string()).unwrap_or(false),
        _ => false,
    }
}

/// `true`, `yes`, `on`, `1` and their opposites, in any case.
pub fn bool_word(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "1" | "t" | "true" | "on" | "y" | "yes" => Some(true),
        "0" | "f" | "false" | "off" | "n" | "no" => Some(false),
        _ => None,
    }
}

/// The path into a pool's capabilities that `key` names; none for a key that the scheduler does not look at
/// (`provisioning:type`, vendors' own scopes).
pub fn capability_path(key: &str) -> Option<Vec<&str>> {
    let mut parts: Vec<&str> = key.split(':').collect();
    if parts.len() == 1 {
        return Some(parts);
    }
    if parts[0] != "capabilities" {
        return None;
    }
    parts.remove(0);
    Some(parts)
}

/// Refuses a spec that could never match, whatever a pool reports.
///
/// # Errors
/// A sentence for whoever sets the spec: what is wrong, and what to write instead.
pub fn validate(key: &str, value: &str) -> Result<(), String> {
    if capability_path(key).is_none() {
        return Ok(());
    }
    let words: Vec<&str> = value.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return Ok(()) };
    match *first {
        "<or>" => {
            let well_formed =
                rest.len() % 2 == 1 && rest.iter().skip(1).step_by(2).all(|w| *w == "<or>") && rest.iter().step_by(2).all(|w| *w != "<or>");
            if well_formed { Ok(()) } else { Err(format!("Extra spec {key}: write alternatives as `<or> a <or> b`, each of one word.")) }
        }
        "<" | ">" => Err(format!("Extra spec {key}: there is no operator `{first}`; use `{first}=` for numbers or `s{first}` for texts.")),
        word => match operator(word) {
            None => Ok(()),
            Some(_) if rest.is_empty() => Err(format!("Extra spec {key}: a value is missing after `{word}`.")),
            Some(Operator::AtLeast | Operator::Number(_)) if float(rest[0]).is_none() => {
                Err(format!("Extra spec {key}: `{word}` compares numbers, and `{}` is none; use `s{word}` for texts.", rest[0]))
            }
            Some(_) => Ok(()),
        },
    }
}
