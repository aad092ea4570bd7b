//! `POST /types`.

use uuid::Uuid;

use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    policy::Target,
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
/// 400 for specs that cannot work, 409 for a taken name.
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateType) -> Result<Type> {
    app.policy.check(ctx, "volume_extension:type_create", &Target::own(ctx))?;
    super::check_specs(&ask.specs)?;
    super::check_spec_count(ask.specs.len())?;
    super::check_cacheable(&ask.specs)?;
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
    tx.type_insert(TypeOf::Volume, &row, &ask.specs).await.map_err(|e| name_taken(e, &row.name))?;
    type_event::tell(&mut tx, ctx, TypeOf::Volume, &row.id, Change::Create(&row.name)).await?;
    tx.commit().await?;
    let mut specs = ask.specs;
    specs.sort();
    Ok(Type { row, specs })
}

pub(super) fn name_taken(e: StoreError, name: &str) -> Error {
    match e {
        StoreError::Duplicate { .. } => Error::conflict(format!("Volume Type {name} already exists.")),
        other => other.into(),
    }
}
