//! The language of `filter_function` and `goodness_function`: arithmetic, comparisons, boolean words, `?:`, `abs`, `max`,
//! `min` over what is known of a pool and of the request.
//!
//! Precedence, high to low: function, `^` (right), sign, `* /`, `+ -`, `not NOT !`, comparisons (chained, `<>` too), `? :`,
//! `and AND &&`, `or OR ||`, comma. The outcomes are those of the released services, whose grammar has oddities that stay:
//! `/` never rounds, `and` and `or` give one of their operands, a word that is no `space.key` is a text, and a word followed
//! by anything but an operator sign reads as a function's name (`stats.a and 1` is an error; `(stats.a) and 1` is not).
//! Where those services would drop operands (`a && b && c`, `a ? b : c ? d : e`), all are evaluated here, or it is an error.
//!
//! Pure and bounded: a formula has at most [`MOST_BYTES`] and is nested at most [`MOST_NESTED`] deep, no text it makes is
//! longer than [`MOST_TEXT`], evaluation is linear in it. What cannot be read or computed is an error with a reason; what that
//! means is for the caller to say.

mod eval;
mod lex;
mod parse;

use serde_json::Value as Json;

pub use eval::Value;
use parse::Expr;

/// The longest formula.
pub const MOST_BYTES: usize = 4096;
/// The longest text that a formula makes.
pub const MOST_TEXT: usize = 4096;
/// How deep parentheses, signs and functions may nest.
pub const MOST_NESTED: usize = 64;

/// What is wrong with a formula, or with computing it now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormulaError(String);

impl FormulaError {
    fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// A formula that has been read.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula(Expr);

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    /// What was found, and what is expected instead.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        if text.len() > MOST_BYTES {
            return Err(FormulaError::new(format!("the formula has {} bytes; {MOST_BYTES} are allowed", text.len())));
        }
        parse::formula(&lex::tokens(text)?).map(Self)
    }

    /// Computes it. `lookup` gives the value of a variable from its space and its key.
    ///
    /// # Errors
    /// A variable that is not there or is nothing, a division by zero, an operator that its operands do not have.
    pub fn evaluate(&self, lookup: &dyn Fn(&str, &str) -> Option<Json>) -> Result<Value, FormulaError> {
        eval::evaluate(&self.0, lookup)
    }
}

#[cfg(test)]
mod tests;
