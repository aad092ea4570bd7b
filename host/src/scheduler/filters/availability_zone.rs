//! The back end is in the zone asked, in one of the zones that the type allows, and where the share network reaches.

use super::{Context, Filter, Reason};
use crate::{
    scheduler::{explain::Limit, pools::Candidate},
    store::sql::{backends::BackendKind, capacity_claims::Operation},
};

pub struct AvailabilityZone;

impl Filter for AvailabilityZone {
    fn name(&self) -> &'static str {
        "AvailabilityZoneFilter"
    }
    fn limit(&self) -> Limit {
        Limit::AvailabilityZone
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let zone = pool.row.availability_zone.as_str();
        let out = |text: String| Err(Reason::new(text).with("zone", zone));
        if let Some(asked) = &cx.request.availability_zone
            && asked != zone
            // what lies there already stays there, whatever zone its back end is said to be in by now
            && cx.request.operation == Operation::Create
        {
            return out(format!("zone {asked} is asked, the back end is in {zone}"));
        }
        if let Some(reach) = &cx.request.share.network
            && reach.in_zone(zone) == 0
        {
            return out(format!("the share network has no subnet for the zone {zone}"));
        }
        let keys: &[&str] = match cx.request.service {
            BackendKind::Block => &["RESKEY:availability_zones"],
            BackendKind::Share => &["availability_zones", "capabilities:availability_zones"],
        };
        match keys.iter().find_map(|k| cx.request.extra_specs.get(*k)) {
            Some(allowed) if allowed.split(',').all(|z| z.trim() != zone) => {
                out(format!("the type allows the zones {allowed}, the back end is in {zone}"))
            }
            _ => Ok(()),
        }
    }
}
