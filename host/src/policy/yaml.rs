//! `policy.yaml`: one flat mapping of names to rules, as oslo.policy's generator writes it. A rule is a text, or in the older
//! form a list: one of its elements must hold, and of an element that is a list itself all of its checks.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::PolicyError;

/// One entry of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// `volume:create`, or `share/message:get` for one service's table only.
    pub name: String,
    pub rule: String,
    pub line: usize,
}

/// Reads the file's entries. An empty file, or one of comments only, has none.
pub(super) fn overrides(text: &str) -> Result<Vec<Override>, PolicyError> {
    let mut found: Vec<Override> = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    let (mut inside, mut name) = (false, None::<(String, usize)>);
    let mut list = None::<List>;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| refuse(e.marker().line(), format!("not valid YAML: {}: correct the line", e.info())))?;
        let line = line(span);
        match event {
            Event::SequenceStart(..) if name.is_some() => match &mut list {
                None => list = Some(List::default()),
                Some(list) if list.inner.is_none() => list.inner = Some(Vec::new()),
                Some(_) => return Err(refuse(line, "a rule's list holds checks and lists of checks, nothing deeper".into())),
            },
            Event::SequenceEnd => match list.take() {
                Some(mut open) if open.inner.is_some() => {
                    open.any.push(open.inner.take().unwrap_or_default());
                    list = Some(open);
                }
                Some(closed) => {
                    let Some((key, at)) = name.take() else { continue };
                    found.push(entry(&mut lines, key, at, closed.rule())?);
                }
                None => {}
            },
            Event::Scalar(value, ..) if list.is_some() => {
                if value.split_whitespace().count() != 1 {
                    return Err(refuse(line, format!("'{value}' in a list is not one check such as 'role:admin'")));
                }
                let Some(list) = &mut list else { continue };
                match &mut list.inner {
                    Some(all) => all.push(value.into_owned()),
                    None => list.any.push(vec![value.into_owned()]),
                }
            }
            Event::MappingStart(..) if !inside => inside = true,
            Event::MappingEnd => inside = false,
            Event::Scalar(value, style, ..) if inside => match name.take() {
                None => name = Some((value.into_owned(), line)),
                Some((key, at)) => {
                    // a bare `name:` is YAML's null; an empty rule is written ""
                    if value.is_empty() && style == ScalarStyle::Plain {
                        return Err(refuse(at, format!("'{key}' has no rule: write \"\" to allow everybody, or \"!\" to allow nobody")));
                    }
                    found.push(entry(&mut lines, key, at, value.into_owned())?);
                }
            },
            Event::Scalar(value, ..) if value.is_empty() => {}
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_) => {
                return Err(refuse(
                    line,
                    "only lines of the form \"name\": \"rule\" are read here; rewrite this as one rule in the and/or/not language".into(),
                ));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A rule in the older form.
#[derive(Default)]
struct List {
    any: Vec<Vec<String>>,
    /// The inner list that is being read.
    inner: Option<Vec<String>>,
}

impl List {
    /// As one rule. An empty list allows everybody, a list of empty lists nobody: so oslo.policy reads them.
    fn rule(self) -> String {
        if self.any.is_empty() {
            return "@".to_owned();
        }
        let parts: Vec<String> = self.any.iter().filter(|all| !all.is_empty()).map(|all| format!("({})", all.join(" and "))).collect();
        if parts.is_empty() { "!".to_owned() } else { parts.join(" or ") }
    }
}

fn entry(lines: &mut HashMap<String, usize>, name: String, line: usize, rule: String) -> Result<Override, PolicyError> {
    match lines.insert(name.clone(), line) {
        Some(first) => Err(refuse(line, format!("'{name}' stands on line {first} too: keep one of them"))),
        None => Ok(Override { name, rule, line }),
    }
}

fn line(span: Span) -> usize {
    span.start.line()
}

fn refuse(line: usize, message: String) -> PolicyError {
    PolicyError::Refused { line, message }
}
