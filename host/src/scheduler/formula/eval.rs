//! Computing a formula.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::{
    FormulaError, MOST_TEXT,
    parse::{Binary, Comparison, Expr, Function},
};
use crate::scheduler::spec_match;

/// What a formula gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Number(f64),
    Text(String),
}

impl Value {
    /// As a condition: 0 and the empty text are false.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Bool(b) => *b,
            Self::Number(n) => *n != 0.0,
            Self::Text(t) => !t.is_empty(),
        }
    }
    /// A boolean counts as 0 or 1; a text is no number.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(b) => Some(f64::from(u8::from(*b))),
            Self::Number(n) => Some(*n),
            Self::Text(_) => None,
        }
    }
}

type Lookup<'a> = &'a dyn Fn(&str, &str) -> Option<Json>;
type Evaluated = Result<Value, FormulaError>;

pub(super) fn evaluate(expr: &Expr, lookup: Lookup<'_>) -> Evaluated {
    let eval = |e: &Expr| evaluate(e, lookup);
    match expr {
        Expr::Number(n) => Ok(Value::Number(*n)),
        Expr::Text(t) => Ok(Value::Text(t.clone())),
        Expr::Variable(space, key) => variable(space, key, lookup),
        Expr::Call(function, arguments) => call(*function, &arguments.iter().map(eval).collect::<Result<Vec<_>, _>>()?),
        Expr::Negative(inner) => finite(-number(&eval(inner)?, "-")?),
        Expr::Not(inner) => Ok(Value::Bool(!eval(inner)?.is_true())),
        Expr::Power(base, exponent) => finite(number(&eval(base)?, "^")?.powf(number(&eval(exponent)?, "^")?)),
        Expr::Chain(first, rest) => rest.iter().try_fold(eval(first)?, |sum, (op, next)| binary(*op, &sum, &eval(next)?)),
        Expr::Compare(first, rest) => {
            let mut left = eval(first)?;
            for (op, next) in rest {
                let right = eval(next)?;
                if !compare(*op, &left, &right)? {
                    return Ok(Value::Bool(false));
                }
                left = right;
            }
            Ok(Value::Bool(true))
        }
        Expr::Choose(parts) => {
            let [condition, yes, no] = &**parts;
            eval(if eval(condition)?.is_true() { yes } else { no })
        }
        // the first that decides, else the last; all are computed, so that an error is one wherever it stands
        Expr::All(parts) => decide(parts.iter().map(eval).collect::<Result<_, _>>()?, false),
        Expr::Any(parts) => decide(parts.iter().map(eval).collect::<Result<_, _>>()?, true),
    }
}

fn decide(mut values: Vec<Value>, deciding: bool) -> Evaluated {
    let at = values.iter().position(|v| v.is_true() == deciding).unwrap_or(values.len().saturating_sub(1));
    Ok(values.swap_remove(at))
}

/// What is looked up counts as a number where it reads as one, whole ones first.
fn variable(space: &str, key: &str, lookup: Lookup<'_>) -> Evaluated {
    match lookup(space, key) {
        Some(Json::Bool(b)) => Ok(Value::Number(f64::from(u8::from(b)))),
        Some(Json::Number(n)) => n.as_f64().map_or_else(|| Err(nothing(space, key)), |n| finite(n.trunc())),
        Some(Json::String(text)) => Ok(spec_match::float(&text).filter(|n| n.is_finite()).map_or(Value::Text(text), Value::Number)),
        Some(_) => Err(nothing(space, key)),
        None => Err(FormulaError::new(format!("there is no {space}.{key}"))),
    }
}

fn nothing(space: &str, key: &str) -> FormulaError {
    FormulaError::new(format!("{space}.{key} is neither a number nor a text"))
}

fn call(function: Function, values: &[Value]) -> Evaluated {
    let better = |a: &Value, b: &Value, want: Ordering| Ok::<_, FormulaError>(order(a, b)?.is_some_and(|o| o == want));
    match (function, values) {
        (Function::Abs, [one]) => finite(number(one, "abs")?.abs()),
        (_, []) => Err(FormulaError::new("a function has no value")),
        (_, [first, rest @ ..]) => {
            let want = if function == Function::Max { Ordering::Greater } else { Ordering::Less };
            let mut best = first;
            for next in rest {
                if better(next, best, want)? {
                    best = next;
                }
            }
            Ok(best.clone())
        }
    }
}

fn binary(op: Binary, left: &Value, right: &Value) -> Evaluated {
    if let (Binary::Add, Value::Text(a), Value::Text(b)) = (op, left, right) {
        if a.len() + b.len() > MOST_TEXT {
            return Err(FormulaError::new(format!("the formula makes a text of more than {MOST_TEXT} bytes")));
        }
        return Ok(Value::Text(format!("{a}{b}")));
    }
    let sign = match op {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
    };
    let (a, b) = (number(left, sign)?, number(right, sign)?);
    match op {
        Binary::Add => finite(a + b),
        Binary::Subtract => finite(a - b),
        Binary::Multiply => finite(a * b),
        Binary::Divide if b == 0.0 => Err(FormulaError::new("a division by zero")),
        Binary::Divide => finite(a / b),
    }
}

fn compare(op: Comparison, left: &Value, right: &Value) -> Result<bool, FormulaError> {
    match op {
        Comparison::Equal => return Ok(equal(left, right)),
        Comparison::NotEqual => return Ok(!equal(left, right)),
        _ => {}
    }
    let Some(found) = order(left, right)? else { return Ok(false) };
    Ok(match op {
        Comparison::Less => found.is_lt(),
        Comparison::LessOrEqual => found.is_le(),
        Comparison::Greater => found.is_gt(),
        _ => found.is_ge(),
    })
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Text(a), Value::Text(b)) => a == b,
        _ => left.number().is_some() && left.number() == right.number(),
    }
}

fn order(left: &Value, right: &Value) -> Result<Option<Ordering>, FormulaError> {
    match (left, right, left.number(), right.number()) {
        (Value::Text(a), Value::Text(b), ..) => Ok(Some(a.cmp(b))),
        (_, _, Some(a), Some(b)) => Ok(a.partial_cmp(&b)),
        _ => Err(FormulaError::new("a text and a number have no order")),
    }
}

fn number(value: &Value, what: &str) -> Result<f64, FormulaError> {
    match value {
        Value::Text(text) => Err(FormulaError::new(format!("'{what}' needs numbers, and \"{text:.64}\" is a text"))),
        other => other.number().ok_or_else(|| FormulaError::new(format!("'{what}' needs numbers"))),
    }
}

fn finite(n: f64) -> Evaluated {
    if n.is_finite() { Ok(Value::Number(n)) } else { Err(FormulaError::new("the result is no finite number")) }
}
