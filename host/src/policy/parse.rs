//! oslo.policy's rule language: `and`, `or`, `not`, parentheses, `@`, `!`, `role:x`, `rule:x`, `attribute:value`.
//!
//! `not` binds closer than `and`, `and` closer than `or`. An empty rule allows everybody. `http:` checks are refused: a
//! policy decision never waits for another service.

/// A rule as a tree. References are still names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expr {
    Always,
    Never,
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Rule(String),
    Role(Template),
    /// The caller's attribute, or a literal, equals this text.
    Equals(Left, Template),
}

/// The left side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Left {
    Attribute(String),
    Literal(String),
}

/// Text with `%(name)s` places filled from the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(pub Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Target(String),
}

/// Parses one rule. The error says what is wrong and what is expected.
pub(super) fn rule(text: &str) -> Result<Expr, String> {
    if text.trim().is_empty() {
        return Ok(Expr::Always);
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let expr = parser.any()?;
    match parser.peek() {
        None => Ok(expr),
        Some(Token::Close) => Err("a ')' has no '(' before it: remove it".into()),
        Some(other) => Err(format!("'{}' stands where 'and' or 'or' is expected", other.text())),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Check(String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Open => "(",
            Self::Close => ")",
            Self::And => "and",
            Self::Or => "or",
            Self::Not => "not",
            Self::Check(text) => text,
        }
    }
}

/// Words split at white space; leading '(' and trailing ')' are tokens of their own, except those of `%(name)s`.
fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    for word in words(text)? {
        let inner = word.trim_start_matches('(');
        out.extend(std::iter::repeat_n(Token::Open, word.len() - inner.len()));
        let check = inner.trim_end_matches(')');
        match check.to_ascii_lowercase().as_str() {
            "" => {}
            "and" => out.push(Token::And),
            "or" => out.push(Token::Or),
            "not" => out.push(Token::Not),
            _ => out.push(Token::Check(check.to_owned())),
        }
        out.extend(std::iter::repeat_n(Token::Close, inner.len() - check.len()));
    }
    Ok(out)
}

/// White space inside quotes does not split.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match quote {
            Some(q) => {
                word.push(c);
                if c == q {
                    quote = None;
                }
            }
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            None => {
                if c == '\'' || c == '"' {
                    quote = Some(c);
                }
                word.push(c);
            }
        }
    }
    if let Some(q) = quote {
        return Err(format!("a {q} is not closed"));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }
    fn take(&mut self, token: &Token) -> bool {
        let hit = self.peek() == Some(token);
        self.at += usize::from(hit);
        hit
    }
    fn any(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.all()?];
        while self.take(&Token::Or) {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Or))
    }
    fn all(&mut self) -> Result<Expr, String> {
        let mut parts = vec![self.unary()?];
        while self.take(&Token::And) {
            parts.push(self.unary()?);
        }
        Ok(one_or(parts, Expr::And))
    }
    fn unary(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > 100 {
            return Err("the rule is nested too deeply".into());
        }
        let expr = self.unary_inner();
        self.depth -= 1;
        expr
    }
    fn unary_inner(&mut self) -> Result<Expr, String> {
        let Some(token) = self.peek() else { return Err("the rule ends where a check such as 'role:admin' is expected".into()) };
        self.at += 1;
        match token {
            Token::Not => Ok(Expr::Not(Box::new(self.unary()?))),
            Token::Open => {
                let inner = self.any()?;
                if self.take(&Token::Close) { Ok(inner) } else { Err("a '(' is not closed".into()) }
            }
            Token::Check(text) => check(text),
            other => Err(format!("'{}' stands where a check such as 'role:admin' is expected", other.text())),
        }
    }
}

fn one_or(mut parts: Vec<Expr>, many: fn(Vec<Expr>) -> Expr) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

fn check(text: &str) -> Result<Expr, String> {
    match text {
        "@" => return Ok(Expr::Always),
        "!" => return Ok(Expr::Never),
        _ => {}
    }
    let Some((kind, value)) = split_check(text) else {
        return Err(format!("'{text}' is no check: write 'kind:value', '@' or '!'"));
    };
    match kind {
        "rule" => Ok(Expr::Rule(value.to_owned())),
        "role" => Ok(Expr::Role(template(&value.to_lowercase())?)),
        "http" | "https" => Err(format!("'{kind}:' checks are not supported: a policy decision does not call other services")),
        "" => Err(format!("'{text}' has nothing before its ':'")),
        _ => Ok(Expr::Equals(left(kind), template(value)?)),
    }
}

/// At the first ':' outside quotes.
fn split_check(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let end = text[1..].find(quote)? + 2;
        return Some((&text[..end], text[end..].strip_prefix(':')?));
    }
    text.split_once(':')
}

fn left(kind: &str) -> Left {
    let quoted = |q: char| kind.strip_prefix(q).and_then(|k| k.strip_suffix(q));
    match quoted('\'').or_else(|| quoted('"')) {
        Some(literal) => Left::Literal(literal.to_owned()),
        None if matches!(kind, "True" | "False" | "None") || kind.parse::<f64>().is_ok() => Left::Literal(kind.to_owned()),
        None => Left::Attribute(kind.to_owned()),
    }
}

fn template(text: &str) -> Result<Template, String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find("%(") {
        let end = rest[at..].find(")s").map(|n| n + at).ok_or_else(|| format!("'{text}' has a '%(' without ')s'"))?;
        if at > 0 {
            parts.push(Part::Text(rest[..at].to_owned()));
        }
        parts.push(Part::Target(rest[at + 2..end].to_owned()));
        rest = &rest[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(Template(parts))
}
