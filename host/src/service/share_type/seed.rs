//! What every installation starts with: a type for shares on the arrays' own addresses, with snapshots.

use uuid::Uuid;

use crate::{
    clock,
    domain::share_type::{CREATE_FROM_SNAPSHOT, DEFAULT_TYPE_NAME, HANDLES_SERVERS, SNAPSHOT_SUPPORT},
    store::{
        Store, StoreResult,
        sql::types::{TypeOf, TypeRow},
    },
};

/// Says that the type was made once: an operator who deletes it does not get it again.
const MADE: &str = "default_share_type_made";

/// Makes the type at the first start. Safe to run at every start and from several processes at once.
pub async fn ensure_default_type(store: &Store) -> StoreResult<()> {
    if store.setting(MADE).await?.is_some() {
        return Ok(());
    }
    let row = TypeRow {
        id: Uuid::new_v4().to_string(),
        name: DEFAULT_TYPE_NAME.to_owned(),
        description: Some("Default Share Type".to_owned()),
        is_public: true,
        qos_specs_id: None,
        created_at: clock::now(),
        updated_at: None,
    };
    let specs =
        [(HANDLES_SERVERS, "False"), (SNAPSHOT_SUPPORT, "True"), (CREATE_FROM_SNAPSHOT, "True")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    let mut tx = store.begin().await?;
    tx.settle_setting(MADE, "yes").await?;
    tx.type_ensure(TypeOf::Share, &row, &specs).await?;
    tx.commit().await
}
