//! The name under which a share shall be mounted, which only shares of some types may have.

use crate::{
    domain::share_type::{MOUNT_POINT_NAME, boolean},
    error::Result,
    service::share_refusal as refusal,
    store::sql::types::Type,
};

/// # Errors
/// 400 when the type has no such names, or this is none.
pub fn check(share_type: &Type, name: Option<&str>) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    if !share_type.spec(MOUNT_POINT_NAME).and_then(boolean).unwrap_or(false) {
        return Err(refusal::invalid_input(format!(
            "Setting a mount point name is not supported by the share type used: {}.",
            share_type.row.name
        )));
    }
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return Err(refusal::invalid_input("A mount point name has letters, digits, '_' and '-' alone."));
    }
    Ok(())
}
