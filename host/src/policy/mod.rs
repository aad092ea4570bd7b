//! Who may do what: upstream's action names and defaults, the operator's `policy.yaml` over them.
//!
//! Rules are parsed and their references resolved when they are loaded; a check walks a small tree and allocates only where
//! a rule compares with text it has to put together. A file that is not wholly right changes nothing: the rules in force
//! stay. An action that no table has is refused, and logged as our mistake. A name in the file that is no policy of ours is
//! told as a warning: a file may serve several releases.
//!
//! The block and share tables share a few names (`message:get`). A bare name means the block table's; `share/message:get`
//! is the share table's. An override of a bare name applies to every table that has it.

mod check;
mod defaults;
mod parse;
mod yaml;

use std::{collections::HashMap, path::Path, sync::Arc};

use arc_swap::ArcSwap;

use crate::{
    context::RequestContext,
    error::{Error, Result},
};
use check::{Credentials, Rules};
pub use yaml::Override;

/// What an action is about: the attributes that rules compare with the caller's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target<'a> {
    pub project_id: &'a str,
    pub user_id: &'a str,
    /// Further attributes that a rule may name.
    pub attributes: &'a [(&'a str, &'a str)],
}

impl<'a> Target<'a> {
    /// Something of the caller's own: what a create, or a list of one's own things, is about.
    pub fn own(ctx: &'a RequestContext) -> Self {
        Self { project_id: ctx.project_id(), user_id: &ctx.principal.user_id, attributes: &[] }
    }
    /// Something that belongs to a project.
    pub fn project(project_id: &'a str) -> Self {
        Self { project_id, ..Self::default() }
    }
    pub(in crate::policy) fn get(&self, name: &str) -> Option<&'a str> {
        let value = match name {
            "project_id" | "tenant_id" => self.project_id,
            "user_id" => self.user_id,
            _ => self.attributes.iter().find(|(n, _)| *n == name)?.1,
        };
        (!value.is_empty()).then_some(value)
    }
}

/// The rules in force. Shared; replaced as a whole.
pub struct Policy {
    rules: ArcSwap<Rules>,
    warnings: ArcSwap<Vec<String>>,
}

/// Why a policy file was refused.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("cannot read the policy file {path}: give Stowage read permission, or remove `policy.file` from its configuration")]
    Unreadable {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("line {line}: {message}")]
    Refused { line: usize, message: String },
}

impl Policy {
    /// The shipped defaults with the overrides of `file`.
    ///
    /// # Errors
    /// [`PolicyError`] with line and remedy.
    pub fn load(file: Option<&Path>) -> Result<Self, PolicyError> {
        Ok(Self::of(build(&read(file)?)?))
    }

    fn of((rules, warnings): (Rules, Vec<String>)) -> Self {
        Self { rules: ArcSwap::from_pointee(rules), warnings: ArcSwap::from_pointee(warnings) }
    }

    /// What the file in force says in vain, line by line.
    pub fn warnings(&self) -> Arc<Vec<String>> {
        self.warnings.load_full()
    }

    /// Reads the file again. On an error the rules in force stay. Reads a file: not for a thread of the runtime.
    ///
    /// # Errors
    /// As [`Policy::load`].
    pub fn reload(&self, file: Option<&Path>) -> Result<(), PolicyError> {
        let (rules, warnings) = build(&read(file)?)?;
        self.rules.store(Arc::new(rules));
        self.warnings.store(Arc::new(warnings));
        Ok(())
    }

    /// As [`Policy::load`], from text.
    ///
    /// # Errors
    /// [`PolicyError::Refused`].
    pub fn from_yaml(text: &str) -> Result<Self, PolicyError> {
        Ok(Self::of(build(&yaml::overrides(text)?)?))
    }

    /// Refuses what the caller may not do.
    ///
    /// # Errors
    /// [`Kind::Forbidden`](crate::error::Kind::Forbidden).
    pub fn check(&self, ctx: &RequestContext, action: &str, target: &Target<'_>) -> Result<()> {
        if self.allows(ctx, action, target) {
            return Ok(());
        }
        let shown = action.strip_prefix("share/").unwrap_or(action);
        Err(Error::forbidden(format!("Policy doesn't allow {shown} to be performed.")))
    }

    /// Whether the caller may: for fields that only some callers see.
    pub fn allows(&self, ctx: &RequestContext, action: &str, target: &Target<'_>) -> bool {
        let rules = self.rules.load();
        let Some(allowed) = rules.allows(action, &Credentials::new(ctx), target) else {
            tracing::error!(action, "a policy action that no table has was asked for, and refused");
            return false;
        };
        allowed
    }

    /// Whether some table has this action.
    pub fn knows(&self, action: &str) -> bool {
        self.rules.load().knows(action)
    }
}

fn read(file: Option<&Path>) -> Result<Vec<Override>, PolicyError> {
    let Some(path) = file else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(path).map_err(|source| PolicyError::Unreadable { path: path.display().to_string(), source })?;
    yaml::overrides(&text)
}

/// Default tables and overrides to rules with what was said in vain, or the first thing that is wrong.
fn build(overrides: &[Override]) -> Result<(Rules, Vec<String>), PolicyError> {
    let mut tables = defaults::tables();
    let warnings = apply(&mut tables, overrides);
    let mut rules = Rules::default();
    for table in &tables {
        rules.add(table)?;
    }
    for warning in &warnings {
        tracing::warn!("the policy file: {warning}");
    }
    Ok((rules, warnings))
}

/// One service's rules as text, by name.
struct Table {
    service: &'static str,
    rules: HashMap<String, Text>,
}

/// A rule as it was written.
#[derive(Debug, Clone)]
struct Text {
    rule: String,
    /// Token scopes that may ask at all; empty for any.
    scopes: Vec<&'static str>,
    /// The line of `policy.yaml`; 0 for a default.
    line: usize,
}

fn apply(tables: &mut [Table], overrides: &[Override]) -> Vec<String> {
    let mut warnings = Vec::new();
    for entry in overrides {
        let (service, name) = entry.name.split_once('/').map_or((None, entry.name.as_str()), |(s, n)| (Some(s), n));
        let mut hit = false;
        for table in tables.iter_mut().filter(|t| service.is_none_or(|s| s == t.service)) {
            if let Some(known) = table.rules.get_mut(name) {
                known.rule.clone_from(&entry.rule);
                known.line = entry.line;
                hit = true;
            }
        }
        if !hit {
            warnings.extend(add_helper(tables, overrides, entry));
        }
    }
    warnings
}

/// A name no table has: a rule of the operator's own if another override refers to it, else said in vain.
fn add_helper(tables: &mut [Table], overrides: &[Override], entry: &Override) -> Option<String> {
    let reference = format!("rule:{}", entry.name);
    let used = overrides.iter().any(|o| o.rule.split([' ', '(', ')']).any(|word| word == reference));
    if !used || entry.name.contains('/') {
        return Some(format!("line {}: {}", entry.line, unknown_name(tables, &entry.name)));
    }
    for table in tables {
        table.rules.insert(entry.name.clone(), Text { rule: entry.rule.clone(), scopes: Vec::new(), line: entry.line });
    }
    None
}

fn unknown_name(tables: &[Table], name: &str) -> String {
    let near = tables.iter().flat_map(|t| t.rules.keys()).min_by_key(|known| distance(known, name));
    let hint = near.map(|n| format!("; the nearest name is '{n}'")).unwrap_or_default();
    format!("'{name}' is no policy and no other rule uses it{hint}: correct the name or remove the line")
}

/// Edits between two names (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let best = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
