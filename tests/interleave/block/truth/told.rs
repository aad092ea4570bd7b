//! What users are told: how much they use, and why something ended badly.

use std::collections::BTreeMap;

use serde_json::Value;
use support::Persona;

use super::{Scene, id, messages, status};
use crate::block::{book::Book, world::World};

impl Scene {
    /// The usage that the API shows is what the lists add up to.
    pub(super) async fn usage(&self, world: &World, broken: &mut Vec<String>) {
        for persona in [Persona::Member, Persona::Stranger] {
            self.usage_of(world, &world.project_of(persona), broken).await;
        }
    }

    async fn usage_of(&self, world: &World, project: &str, broken: &mut Vec<String>) {
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        let mut count = |what: &str, type_name: &str, amount: u64| {
            for key in [what.to_owned(), format!("{what}_{type_name}")] {
                *counted.entry(key).or_default() += amount;
            }
        };
        let type_of = |v: &Value| v["volume_type"].as_str().unwrap_or_default().to_owned();
        for v in self.volumes.iter().filter(|v| v["os-vol-tenant-attr:tenant_id"] == project) {
            count("volumes", &type_of(v), 1);
            count("gigabytes", &type_of(v), v["size"].as_u64().unwrap_or_default());
        }
        for s in self.snapshots.iter().filter(|s| s["os-extended-snapshot-attributes:project_id"] == project) {
            let of = self.volume(s["volume_id"].as_str().unwrap_or_default()).map(type_of).unwrap_or_default();
            count("snapshots", &of, 1);
            count("gigabytes", &of, s["size"].as_u64().unwrap_or_default());
        }
        let path = format!("/os-quota-sets/{project}?usage=true");
        let shown = world.admin().get(&path).await.expect(200)["quota_set"].clone();
        for (key, figure) in shown.as_object().into_iter().flatten().filter(|(_, f)| f.is_object()) {
            let (used, counted) = (figure["in_use"].as_u64(), counted.remove(key).unwrap_or_default());
            if used != Some(counted) || figure["reserved"] != 0 {
                broken.push(format!("[wrong-usage] {key} of {project} is {figure}, and there are {counted}"));
            }
        }
        if counted.values().any(|n| *n > 0) {
            broken.push(format!("[wrong-usage] nothing of {project} is shown of {counted:?}"));
        }
    }

    /// Whoever owns what ended badly was told why.
    pub(super) async fn reasons(&self, world: &World, book: &Book, broken: &mut Vec<String>) {
        // what an operator called an error has no reason
        let volumes = self.volumes.iter().filter(|v| status(v).contains("error") && !book.was_told(id(v)));
        for one in volumes.chain(self.snapshots.iter().filter(|s| status(s).contains("error"))) {
            let told = messages(world, id(one)).await;
            let reason = told
                .iter()
                .any(|m| m["user_message"].as_str().and_then(|t| t.split_once(':')).is_some_and(|(_, why)| !why.trim().is_empty()));
            if !reason {
                broken.push(format!("[no-reason] {} is {}, and nobody was told why: {told:?}", id(one), status(one)));
            }
        }
    }
}
