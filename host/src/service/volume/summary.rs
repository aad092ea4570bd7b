//! `GET /volumes/summary`: count, sum of sizes, and from 3.36 every distinct metadata value by key.

use std::collections::BTreeMap;

use super::list::ListVolumes;
use crate::{app::App, context::RequestContext, error::Result};

#[derive(Debug, Clone, Default)]
pub struct Summary {
    pub count: i64,
    pub size_gib: i64,
    pub metadata: BTreeMap<String, Vec<String>>,
}

/// # Errors
/// As for lists.
pub async fn summary(app: &App, ctx: &RequestContext, ask: &ListVolumes) -> Result<Summary> {
    let filters = ask.scoped(app, ctx)?;
    let (count, size_gib) = app.store.volume_totals(&filters).await?;
    let mut metadata: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if ctx.microversion >= 36 {
        for (key, value) in app.store.volume_metadata_pairs(&filters).await? {
            metadata.entry(key).or_default().push(value);
        }
    }
    Ok(Summary { count, size_gib, metadata })
}
