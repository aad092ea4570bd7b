//! `policy.yaml`: one flat mapping of names to rules, as oslo.policy's generator writes it.

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
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|e| refuse(e.marker().line(), format!("not valid YAML: {}: correct the line", e.info())))?;
        let line = line(span);
        match event {
            Event::MappingStart(..) if !inside => inside = true,
            Event::MappingEnd => inside = false,
            Event::Scalar(value, style, ..) if inside => match name.take() {
                None => name = Some((value.into_owned(), line)),
                Some((key, at)) => {
                    if let Some(first) = lines.insert(key.clone(), at) {
                        return Err(refuse(at, format!("'{key}' stands on line {first} too: keep one of them")));
                    }
                    // a bare `name:` is YAML's null; an empty rule is written ""
                    if value.is_empty() && style == ScalarStyle::Plain {
                        return Err(refuse(at, format!("'{key}' has no rule: write \"\" to allow everybody, or \"!\" to allow nobody")));
                    }
                    found.push(Override { name: key, rule: value.into_owned(), line: at });
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

fn line(span: Span) -> usize {
    span.start.line()
}

fn refuse(line: usize, message: String) -> PolicyError {
    PolicyError::Refused { line, message }
}
