//! Fail-over to one of the targets in the configuration. All of them have the same volumes, for they are one array.

use stowage_driver_sdk::prelude::*;

use crate::{Memory, array::VOLUMES};

/// Where the volumes are; nothing there: where they always were.
const ACTIVE: &str = "replication/active";
/// The back end's own array.
const DEFAULT: &str = "default";

impl Memory {
    fn known_target(&self, name: &str) -> Result<String> {
        let targets = &self.config.replication_targets;
        if name == DEFAULT || targets.iter().any(|t| t == name) {
            return Ok(name.to_owned());
        }
        Err(DriverError::invalid(format!("there is no replication target `{name}`; there are: {}", targets.join(", "))))
    }
}

impl VolumeReplication for Memory {
    fn choose_target(&self, cx: &Context, target: Option<&str>) -> Result<String> {
        self.verb(cx, "", target.unwrap_or_default(), |plan| {
            if plan.lie {
                return Ok("lie".repeat(10_000));
            }
            if let Some(name) = target {
                return self.known_target(name);
            }
            let active = cx.kv().get::<String>(ACTIVE)?.map(|active| active.value);
            let other = self.config.replication_targets.iter().find(|t| Some(*t) != active.as_ref());
            other.cloned().ok_or_else(|| DriverError::invalid("there is no other replication target"))
        })
    }

    /// A volume whose own call fails is lost, unless it is worth a repeat.
    fn fail_over(&self, cx: &Context, target: &str, volumes: &[Volume]) -> Result<Vec<FailedOver>> {
        let target = self.known_target(target)?;
        let array = self.array(cx);
        let mut all = Vec::with_capacity(volumes.len());
        for volume in volumes {
            let moved: Result<Option<FailedOver>> = self.verb(cx, &volume.id, &volume.name, |plan| {
                let there = array.get(VOLUMES, &volume.id)?;
                let state = match there {
                    Some(_) => VolumeState::Serving(VolumeUpdate { provider_id: None, provider_data: Some(format!("on {target}")) }),
                    None => VolumeState::Lost("the target has no copy of it".to_owned()),
                };
                let id = if plan.wrong_id { "another".to_owned() } else { volume.id.clone() };
                Ok((!plan.leave_out).then_some(FailedOver { id, state }))
            });
            match moved {
                Ok(entry) => all.extend(entry),
                Err(e) if matches!(e.kind, ErrorKind::Transient | ErrorKind::Auth) => return Err(e),
                Err(e) => all.push(FailedOver { id: volume.id.clone(), state: VolumeState::Lost(e.message) }),
            }
        }
        Ok(all)
    }

    fn complete_failover(&self, cx: &Context, target: &str) -> Result<()> {
        let target = self.known_target(target)?;
        self.verb(cx, "", &target, |_| {
            if target == DEFAULT { cx.kv().delete(ACTIVE).map(drop) } else { cx.kv().put(ACTIVE, &target).map(drop) }
        })
    }
}
