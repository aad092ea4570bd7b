//! A share network with several subnets in the zone needs a back end that can build a server over them.

use super::{Context, Filter, Reason};
use crate::scheduler::{explain::Limit, pools::Candidate};

const KEY: &str = "share_server_multiple_subnet_support";

pub struct SeveralSubnets;

impl Filter for SeveralSubnets {
    fn name(&self) -> &'static str {
        // the released service has this rule inside its zone filter, and users' messages follow that
        "AvailabilityZoneFilter"
    }
    fn limit(&self) -> Limit {
        Limit::SeveralSubnets
    }
    fn check(&self, pool: &Candidate, cx: &Context<'_>) -> Result<(), Reason> {
        let subnets = cx.request.share.network.as_ref().map_or(0, |reach| reach.in_zone(&pool.row.availability_zone));
        if subnets > 1 && !pool.flag(KEY, false) {
            return Err(
                Reason::new(format!("the share network has several subnets in this zone, the pool does not report {KEY}")).with(KEY, false)
            );
        }
        Ok(())
    }
}
