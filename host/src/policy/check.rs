//! Rules ready to be asked: references resolved to numbers, so that a check never looks a name up.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{
    PolicyError, Table, Target, Text,
    parse::{self, Expr, Left, Part, Template},
};
use crate::context::RequestContext;

/// All tables' rules.
#[derive(Default)]
pub(super) struct Rules {
    all: Vec<Rule>,
    by_name: HashMap<String, usize>,
}

struct Rule {
    node: Node,
    scopes: Vec<&'static str>,
}

enum Node {
    Always,
    Never,
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Rule(usize),
    Role(Template),
    Equals(Left, Template),
}

/// The caller, as rules see him.
pub(super) struct Credentials<'a> {
    ctx: &'a RequestContext,
    admin: bool,
}

impl<'a> Credentials<'a> {
    pub fn new(ctx: &'a RequestContext) -> Self {
        Self { ctx, admin: ctx.is_admin() }
    }
    fn get(&self, name: &str) -> Option<&'a str> {
        let p = &self.ctx.principal;
        let value = match name {
            "project_id" | "tenant" | "tenant_id" => &p.project_id,
            "user_id" | "user" => &p.user_id,
            "user_name" => &p.user_name,
            "project_name" => &p.project_name,
            "domain_id" => &p.domain_id,
            "user_domain_id" => &p.user_domain_id,
            "project_domain_id" => &p.project_domain_id,
            "is_admin" => return Some(if self.admin { "True" } else { "False" }),
            "is_admin_project" => return Some("True"),
            "system_scope" => return p.system_scope.then_some("all"),
            _ => return None,
        };
        (!value.is_empty()).then_some(value.as_str())
    }
    fn scope(&self) -> &'static str {
        let p = &self.ctx.principal;
        match (p.system_scope, p.project_id.is_empty(), p.domain_id.is_empty()) {
            (true, ..) => "system",
            (_, false, _) => "project",
            (_, _, false) => "domain",
            _ => "none",
        }
    }
}

impl Rules {
    /// Adds one table: `service/name` always, the bare name unless an earlier table took it.
    pub fn add(&mut self, table: &Table) -> Result<(), PolicyError> {
        let base = self.all.len();
        let mut names: Vec<&String> = table.rules.keys().collect();
        names.sort();
        let index: HashMap<&str, usize> = names.iter().enumerate().map(|(n, name)| (name.as_str(), base + n)).collect();
        for name in &names {
            let text = &table.rules[*name];
            let refuse = |message: String| PolicyError::Refused { line: text.line, message: format!("the rule of '{name}': {message}") };
            let node = parse::rule(&text.rule).and_then(|expr| resolve(expr, &index)).map_err(refuse)?;
            self.all.push(Rule { node, scopes: text.scopes.clone() });
        }
        let mut sound = HashSet::new();
        for (name, at) in &index {
            if self.circular(*at, &mut Vec::new(), &mut sound) {
                let Text { line, .. } = &table.rules[*name];
                return Err(PolicyError::Refused {
                    line: *line,
                    message: format!("the rule of '{name}' refers to itself: break the circle"),
                });
            }
        }
        for (name, at) in index {
            self.by_name.insert(format!("{}/{name}", table.service), at);
            self.by_name.entry(name.to_owned()).or_insert(at);
        }
        Ok(())
    }

    pub fn knows(&self, action: &str) -> bool {
        self.by_name.contains_key(action)
    }

    /// None for an unknown action.
    pub fn allows(&self, action: &str, caller: &Credentials<'_>, target: &Target<'_>) -> Option<bool> {
        let rule = &self.all[*self.by_name.get(action)?];
        let in_scope = rule.scopes.is_empty() || rule.scopes.contains(&caller.scope());
        Some(in_scope && self.holds(&rule.node, caller, target))
    }

    fn holds(&self, node: &Node, caller: &Credentials<'_>, target: &Target<'_>) -> bool {
        match node {
            Node::Always => true,
            Node::Never => false,
            Node::Not(inner) => !self.holds(inner, caller, target),
            Node::And(all) => all.iter().all(|n| self.holds(n, caller, target)),
            Node::Or(any) => any.iter().any(|n| self.holds(n, caller, target)),
            Node::Rule(at) => self.holds(&self.all[*at].node, caller, target),
            Node::Role(role) => {
                fill(role, target).is_some_and(|role| caller.ctx.principal.roles.iter().any(|r| r.eq_ignore_ascii_case(&role)))
            }
            Node::Equals(left, right) => {
                let left = match left {
                    Left::Literal(text) => Some(text.as_str()),
                    Left::Attribute(name) => caller.get(name),
                };
                // an attribute that one side lacks never matches, not even the other side's lack
                left.is_some_and(|left| fill(right, target).is_some_and(|right| right == left))
            }
        }
    }

    /// Whether following the references from `at` comes back to a rule on the way.
    fn circular(&self, at: usize, way: &mut Vec<usize>, sound: &mut HashSet<usize>) -> bool {
        if way.contains(&at) {
            return true;
        }
        if sound.contains(&at) {
            return false;
        }
        way.push(at);
        let circular = references(&self.all[at].node).into_iter().any(|next| self.circular(next, way, sound));
        way.pop();
        sound.insert(at);
        circular
    }
}

fn references(node: &Node) -> Vec<usize> {
    match node {
        Node::Rule(at) => vec![*at],
        Node::Not(inner) => references(inner),
        Node::And(parts) | Node::Or(parts) => parts.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

fn resolve(expr: Expr, index: &HashMap<&str, usize>) -> Result<Node, String> {
    let all = |parts: Vec<Expr>| parts.into_iter().map(|e| resolve(e, index)).collect::<Result<Vec<_>, _>>();
    Ok(match expr {
        Expr::Always => Node::Always,
        Expr::Never => Node::Never,
        Expr::Not(inner) => Node::Not(Box::new(resolve(*inner, index)?)),
        Expr::And(parts) => Node::And(all(parts)?),
        Expr::Or(parts) => Node::Or(all(parts)?),
        Expr::Rule(name) => {
            Node::Rule(*index.get(name.as_str()).ok_or_else(|| format!("there is no rule '{name}': define it, or correct the name"))?)
        }
        Expr::Role(role) => Node::Role(role),
        Expr::Equals(left, right) => Node::Equals(left, right),
    })
}

fn fill<'x>(template: &'x Template, target: &Target<'x>) -> Option<Cow<'x, str>> {
    match template.0.as_slice() {
        [] => Some(Cow::Borrowed("")),
        [Part::Text(text)] => Some(Cow::Borrowed(text)),
        [Part::Target(name)] => target.get(name).map(Cow::Borrowed),
        parts => {
            let mut out = String::new();
            for part in parts {
                out.push_str(match part {
                    Part::Text(text) => text,
                    Part::Target(name) => target.get(name)?,
                });
            }
            Some(Cow::Owned(out))
        }
    }
}
