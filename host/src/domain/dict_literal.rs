//! The dictionary that clients put into a query string: `{'key': 'value'}`, as Python prints it, or the same as JSON.
//!
//! Keys and values may be quoted with either quote; numbers, `True`, `False` and `None` are taken as the text they print as.

/// The pairs of a dictionary literal; none when it is not one.
pub fn parse(text: &str) -> Option<Vec<(String, String)>> {
    let mut rest = Cursor { chars: text.trim().chars().peekable() };
    rest.expect('{')?;
    let mut pairs = Vec::new();
    loop {
        rest.blanks();
        if rest.take('}') {
            break;
        }
        let key = rest.word()?;
        rest.blanks();
        rest.expect(':')?;
        rest.blanks();
        let value = rest.word()?;
        pairs.push((key, value));
        rest.blanks();
        if rest.take(',') {
            continue;
        }
        rest.expect('}')?;
        break;
    }
    rest.blanks();
    rest.chars.peek().is_none().then_some(pairs)
}

struct Cursor<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Cursor<'_> {
    fn blanks(&mut self) {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
    }
    fn take(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }
    fn expect(&mut self, wanted: char) -> Option<()> {
        self.take(wanted).then_some(())
    }
    fn word(&mut self) -> Option<String> {
        // Python 2 clients write u'...'
        if self.chars.peek() == Some(&'u') {
            let mut ahead = self.chars.clone();
            ahead.next();
            if matches!(ahead.peek(), Some('\'' | '"')) {
                self.chars.next();
            }
        }
        match self.chars.peek()? {
            quote @ ('\'' | '"') => {
                let quote = *quote;
                self.chars.next();
                self.quoted(quote)
            }
            _ => self.bare(),
        }
    }
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut out = String::new();
        loop {
            match self.chars.next()? {
                '\\' => match self.chars.next()? {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'u' => {
                        let digits: String = (0..4).map_while(|_| self.chars.next()).collect();
                        out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                    }
                    other => out.push(other),
                },
                c if c == quote => return Some(out),
                c => out.push(c),
            }
        }
    }
    fn bare(&mut self) -> Option<String> {
        let mut out = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || "-+._".contains(*c)) {
            out.push(c);
        }
        (!out.is_empty()).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Option<Vec<(String, String)>> {
        parse(text)
    }
    fn one(key: &str, value: &str) -> Option<Vec<(String, String)>> {
        Some(vec![(key.into(), value.into())])
    }

    #[test]
    fn python_and_json_spellings_are_read() {
        assert_eq!(pairs("{'key1': 'value1'}"), one("key1", "value1"));
        assert_eq!(pairs(r#"{"k": "v"}"#), one("k", "v"));
        assert_eq!(pairs("{u'k': u'v'}"), one("k", "v"));
        assert_eq!(pairs("{'a': 'x', 'b': 'y',}").map(|p| p.len()), Some(2));
        assert_eq!(pairs("{}"), Some(vec![]));
        assert_eq!(pairs(r"{'a': 'it\'s'}"), one("a", "it's"));
        assert_eq!(pairs("{'n': 1, 'b': True}").map(|p| p[1].1.clone()), Some("True".into()));
        assert_eq!(pairs("{'k': '值'}"), one("k", "值"));
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in ["", "{", "k=v", "{'a'}", "{'a': }", "{'a': 'b'} x", "['a']", "{'a': {'b': 'c'}}", "{'a': 'b'", r"{'a': '\ud800'}", "null"] {
            assert_eq!(pairs(bad), None, "{bad:?}");
        }
    }
}
