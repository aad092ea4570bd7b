//! `POST /types`.

use uuid::Uuid;

use super::{authorise, check_required, check_spec_count, check_specs};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    domain::share_type::tidied,
    error::{Error, Result},
    service::type_event::{self, Change},
    store::{
        StoreError,
        sql::types::{Type, TypeOf, TypeRow},
    },
};

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct CreateType {
    pub name: String,
    pub description: Option<String>,
    pub is_public: bool,
    pub specs: Vec<(String, String)>,
}

/// # Errors
/// 400 for specs that cannot work or lack the required one, 403, 409 for a taken name.
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateType) -> Result<Type> {
    authorise(app, ctx, "share_type:create")?;
    check_required(&ask.specs)?;
    check_specs(&ask.specs)?;
    check_spec_count(ask.specs.len())?;
    let mut specs: Vec<(String, String)> = ask.specs.into_iter().map(|(k, v)| (k.clone(), tidied(&k, &v))).collect();
    specs.sort();
    let row = TypeRow {
        id: Uuid::new_v4().to_string(),
        name: ask.name,
        description: ask.description,
        is_public: ask.is_public,
        qos_specs_id: None,
        created_at: clock::now(),
        updated_at: None,
    };
    let mut tx = app.store.begin().await?;
    tx.type_insert(TypeOf::Share, &row, &specs).await.map_err(|e| name_taken(e, &row.name))?;
    type_event::tell(&mut tx, ctx, TypeOf::Share, &row.id, Change::Create(&row.name)).await?;
    tx.commit().await?;
    Ok(Type { row, specs })
}

/// Whoever may not create types learns that before anything of the body.
///
/// # Errors
/// 403.
pub fn allowed(app: &App, ctx: &RequestContext) -> Result<()> {
    authorise(app, ctx, "share_type:create")
}

pub(super) fn name_taken(e: StoreError, name: &str) -> Error {
    match e {
        StoreError::Duplicate { .. } => Error::conflict(format!("Share Type {name} already exists.")),
        other => other.into(),
    }
}
