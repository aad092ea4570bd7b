//! Lists against a brute-force model: for every filter, sort key, direction, page size and offset the same items in the same
//! order, walked by the links of the pages; for volumes, snapshots, attachments, types, messages and services, on both
//! databases. The seed is printed; `STOWAGE_TEST_SEED` repeats it.

mod churn;
mod model;
mod seed;
mod services;

use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use serde_json::Value;
use stowage::api::route::Api;
use support::{Client, Persona, TestApp, db, postgres};

use model::{Asked, List};

/// Random queries of one list on one database.
const CASES: u32 = 60;

pub fn chosen_seed() -> u64 {
    let seed = std::env::var("STOWAGE_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(rand::random::<u64>);
    eprintln!("STOWAGE_TEST_SEED={seed}");
    seed
}

/// The service on each database that is asked for, with the parts of names allowed as filters.
pub async fn on_databases<F: Future<Output = ()>>(body: impl Fn(TestApp, seed::Raw) -> F) {
    let builder = || TestApp::builder().backends([]).config(|c| c.block.resource_filters = parts_too());
    if db::is_wanted("sqlite") {
        let app = builder().start().await;
        let raw = seed::Raw::sqlite(&app.state_dir().join("stowage.db")).await;
        body(app, raw).await;
    }
    if db::is_wanted("postgres") {
        let database = postgres::database().await;
        let app = builder().database(database.url.clone()).start().await;
        let raw = seed::Raw::postgres(&database.url).await;
        body(app, raw).await;
        drop(database);
    }
}

/// The shipped table, with `~` at every filter by text.
fn parts_too() -> stowage::config::filters::ResourceFilters {
    let mut table = stowage::config::filters::default_table();
    let whole = ["metadata", "bootable", "size", "created_at", "updated_at", "consumes_quota", "is_public", "extra_specs", "volume_type"];
    for filter in table.values_mut().flatten().filter(|f| !whole.contains(&f.as_str())) {
        filter.push('~');
    }
    table
}

/// Walks a list by its links.
pub async fn walk(client: &Client, list: &List, query: &str) -> (Vec<String>, Option<i64>) {
    let mut path = format!("{}?{query}", list.path);
    let (mut seen, mut count) = (Vec::new(), None);
    loop {
        let page = client.get(&path).await.expect(200);
        count = page["count"].as_i64().or(count);
        seen.extend(ids(&page, list));
        assert!(seen.len() <= 500, "the pages of {query} go round in circles");
        let Some(next) = page[list.links][0]["href"].as_str() else { return (seen, count) };
        path = next.split_once("/v3").unwrap().1.to_owned();
    }
}

pub fn ids(page: &Value, list: &List) -> Vec<String> {
    let items = page[list.collection].as_array().unwrap_or_else(|| panic!("no {} in {page}", list.collection));
    items.iter().map(|i| i["id"].as_str().unwrap().to_owned()).collect()
}

/// Asks one list many random questions, as a user and as an operator.
async fn agrees(app: &TestApp, raw: &mut seed::Raw, list: &List, seed: u64) {
    let member = app.client(Api::Block, Persona::Member).await.at("3.71");
    let operator = app.client(Api::Block, Persona::Admin).await.at("3.71");
    let rows = (list.seed)(app, raw, &member.project_id, &operator.project_id, seed).await;
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let sorts = proptest::collection::vec((0..list.sorts.len(), any::<bool>()), 0..3);
    let filters = proptest::collection::vec((0..list.filters.len(), any::<u16>(), 0_u8..4), 0..3);
    let cases = (any::<bool>(), sorts, filters, 1_usize..14, prop_oneof![3 => Just(0_usize), 1 => 1..9_usize]);
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        let outcome = runner.run(&cases, |(admin, sorts, filters, limit, offset)| {
            let client = if admin { &operator } else { &member };
            let asked = Asked::new(list, &rows, admin, &client.project_id, &sorts, &filters);
            let query = format!("limit={limit}&offset={offset}{}", asked.query);
            let (walked, count) = runtime.block_on(walk(client, list, &query));
            let expected = asked.expected(&rows);
            let after: Vec<String> = expected.iter().skip(offset).cloned().collect();
            prop_assert_eq!(&walked, &after, "{}?{} (admin: {})", list.path, query, admin);
            if list.counted {
                prop_assert_eq!(count, Some(i64::try_from(expected.len()).unwrap()), "{}?{}", list.path, query);
            }
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("STOWAGE_TEST_SEED={seed}: {e}"));
    });
}

macro_rules! lists {
    ($($name:ident: $list:expr;)+) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let seed = chosen_seed();
            on_databases(|app, mut raw| async move { agrees(&app, &mut raw, &$list, seed).await }).await;
        }
    )+ };
}

lists! {
    volumes_are_listed_as_the_model_lists_them: model::VOLUMES;
    snapshots_are_listed_as_the_model_lists_them: model::SNAPSHOTS;
    attachments_are_listed_as_the_model_lists_them: model::ATTACHMENTS;
    types_are_listed_as_the_model_lists_them: model::TYPES;
    messages_are_listed_as_the_model_lists_them: model::MESSAGES;
}
