//! Decides, takes the room, keeps the explanation.

use super::{
    explain::{Explanation, Limit, NoValidBackend, Rejection},
    filters::{self, Context},
    pools::Candidate,
    request::PlacementRequest,
    weighers,
};
use crate::{
    clock,
    domain::host::{backend_of, pool_of},
    store::{
        StoreResult, Tx,
        sql::{
            capacity_claims::{Charge, Operation},
            placements::PlacementRow,
            pools::PoolRow,
        },
    },
};

/// Where a resource goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// `host@backend#pool`: the resource's `host` attribute.
    pub host: String,
    /// `host@backend`.
    pub backend: String,
    /// The part after `#`, as the driver knows it.
    pub pool: String,
    pub availability_zone: String,
    /// What users see of the back end.
    pub backend_name: String,
    pub service_uuid: String,
    /// What the back end's volumes carry now.
    pub shared_targets: Option<bool>,
}

impl Placed {
    fn on(row: &PoolRow) -> Self {
        Self {
            host: row.name.clone(),
            backend: row.host.clone(),
            pool: pool_of(&row.name).to_owned(),
            availability_zone: row.availability_zone.clone(),
            backend_name: row.backend_name.clone(),
            service_uuid: row.service_uuid.clone(),
            shared_targets: row.shared_targets(),
        }
    }
}

/// Finds a pool for the request and takes the room there, all in the caller's transaction.
///
/// # Errors
/// The outer error is the store's; the inner one is an answer, see [`NoValidBackend`]. Commit after either answer: the
/// explanation is a row of this transaction.
pub async fn place(tx: &mut Tx, request: &PlacementRequest) -> StoreResult<Result<Placed, NoValidBackend>> {
    match request.operation {
        Operation::Create => tx.close_earlier_claim(&request.resource_id, &request.exclude_pools).await?,
        // what is to grow is there: an operator may have said so while it was being made, and its place stays
        Operation::Extend | Operation::Snapshot => tx.settle_claim(&request.resource_id).await?,
    }
    let pools = tx.placement_pools(request.service).await?;
    let same = backends_of(tx, &request.hints.same_host).await?;
    let different = backends_of(tx, &request.hints.different_host).await?;
    let cx = Context { request, same: &same, different: &different, now: clock::now() };
    let (ranked, mut rejected, mut limit) = decide(pools, &cx);

    let mut chosen = None;
    for (candidate, _) in &ranked {
        match charge(tx, &candidate.row, request).await? {
            Ok(row) => {
                chosen = Some(row);
                break;
            }
            Err(rejection) => {
                limit = rejection.limit;
                rejected.push(rejection);
            }
        }
    }
    let explanation = Explanation {
        chosen: chosen.as_ref().map(|row| row.name.clone()),
        ranked: ranked.into_iter().map(|(_, r)| r).collect(),
        rejected: rejected.clone(),
        left_out: 0,
    };
    keep(tx, request, explanation, limit).await?;
    Ok(match chosen {
        Some(row) => Ok(Placed::on(&row)),
        None => Err(NoValidBackend { limit, rejections: rejected, awaits_reports: tx.awaits_reports(request.service).await? }),
    })
}

/// The pools that can take the request, best first; why the others cannot; the limit that the last of those met.
pub fn decide(pools: Vec<PoolRow>, cx: &Context<'_>) -> (Vec<(Candidate, super::explain::Ranked)>, Vec<Rejection>, Limit) {
    let candidates = pools.into_iter().map(Candidate::new).collect();
    let (left, rejected, limit) = filters::run(candidates, cx);
    (weighers::rank(left, cx.request), rejected, limit)
}

/// Takes the room under the pool's lock and looks again. If it was filled meanwhile, nothing is taken and the lock is
/// let go, so that two placements that walk the same pools in different orders cannot wait for each other.
async fn charge(tx: &mut Tx, row: &PoolRow, request: &PlacementRequest) -> StoreResult<Result<PoolRow, Rejection>> {
    let charge = Charge {
        resource_id: &request.resource_id,
        pool: &row.name,
        capacity_key: &row.capacity_key,
        grouped: row.capacity_group.is_some(),
        operation: request.operation,
        gib: request.size_gib,
    };
    tx.savepoint("charge").await?;
    tx.charge_pool(&charge).await?;
    let refused = match tx.placement_pool(&row.name).await? {
        None => Some(Rejection {
            pool: row.name.clone(),
            filter: "ServiceFilter".to_owned(),
            limit: Limit::Service,
            reason: "the pool has gone meanwhile".to_owned(),
            numbers: serde_json::Map::new(),
        }),
        Some(mut now) => {
            now.claimed_gib -= request.size_gib;
            filters::filled_meanwhile(&Candidate::new(now), request)
        }
    };
    match refused {
        Some(rejection) => {
            tx.rollback_to("charge").await?;
            Ok(Err(rejection))
        }
        None => {
            tx.release_savepoint("charge").await?;
            tx.insert_claim(&charge).await?;
            Ok(Ok(row.clone()))
        }
    }
}

async fn backends_of(tx: &mut Tx, resource_ids: &[String]) -> StoreResult<Vec<String>> {
    let pools = tx.pools_of_resources(resource_ids).await?;
    Ok(pools.into_iter().map(|p| backend_of(&p).to_owned()).collect())
}

async fn keep(tx: &mut Tx, request: &PlacementRequest, explanation: Explanation, limit: Limit) -> StoreResult<()> {
    let refused = explanation.chosen.is_none();
    let row = PlacementRow {
        id: String::new(),
        resource_id: request.explained_as.as_ref().unwrap_or(&request.resource_id).clone(),
        resource_kind: request.resource_kind.to_owned(),
        operation: request.operation.as_str().to_owned(),
        project_id: request.project_id.clone(),
        request_id: request.request_id.clone(),
        size_gib: request.size_gib,
        pool: explanation.chosen.clone(),
        limit_kind: refused.then(|| limit.as_str().to_owned()),
        detail: serde_json::to_string(&explanation.bounded()).unwrap_or_else(|_| "{}".to_owned()),
        created_at: 0,
    };
    tx.insert_placement(&row).await
}
