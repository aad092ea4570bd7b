//! docs/api-coverage.md and docs/share-api-coverage.md: every route of an API with the tests that had it succeed.
//!
//! A document is held to three things: it shows the route table as it is, every route has a test, and each test that it
//! names did have the route answer with success in this run. Which of many tests it names is left as it stands, so that a
//! new test changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use stowage::api::{
    self,
    route::{Access, Api, Route},
};

use crate::record;

/// Most tests named for one route.
const MOST_NAMED: usize = 2;
/// The share API has no extensions any more, so none is ever shown.
const NEVER_SUCCEEDS: &str = "GET /v2/extensions/{alias}";
const UPSTREAM_BLOCK: &str = include_str!("../upstream/block-operations.txt");
const UPSTREAM_SHARE: &str = include_str!("../upstream/share-operations.txt");

/// One operation of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// `POST /v3/volumes/{volume_id}/action`
    pub name: String,
    pub action: String,
    pub versions: String,
    pub policy: String,
}

/// Operation name and action to the tests that had it succeed.
pub type Proofs = BTreeMap<(String, String), BTreeSet<String>>;

/// The API's table in the document's order.
pub fn operations(of: Api) -> Vec<Operation> {
    let mut all: Vec<Operation> = api::routes(of).iter().map(operation).collect();
    all.sort();
    all
}

fn operation(route: &Route) -> Operation {
    let major = major(route.api);
    let since = format!("{major}.{}", route.since);
    let policy = match (route.access, route.policy) {
        (Access::Public, _) => "anybody".to_owned(),
        (Access::Token, "") => "any token".to_owned(),
        (Access::Token, names) => names.split(',').map(|n| format!("`{}`", n.trim())).collect::<Vec<_>>().join(" "),
    };
    Operation {
        name: record::operation(route),
        action: route.action.unwrap_or("-").to_owned(),
        versions: if route.until == u16::MAX { format!("{since} -") } else { format!("{since} - {major}.{}", route.until) },
        policy,
    }
}

/// What the files that [`record`] wrote in `folder` prove.
pub fn proofs(of: Api, folder: &Path) -> std::io::Result<Proofs> {
    let mut proofs = Proofs::new();
    for file in fs::read_dir(folder)? {
        for line in fs::read_to_string(file?.path())?.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [test, api, operation, action, _] = fields[..] else { continue };
            if api != of.name() {
                continue;
            }
            proofs.entry((operation.to_owned(), action.to_owned())).or_default().insert(test.to_owned());
        }
    }
    Ok(proofs)
}

/// The document's rows: what it says of the table, and the tests it names.
pub fn rows(document: &str) -> Vec<(Operation, Vec<String>)> {
    let cells = |line: &str| -> Option<Vec<String>> {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(inner.split(" | ").map(|c| c.trim().to_owned()).collect())
    };
    let served = document.split("## Not served").next().unwrap_or_default();
    served
        .lines()
        .filter_map(cells)
        .filter(|c| c.len() == 5 && c[0] != "operation" && !c[0].starts_with('-'))
        .map(|c| {
            let tests = c[4].split(' ').map(|t| t.trim_matches('`').to_owned()).filter(|t| !t.is_empty()).collect();
            (Operation { name: c[0].clone(), action: c[1].clone(), versions: c[2].clone(), policy: c[3].clone() }, tests)
        })
        .collect()
}

/// The document, with the tests that `before` names where they still prove something.
pub fn document(of: Api, before: &str, proofs: &Proofs) -> String {
    let named: BTreeMap<(String, String), Vec<String>> = rows(before).into_iter().map(|(o, tests)| ((o.name, o.action), tests)).collect();
    let mut text = format!(
        "# Coverage of the {} API\n\n\
         Generated from the route table and from what the test suites did (`make api-coverage`). A test counts for a route when it had the\n\
         route answer with success. `make test` fails when a route has no test, and when this page says something else than the table.\n\n\
         | operation | action | versions | policy | tests |\n|---|---|---|---|---|\n",
        of.name()
    );
    let own_suite = if of == Api::Share { "share_api::" } else { "api::" };
    let routes_of = |test: &String| proofs.values().filter(|tests| tests.contains(test)).count();
    for o in operations(of) {
        let key = (o.name.clone(), o.action.clone());
        let proven = proofs.get(&key).cloned().unwrap_or_default();
        let mut tests: Vec<String> = named.get(&key).into_iter().flatten().filter(|t| proven.contains(*t)).cloned().collect();
        let mut others: Vec<&String> = proven.iter().filter(|t| !tests.contains(t)).collect();
        // a test that walks the whole table says less of one route than one that is about it
        others.sort_by_key(|t| (!t.starts_with(own_suite), routes_of(t), (*t).clone()));
        tests.extend(others.into_iter().take(MOST_NAMED.saturating_sub(tests.len())).cloned());
        tests.truncate(MOST_NAMED);
        let tests: Vec<String> = tests.iter().map(|t| format!("`{t}`")).collect();
        text.push_str(&format!("| {} | {} | {} | {} | {} |\n", o.name, o.action, o.versions, o.policy, tests.join(" ")));
    }
    let peer = if of == Api::Share { "Manila 23" } else { "Cinder 29" };
    text.push_str(&format!("\n## Not served\n\nOperations of {peer} that are not there.\n\n"));
    for u in not_served(of) {
        let action = if u.action == "-" { String::new() } else { format!(" `{}`", u.action) };
        text.push_str(&format!("- {}{action}\n", u.operation()));
    }
    text
}

