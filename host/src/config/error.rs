//! Why a configuration was refused, as an operator can act on it.

use std::{fmt, io, ops::Range, path::PathBuf};

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// From 1; 0 when the finding is about the whole file.
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// What to do.
    pub remedy: String,
    /// The line itself; shown only when no secret can stand in it.
    #[serde(skip)]
    pub excerpt: String,
}

impl Finding {
    /// No secret can stand in its line: no table with one, no URL with a user.
    fn may_be_quoted(&self) -> bool {
        let user = |(_, rest): (&str, &str)| rest.split('/').next().is_some_and(|authority| authority.contains('@'));
        let line = self.excerpt.as_str();
        !line.is_empty() && !line.contains('{') && !self.message.contains("secret") && !line.split_once("://").is_some_and(user)
    }
}

#[derive(Debug)]
pub enum ConfigError {
    Read {
        path: PathBuf,
        source: io::Error,
    },
    Refused {
        path: PathBuf,
        findings: Vec<Finding>,
    },
    /// Neither `$XDG_STATE_HOME` nor `$HOME` says where state may live.
    NoStateFolder,
}

impl Finding {
    pub(super) fn at(text: &str, span: Option<Range<usize>>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (message, remedy) = (message.into(), remedy.into());
        let Some(span) = span else { return Self { line: 0, column: 0, message, remedy, excerpt: String::new() } };
        let before = text.get(..span.start).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        let excerpt = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().to_owned();
        Self { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1, message, remedy, excerpt }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => write!(f, "{}: cannot be read: {source}", path.display()),
            Self::NoStateFolder => f.write_str("no folder for the state: set --state-dir, STOWAGE_STATE_DIR, XDG_STATE_HOME or HOME"),
            Self::Refused { path, findings } => {
                for (n, finding) in findings.iter().enumerate() {
                    if n > 0 {
                        writeln!(f)?;
                    }
                    write!(f, "{}", path.display())?;
                    if finding.line > 0 {
                        write!(f, ":{}:{}", finding.line, finding.column)?;
                    }
                    write!(f, ": {}", finding.message)?;
                    if finding.may_be_quoted() {
                        let gutter = finding.line.to_string();
                        let caret = " ".repeat(finding.column.saturating_sub(1));
                        write!(f, "\n  {gutter} | {}\n  {} | {caret}^", finding.excerpt, " ".repeat(gutter.len()))?;
                    }
                    if !finding.remedy.is_empty() {
                        write!(f, "\n  remedy: {}", finding.remedy)?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
