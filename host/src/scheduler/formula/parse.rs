//! Tokens as a tree, level by level.

use super::{FormulaError, MOST_NESTED, lex::Token};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Number(f64),
    Text(String),
    Variable(String, String),
    Call(Function, Vec<Expr>),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    /// A first operand, and operators with the next: from left to right.
    Chain(Box<Expr>, Vec<(Binary, Expr)>),
    Power(Box<Expr>, Box<Expr>),
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    Choose(Box<[Expr; 3]>),
    All(Vec<Expr>),
    Any(Vec<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Max,
    Min,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

pub(super) fn formula(tokens: &[Token]) -> Result<Expr, FormulaError> {
    let mut parser = Parser { tokens, at: 0, nested: 0 };
    let expr = parser.any()?;
    match parser.peek() {
        None => Ok(expr),
        Some(token) => Err(FormulaError::new(format!("{} stands where an operator or the end is expected", shown(token)))),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    nested: usize,
}

type Parsed = Result<Expr, FormulaError>;

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }
    fn take(&mut self, fits: impl Fn(&Token) -> bool) -> bool {
        let hit = self.peek().is_some_and(fits);
        self.at += usize::from(hit);
        hit
    }
    fn sign(&mut self, sign: &str) -> bool {
        self.take(|t| matches!(t, Token::Sign(s) if *s == sign))
    }
    fn word_or_sign(&mut self, words: [&str; 2], sign: &str) -> bool {
        self.take(|t| match t {
            Token::Sign(s) => *s == sign,
            Token::Word(w) => words.contains(&w.as_str()),
            _ => false,
        })
    }
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(FormulaError::new(format!("the formula is nested more than {MOST_NESTED} deep")));
        }
        let expr = inner(self);
        self.nested -= 1;
        expr
    }

    fn any(&mut self) -> Parsed {
        let mut parts = vec![self.all()?];
        while self.word_or_sign(["or", "OR"], "||") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Any))
    }
    fn all(&mut self) -> Parsed {
        let mut parts = vec![self.choice()?];
        while self.word_or_sign(["and", "AND"], "&&") {
            parts.push(self.choice()?);
        }
        Ok(one_or(parts, Expr::All))
    }
    fn choice(&mut self) -> Parsed {
        let condition = self.comparison()?;
        if !self.sign("?") {
            return Ok(condition);
        }
        let yes = self.comparison()?;
        if !self.sign(":") {
            return Err(FormulaError::new("a '?' has no ':'; put a choice within a choice in parentheses"));
        }
        let no = self.comparison()?;
        if matches!(self.peek(), Some(Token::Sign("?"))) {
            return Err(FormulaError::new("put a choice within a choice in parentheses"));
        }
        Ok(Expr::Choose(Box::new([condition, yes, no])))
    }
    fn comparison(&mut self) -> Parsed {
        let first = self.negation()?;
        let mut rest = Vec::new();
        while let Some(op) = self.peek().and_then(comparison) {
            self.at += 1;
            rest.push((op, self.negation()?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Compare(Box::new(first), rest) })
    }
    fn negation(&mut self) -> Parsed {
        if self.word_or_sign(["not", "NOT"], "!") {
            return self.deeper(|p| Ok(Expr::Not(Box::new(p.negation()?))));
        }
        self.sum()
    }
    fn sum(&mut self) -> Parsed {
        let first = self.product()?;
        let mut rest = Vec::new();
        loop {
            let op = match () {
                () if self.sign("+") => Binary::Add,
                () if self.sign("-") => Binary::Subtract,
                () => break,
            };
            rest.push((op, self.product()?));
        }
        Ok(chain(first, rest))
    }
    fn product(&mut self) -> Parsed {
        let first = self.signed()?;
        let mut rest = Vec::new();
        loop {
            let op = match () {
                () if self.sign("*") => Binary::Multiply,
                () if self.sign("/") => Binary::Divide,
                () => break,
            };
            rest.push((op, self.signed()?));
        }
        Ok(chain(first, rest))
    }
    fn signed(&mut self) -> Parsed {
        if self.sign("-") {
            return self.deeper(|p| Ok(Expr::Negative(Box::new(p.signed()?))));
        }
        if self.sign("+") {
            return self.deeper(Self::signed);
        }
        self.power()
    }
    fn power(&mut self) -> Parsed {
        let base = self.operand()?;
        if !self.sign("^") {
            return Ok(base);
        }
        self.deeper(|p| Ok(Expr::Power(Box::new(base), Box::new(p.power()?))))
    }
    fn operand(&mut self) -> Parsed {
        let Some(token) = self.peek() else { return Err(FormulaError::new("the formula ends where a value is expected")) };
        self.at += 1;
        match token {
            Token::Number(n) => Ok(Expr::Number(*n)),
            Token::Quoted(text) => Ok(Expr::Text(text.clone())),
            Token::Sign("(") => self.deeper(|p| {
                let inner = p.any()?;
                p.close()?;
                Ok(inner)
            }),
            Token::Word(word) => self.word(word),
            Token::Sign(sign) => Err(FormulaError::new(format!("'{sign}' stands where a value is expected"))),
        }
    }
    fn word(&mut self, word: &str) -> Parsed {
        match self.peek() {
            Some(Token::Sign("(")) => {
                self.at += 1;
                self.call(word)
            }
            Some(Token::Sign(_)) | None => Ok(variable(word)),
            Some(next) => Err(FormulaError::new(format!(
                "'{word}' before {} reads as a function's name; put it in parentheses, or use && and ||",
                shown(next)
            ))),
        }
    }
    fn call(&mut self, name: &str) -> Parsed {
        let function = match name {
            "abs" => Function::Abs,
            "max" => Function::Max,
            "min" => Function::Min,
            _ => return Err(FormulaError::new(format!("there is no function '{name}'; there are abs, max and min"))),
        };
        self.deeper(|p| {
            let mut arguments = vec![p.any()?];
            while p.sign(",") {
                arguments.push(p.any()?);
            }
            p.close()?;
            if (function == Function::Abs) != (arguments.len() == 1) {
                return Err(FormulaError::new(format!(
                    "{name} with {} values: abs takes one, max and min take two or more",
                    arguments.len()
                )));
            }
            Ok(Expr::Call(function, arguments))
        })
    }
    fn close(&mut self) -> Result<(), FormulaError> {
        if self.sign(")") { Ok(()) } else { Err(FormulaError::new("a '(' is not closed")) }
    }
}

/// `space.key`, else a text.
fn variable(word: &str) -> Expr {
    match word.split_once('.') {
        Some((space, key)) if !space.is_empty() && !key.is_empty() && !key.contains('.') => {
            Expr::Variable(space.to_owned(), key.to_owned())
        }
        _ => Expr::Text(word.to_owned()),
    }
}

fn comparison(token: &Token) -> Option<Comparison> {
    let Token::Sign(sign) = token else { return None };
    Some(match *sign {
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        "==" => Comparison::Equal,
        "!=" | "<>" => Comparison::NotEqual,
        _ => return None,
    })
}

fn one_or(mut parts: Vec<Expr>, many: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

fn chain(first: Expr, rest: Vec<(Binary, Expr)>) -> Expr {
    if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Number(n) => n.to_string(),
        Token::Quoted(text) => format!("\"{text}\""),
        Token::Word(word) => format!("'{word}'"),
        Token::Sign(sign) => format!("'{sign}'"),
    }
}
