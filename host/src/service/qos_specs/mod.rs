//! QoS specs and the types that have them. They reach the driver with every volume (consumer `back-end` or `both`) and
//! whoever attaches one with the connection (`front-end` or `both`), as they are at that moment.

pub mod associate;
pub mod change;
pub mod list;

use crate::{
    app::App,
    error::{Error, Result},
    store::{Tx, sql::qos_specs::QosSpecs},
};

/// Their tombstones'.
const KIND: &str = "qos_specs";
/// Most pairs of one.
const MAX_PAIRS: usize = 64;

async fn load(app: &App, id: &str) -> Result<QosSpecs> {
    app.store.qos_specs(id).await?.ok_or_else(|| not_found(id))
}

/// A transaction that holds them: who changes them, or who has them, does so one at a time.
async fn hold(app: &App, id: &str) -> Result<Tx> {
    let mut tx = app.store.begin().await?;
    if tx.qos_specs_hold(id).await? { Ok(tx) } else { Err(not_found(id)) }
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("No such QoS spec {id:.255}."))
}
