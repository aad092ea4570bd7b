//! A formula as tokens.

use super::FormulaError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// Between quotes, which are gone.
    Quoted(String),
    /// Letters, `_` and `.`: a variable, a function, a boolean word, or a text.
    Word(String),
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: [&str; 20] = ["<=", ">=", "!=", "==", "<>", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "^", "?", ":", "(", ")", ","];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '0'..='9' => number(rest)?,
            '"' | '\'' => quoted(rest, first)?,
            c if is_word(c) => {
                let word: &str = rest.split(|c| !is_word(c)).next().unwrap_or_default();
                (Token::Word(word.to_owned()), word.len())
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), sign.len()),
                None => return Err(FormulaError::new(format!("'{first}' has no meaning here"))),
            },
        };
        out.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(out)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '.'
}

/// Digits, or digits on both sides of a point.
fn number(text: &str) -> Result<(Token, usize), FormulaError> {
    let digits = |from: &str| from.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let decimals = text[whole..].strip_prefix('.').map_or(0, digits);
    let length = if decimals > 0 { whole + 1 + decimals } else { whole };
    let number: f64 = text[..length].parse().map_err(|_| FormulaError::new(format!("'{}' is no number", &text[..length])))?;
    if !number.is_finite() {
        return Err(FormulaError::new("a number is too large"));
    }
    Ok((Token::Number(number), length))
}

fn quoted(text: &str, quote: char) -> Result<(Token, usize), FormulaError> {
    let end = text[1..].find(quote).ok_or_else(|| FormulaError::new(format!("a {quote} is not closed")))?;
    Ok((Token::Quoted(text[1..=end].replace(['"', '\''], "")), end + 2))
}
