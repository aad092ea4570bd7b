//! Quota of the share API as it is shown and changed: of a project, of a user in it, of a share type in it.
//!
//! What a user or a type has no limit of its own for is shown with the project's, which holds for them together.

pub mod change;
pub mod show;

use crate::{
    app::App,
    context::RequestContext,
    error::{Error, Result},
    quota::QuotaScope,
    service::share_type,
};

/// Figures that are no type's.
const NOT_OF_TYPES: [&str; 3] = ["share_networks", "share_groups", "share_group_snapshots"];

/// Whose figures are meant, as the query says it.
#[derive(Debug, Clone, Default)]
pub struct Whose {
    pub project_id: String,
    pub user_id: Option<String>,
    /// A type's name or id.
    pub share_type: Option<String>,
}

/// The same with the type's id.
#[derive(Debug, Clone)]
pub struct Scope {
    project_id: String,
    user_id: String,
    type_id: String,
}

impl Scope {
    /// # Errors
    /// 400 for a user and a type at once, 404 for an unknown type.
    async fn find(app: &App, ctx: &RequestContext, whose: &Whose) -> Result<Self> {
        if whose.user_id.is_some() && whose.share_type.is_some() {
            return Err(Error::invalid("'user_id' and 'share_type' values are mutually exclusive"));
        }
        let type_id = match &whose.share_type {
            Some(name_or_id) => share_type::usable(app, ctx, name_or_id).await?.row.id,
            None => String::new(),
        };
        Ok(Self { project_id: whose.project_id.clone(), user_id: whose.user_id.clone().unwrap_or_default(), type_id })
    }

    fn of_project(&self) -> QuotaScope<'_> {
        QuotaScope { project_id: &self.project_id, user_id: "", type_id: "" }
    }

    fn exact(&self) -> QuotaScope<'_> {
        QuotaScope { project_id: &self.project_id, user_id: &self.user_id, type_id: &self.type_id }
    }

    fn is_of_project(&self) -> bool {
        self.user_id.is_empty() && self.type_id.is_empty()
    }

    fn is_of_type(&self) -> bool {
        !self.type_id.is_empty()
    }
}
