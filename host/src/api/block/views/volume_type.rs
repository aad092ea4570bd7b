//! Volume types.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    api::request::ApiRequest,
    policy::Target,
    service::volume_type::{readable_specs, reads_all_specs},
    store::sql::types::Type,
};

/// What the caller may see of types, decided once for a page.
pub struct TypeView {
    specs: bool,
    all_specs: bool,
    qos: bool,
    access: bool,
}

impl TypeView {
    pub fn of(req: &ApiRequest) -> Self {
        let may = |action| req.app.policy.allows(&req.ctx, action, &Target::own(&req.ctx));
        Self {
            specs: may("volume_extension:access_types_extra_specs"),
            all_specs: reads_all_specs(&req.app, &req.ctx),
            qos: may("volume_extension:access_types_qos_specs_id"),
            access: may("volume_extension:volume_type_access"),
        }
    }

    /// What a create answers: QoS specs are given later, and upstream's answer has no key for them.
    pub fn created(mut self, t: &Type) -> Value {
        self.qos = false;
        self.render(t)
    }

    /// What an update answers: only what an update can change.
    pub fn updated(mut self, t: &Type) -> Value {
        self.access = false;
        self.created(t)
    }

    pub fn render(&self, t: &Type) -> Value {
        let mut shown = json!({ "id": t.row.id, "name": t.row.name, "is_public": t.row.is_public, "description": t.row.description });
        if self.specs {
            shown["extra_specs"] = json!(readable_specs(t, self.all_specs).into_iter().collect::<BTreeMap<_, _>>());
        }
        if self.qos {
            shown["qos_specs_id"] = json!(t.row.qos_specs_id);
        }
        if self.access {
            shown["os-volume-type-access:is_public"] = json!(t.row.is_public);
        }
        shown
    }
}
