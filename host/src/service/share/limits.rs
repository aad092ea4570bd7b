//! How large or small a share may be: by its type, and by its project.

use crate::{
    app::App,
    domain::share_type::{MAX_EXTEND_SIZE, MAX_SIZE, MIN_SIZE},
    error::Result,
    quota::QuotaScope,
    service::{share_quota::show::smallest, share_refusal as refusal},
    store::sql::types::Type,
};

/// A share of this size may be made.
///
/// # Errors
/// 400.
pub fn check_create(share_type: &Type, gib: i64) -> Result<()> {
    check_least(share_type, gib)?;
    check_most(share_type, gib, MAX_SIZE)
}

/// A share may grow to this size. Who may go `beyond` the type's limit has another one.
///
/// # Errors
/// 400.
pub fn check_extend(share_type: &Type, gib: i64, beyond: bool) -> Result<()> {
    check_most(share_type, gib, if beyond { MAX_EXTEND_SIZE } else { MAX_SIZE })
}

/// A share may shrink to this size.
///
/// # Errors
/// 400.
pub fn check_least(share_type: &Type, gib: i64) -> Result<()> {
    match size(share_type, MIN_SIZE) {
        Some(least) if gib < least => Err(refusal::invalid_input(format!(
            "Requested share size of '{gib}'GB is smaller than the minimum allowable size of '{least}'GB of share type {}.",
            share_type.row.name
        ))),
        _ => Ok(()),
    }
}

fn check_most(share_type: &Type, gib: i64, key: &str) -> Result<()> {
    match size(share_type, key) {
        Some(most) if gib > most => Err(refusal::invalid_input(format!(
            "Requested share size of '{gib}'GB is larger than the maximum allowable size of '{most}'GB of share type {}.",
            share_type.row.name
        ))),
        _ => Ok(()),
    }
}

fn size(share_type: &Type, key: &str) -> Option<i64> {
    share_type.spec(key).and_then(|text| text.trim().parse().ok())
}

/// The project may have a share of this size, and so may the user in it and of the type in it.
///
/// # Errors
/// 413.
pub async fn check_one_share(app: &App, of: QuotaScope<'_>, gib: i64) -> Result<()> {
    let limit = smallest(app, of, "per_share_gigabytes").await?;
    if limit >= 0 && gib > limit { Err(refusal::too_large(gib, limit)) } else { Ok(()) }
}
