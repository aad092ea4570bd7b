//! `POST /share-group-types`.

use uuid::Uuid;

use super::{GroupType, authorise, check_spec_count, check_specs};
use crate::{
    app::App,
    clock,
    context::RequestContext,
    error::{Error, Result},
    service::{
        share_refusal as refusal, share_type,
        type_event::{self, Change},
    },
    store::{
        StoreError,
        sql::types::{Type, TypeOf, TypeRow},
    },
};

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub struct CreateGroupType {
    pub name: String,
    pub is_public: bool,
    pub specs: Vec<(String, String)>,
    /// Names or ids.
    pub share_types: Vec<String>,
}

/// # Errors
/// 400 for no share types and for specs out of bounds, 403, 404 for an unknown share type, 409 for a taken name.
pub async fn create(app: &App, ctx: &RequestContext, ask: CreateGroupType) -> Result<GroupType> {
    authorise(app, ctx, "share_group_type:create")?;
    check_specs(&ask.specs)?;
    check_spec_count(ask.specs.len())?;
    if ask.share_types.is_empty() {
        return Err(Error::invalid("Supported share types must be provided."));
    }
    let mut share_types = Vec::with_capacity(ask.share_types.len());
    for named in &ask.share_types {
        share_types.push(share_type::usable(app, ctx, named).await?.row.id);
    }
    share_types.sort();
    share_types.dedup();
    let mut specs = ask.specs;
    specs.sort();
    let row = TypeRow {
        id: Uuid::new_v4().to_string(),
        name: ask.name,
        description: None,
        is_public: ask.is_public,
        qos_specs_id: None,
        created_at: clock::now(),
        updated_at: None,
    };
    let mut tx = app.store.begin().await?;
    tx.type_insert(TypeOf::ShareGroup, &row, &specs).await.map_err(|e| match e {
        StoreError::Duplicate { .. } => Error::conflict(format!("Share group type {} already exists.", row.name)),
        other => other.into(),
    })?;
    for id in &share_types {
        tx.group_type_takes(&row.id, id).await.map_err(|e| match e {
            StoreError::Missing { .. } => refusal::type_not_found(),
            other => other.into(),
        })?;
    }
    type_event::tell(&mut tx, ctx, TypeOf::ShareGroup, &row.id, Change::Create(&row.name)).await?;
    tx.commit().await?;
    Ok(GroupType { of: Type { row, specs }, share_types })
}

/// Whoever may not create types learns that before anything of the body.
///
/// # Errors
/// 403.
pub fn allowed(app: &App, ctx: &RequestContext) -> Result<()> {
    authorise(app, ctx, "share_group_type:create")
}
