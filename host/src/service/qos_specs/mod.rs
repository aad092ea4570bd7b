//! QoS specs and the types that have them. They reach the driver with every volume (consumer `back-end` or `both`) and
//! whoever attaches one with the connection (`front-end` or `both`), as they are at that moment.

pub mod associate;
pub mod change;
pub mod list;

use crate::{
    app::App,
    error::{Error, Result},
    store::sql::qos_specs::QosSpecs,
};

/// Their tombstones'.
const KIND: &str = "qos_specs";
/// Most pairs of one.
const MAX_PAIRS: usize = 64;

async fn load(app: &App, id: &str) -> Result<QosSpecs> {
    app.store.qos_specs(id).await?.ok_or_else(|| not_found(id))
}

fn not_found(id: &str) -> Error {
    Error::not_found(format!("No such QoS spec {id:.255}."))
}