/// Upstream's operations that the table lacks.
fn not_served(of: Api) -> Vec<Upstream> {
    let ours: BTreeSet<(String, &str)> = api::routes(of).iter().map(|r| (bare(&record::operation(r)), r.action.unwrap_or("-"))).collect();
    let serves = |u: &Upstream| ours.iter().any(|(path, action)| *action == u.action && fits(path, &u.operation()));
    upstream(of).into_iter().filter(|u| !serves(u)).collect()
}

/// Whether a route of ours takes the path: where it has a parameter, it takes any word.
fn fits(ours: &str, theirs: &str) -> bool {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.split('/').collect(), theirs.split('/').collect());
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(o, t)| o == t || *o == "{}")
}

const fn major(of: Api) -> u8 {
    if matches!(of, Api::Share) { 2 } else { 3 }
}

/// Without the names of the path's parameters.
pub fn bare(operation: &str) -> String {
    operation.split('/').map(|s| if s.starts_with('{') { "{}" } else { s }).collect::<Vec<_>>().join("/")
}

/// A row of `upstream/block-operations.txt` or `upstream/share-operations.txt`.
#[derive(Debug, Clone, Copy)]
pub struct Upstream {
    pub method: &'static str,
    pub path: &'static str,
    pub action: &'static str,
    pub success: u16,
    pub role: &'static str,
}

impl Upstream {
    /// `GET /v3/volumes/{}`
    pub fn operation(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// Upstream's operations.
pub fn upstream(of: Api) -> Vec<Upstream> {
    let text = if of == Api::Share { UPSTREAM_SHARE } else { UPSTREAM_BLOCK };
    let row = |line: &'static str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [method, path, action, _, success, role] = fields[..] else { panic!("not six fields: {line}") };
        Upstream { method, path, action, success: success.parse().unwrap(), role }
    };
    text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).map(row).collect()
}

/// What is wrong with the document and the tests; nothing when all is well. Of suites that did not run nothing is said.
pub fn faults(of: Api, document: &str, proofs: &Proofs) -> Vec<String> {
    let mut faults = stale(of, document);
    let ran: BTreeSet<&str> = proofs.values().flatten().filter_map(|t| t.split("::").next()).collect();
    for o in operations(of).into_iter().filter(|o| o.name != NEVER_SUCCEEDS) {
        if proofs.get(&(o.name.clone(), o.action.clone())).is_none_or(BTreeSet::is_empty) {
            faults.push(format!("{} {}: no test had it succeed", o.name, o.action));
        }
    }
    for (o, tests) in rows(document) {
        let proven = proofs.get(&(o.name.clone(), o.action.clone()));
        for test in tests {
            let has_run = test.split("::").next().is_some_and(|suite| ran.contains(suite));
            if has_run && !proven.is_some_and(|p| p.contains(&test)) {
                faults.push(format!("{} {}: {test} did not have it succeed", o.name, o.action));
            }
        }
    }
    faults
}

/// How the document differs from the route table.
pub fn stale(of: Api, document: &str) -> Vec<String> {
    let shown: BTreeSet<Operation> = rows(document).into_iter().map(|(o, _)| o).collect();
    let real: BTreeSet<Operation> = operations(of).into_iter().collect();
    let missing = real.difference(&shown).map(|o| format!("{} {}: the page lacks it or shows it differently", o.name, o.action));
    let gone = shown.difference(&real).map(|o| format!("{} {}: the page shows it, the table does not have it so", o.name, o.action));
    missing.chain(gone).collect()
}
