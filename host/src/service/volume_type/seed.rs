//! What every installation starts with: the default type.

use uuid::Uuid;

use crate::{
    clock,
    domain::volume_type::DEFAULT_TYPE_NAME,
    store::{
        Store, StoreResult,
        sql::types::{TypeOf, TypeRow},
    },
};

/// Makes `__DEFAULT__` unless it exists. Safe to run at every start and from several processes at once.
pub async fn ensure_default_type(store: &Store) -> StoreResult<()> {
    if store.type_by_name(TypeOf::Volume, DEFAULT_TYPE_NAME).await?.is_some() {
        return Ok(());
    }
    let mut tx = store.begin().await?;
    let row = TypeRow {
        id: Uuid::new_v4().to_string(),
        name: DEFAULT_TYPE_NAME.to_owned(),
        description: Some("Default Volume Type".to_owned()),
        is_public: true,
        qos_specs_id: None,
        created_at: clock::now(),
        updated_at: None,
    };
    tx.type_ensure(TypeOf::Volume, &row, &[]).await?;
    tx.commit().await
}

/// What follows from a `block.default_volume_type` that names no type.
pub fn no_such_default(name: &str) -> String {
    format!(
        "no volume type is called {name:?}, which block.default_volume_type names: creates that name no type are refused until one is \
         (`openstack volume type create {name}`), or until another is configured"
    )
}

/// Warns when the configured default type is not there. It may be made later, so this is no reason not to start.
pub async fn warn_without_default(store: &Store, name: &str) -> StoreResult<()> {
    if store.type_by_name(TypeOf::Volume, name).await?.is_none() {
        tracing::warn!("{}", no_such_default(name));
    }
    Ok(())
}
