//! Which test had which route answer with success: the ground of the coverage pages.
//!
//! With `STOWAGE_TEST_ROUTES` set to a folder, every success that a [`Client`](crate::Client) sees is written there: one file a
//! process, one line `test, API, operation, action, minor version` a fact. An answer counts when its status is the one
//! that the route table promises; that a route refuses something is no proof that it works.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::Write as _,
    path::PathBuf,
    sync::{Mutex, OnceLock},
};

use http::Method;
use stowage::api::{
    self,
    route::{Api, Route},
    target,
    tree::Tree,
};

/// Where to, if anywhere.
pub const FOLDER: &str = "STOWAGE_TEST_ROUTES";

/// A request as the route table sees it.
pub struct Sent<'a> {
    pub api: Api,
    pub method: &'a Method,
    pub url: &'a str,
    pub minor: u16,
    pub body: &'a [u8],
    pub status: u16,
}

struct Recorder {
    file: Mutex<(File, HashSet<String>)>,
    tables: [(Api, Tree, Tree); 4],
}

/// Notes the request if it proves a route.
pub fn note(sent: &Sent<'_>) {
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    let Some(recorder) = RECORDER.get_or_init(Recorder::open) else { return };
    let Some(route) = recorder.route(sent) else { return };
    if route.success != sent.status {
        return;
    }
    let line = [&test_name(), sent.api.name(), &operation(&route), route.action.unwrap_or("-"), &sent.minor.to_string()].join("\t");
    let mut open = recorder.file.lock().unwrap();
    if open.1.insert(line.clone()) {
        writeln!(open.0, "{line}").unwrap();
    }
}

/// `POST /v3/volumes/{volume_id}/action`; rooted paths as they are.
pub fn operation(route: &Route) -> String {
    match (route.rooted, route.path) {
        (true, path) => format!("{} {path}", verb(route)),
        (false, path) => format!("{} /{}{path}", verb(route), route.api.root()),
    }
}

fn verb(route: &Route) -> &'static str {
    match route.method {
        api::route::Verb::Get => "GET",
        api::route::Verb::Head => "HEAD",
        api::route::Verb::Post => "POST",
        api::route::Verb::Put => "PUT",
        api::route::Verb::Patch => "PATCH",
        api::route::Verb::Delete => "DELETE",
    }
}

impl Recorder {
    fn open() -> Option<Self> {
        let folder = PathBuf::from(std::env::var_os(FOLDER)?);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{}.{}.tsv", suite(), std::process::id()));
        let file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        let table = |api| {
            let routes = api::routes(api);
            (api, Tree::new(routes.iter().filter(|r| !r.rooted)), Tree::new(routes.iter().filter(|r| r.rooted)))
        };
        Some(Self { file: Mutex::new((file, HashSet::new())), tables: [Api::Block, Api::Share, Api::Identity, Api::Admin].map(table) })
    }

    fn route(&self, sent: &Sent<'_>) -> Option<Route> {
        let (_, below, rooted) = self.tables.iter().find(|(api, ..)| *api == sent.api)?;
        let url = target::path(sent.api, &sent.url.parse().ok()?)?;
        let found = if url.below_root { below } else { rooted }.find(&url.segments, sent.method)?;
        let key = serde_json::from_slice::<serde_json::Value>(sent.body).ok();
        let key = key.as_ref().and_then(|b| b.as_object()?.keys().next().cloned());
        let fits = |r: &&&Route| r.since <= sent.minor && sent.minor <= r.until && (r.action.is_none() || r.action == key.as_deref());
        found.rows.iter().find(fits).map(|r| **r)
    }
}

/// The test binary's name without cargo's hash.
fn suite() -> String {
    let binary = std::env::current_exe().unwrap();
    let stem = binary.file_stem().unwrap().to_string_lossy().into_owned();
    stem.rsplit_once('-').map_or(stem.clone(), |(name, _)| name.to_owned())
}

/// `suite::module::test`: nextest runs one test a process and names it; cargo's runner names the thread.
fn test_name() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let exact = arguments.iter().any(|a| a == "--exact").then(|| arguments.iter().find(|a| !a.starts_with('-')).cloned()).flatten();
    let thread = || std::thread::current().name().filter(|n| *n != "main" && !n.starts_with("tokio")).map(str::to_owned);
    let test = exact.or_else(thread);
    test.map_or_else(suite, |test| format!("{}::{test}", suite()))
}
