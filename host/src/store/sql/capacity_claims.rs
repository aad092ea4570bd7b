//! Who holds how much of which pool.
//!
//! A claim is room given that the pool's report does not show yet. It is open while the driver call may run
//! ([`Tx::charge_pool`]), settled when the call has ended ([`Tx::settle_claim`]), and dropped by the first report whose
//! call began later. If the driver made nothing, [`Tx::release_claim`] gives the room back at once; if the resource was
//! deleted, [`Tx::forget_claim`] leaves that to a later report. `pool_allocations` says where each resource lies for as
//! long as it exists; each of its changes changes the pool's figures in the same transaction, once: all three
//! functions may be called again, or for a resource without a claim, and then do nothing.
//!
//! Order of locks on PostgreSQL: back end, capacity group, pool, claims. Callers that also change quota do that first.

use uuid::Uuid;

use crate::{
    clock,
    store::{Store, StoreResult, Tx, on_read, on_tx},
};

/// What a claim is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A new resource in the pool.
    #[default]
    Create,
    /// Growth where it lies.
    Extend,
    /// A snapshot, beside its source.
    Snapshot,
}

impl Operation {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Extend => "extend",
            Self::Snapshot => "snapshot",
        }
    }
}

/// Room to be taken from a pool.
#[derive(Debug, Clone)]
pub(crate) struct Charge<'a> {
    pub resource_id: &'a str,
    pub pool: &'a str,
    pub capacity_key: &'a str,
    /// The key is a configured group, whose row is locked first.
    pub grouped: bool,
    pub operation: Operation,
    pub gib: i64,
}

#[derive(sqlx::FromRow)]
struct Closed {
    pool: String,
    capacity_key: String,
    operation: String,
    gib: i64,
}

/// A pool's own figures, or a resource's place, as kept here.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Allocation {
    pub resource_id: String,
    /// `host@backend#pool`.
    pub pool: String,
    pub gib: i64,
}

impl Store {
    /// Where a resource lies.
    pub async fn allocation(&self, resource_id: &str) -> StoreResult<Option<Allocation>> {
        let sql = "SELECT resource_id, pool, gib FROM pool_allocations WHERE resource_id = $1";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(resource_id).fetch_optional(p).await?))
    }
}

impl Tx {
    /// Takes the room, which locks the pool until this transaction ends. Whether it fits is looked at afterwards, under
    /// the lock; if it does not, the caller rolls back to its savepoint.
    pub(crate) async fn charge_pool(&mut self, c: &Charge<'_>) -> StoreResult<()> {
        if c.grouped {
            self.lock_capacity_group(c.capacity_key).await?;
        }
        let (allocated, resources) = match c.operation {
            Operation::Create => (c.gib, 1),
            Operation::Extend => (c.gib, 0),
            Operation::Snapshot => (0, 0),
        };
        self.shift_pool(c.pool, c.capacity_key, c.gib, allocated, resources).await
    }

    /// Writes the claim and the resource's place, once the charge stands.
    pub(crate) async fn insert_claim(&mut self, c: &Charge<'_>) -> StoreResult<()> {
        let sql = "INSERT INTO capacity_claims (id, resource_id, pool, capacity_key, operation, gib, freed, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, FALSE, $7)";
        on_tx!(self, t => sqlx::query(sql)
            .bind(Uuid::new_v4().to_string()).bind(c.resource_id).bind(c.pool).bind(c.capacity_key).bind(c.operation.as_str()).bind(c.gib).bind(clock::now())
            .execute(t).await?.rows_affected());
        let sql = match c.operation {
            Operation::Create => "INSERT INTO pool_allocations (resource_id, pool, gib) VALUES ($1, $2, $3)",
            Operation::Extend => "UPDATE pool_allocations SET gib = gib + $3 WHERE resource_id = $1 AND pool = $2",
            Operation::Snapshot => return Ok(()),
        };
        on_tx!(self, t => sqlx::query(sql).bind(c.resource_id).bind(c.pool).bind(c.gib).execute(t).await?.rows_affected());
        Ok(())
    }

    /// The driver call for this resource has ended, and what it was to make may exist: reports whose call begins from
    /// now on show it.
    pub async fn settle_claim(&mut self, resource_id: &str) -> StoreResult<()> {
        let sql = self.dialect().sql("UPDATE capacity_claims SET settled_at = {now} WHERE resource_id = $1 AND settled_at IS NULL");
        on_tx!(self, t => sqlx::query(sql).bind(resource_id).execute(t).await?.rows_affected());
        Ok(())
    }

    /// As [`settle_claim`](Self::settle_claim), of what was to be made: a growth that was begun meanwhile, because an operator called
    /// the resource available, has a claim of its own that stays open.
    pub async fn settle_creation(&mut self, resource_id: &str) -> StoreResult<()> {
        let sql = "UPDATE capacity_claims SET settled_at = {now} WHERE resource_id = $1 AND operation = 'create' AND settled_at IS NULL";
        let sql = self.dialect().sql(sql);
        on_tx!(self, t => sqlx::query(sql).bind(resource_id).execute(t).await?.rows_affected());
        Ok(())
    }

    /// The driver made nothing: the room is free again at once.
    pub async fn release_claim(&mut self, resource_id: &str) -> StoreResult<()> {
        self.hold_places_of(resource_id).await?;
        let sql = "DELETE FROM capacity_claims WHERE resource_id = $1 AND settled_at IS NULL RETURNING pool, capacity_key, operation, gib";
        let closed: Option<Closed> = on_tx!(self, t => sqlx::query_as(sql).bind(resource_id).fetch_optional(t).await?);
        let Some(claim) = closed else { return Ok(()) };
        let (allocated, resources) = match claim.operation.as_str() {
            "create" => {
                let sql = "DELETE FROM pool_allocations WHERE resource_id = $1";
                on_tx!(self, t => sqlx::query(sql).bind(resource_id).execute(t).await?.rows_affected());
                (claim.gib, 1)
            }
            "extend" => {
                let sql = "UPDATE pool_allocations SET gib = gib - $2 WHERE resource_id = $1";
                on_tx!(self, t => sqlx::query(sql).bind(resource_id).bind(claim.gib).execute(t).await?.rows_affected());
                (claim.gib, 0)
            }
            _ => (0, 0),
        };
        self.shift_pool(&claim.pool, &claim.capacity_key, -claim.gib, -allocated, -resources).await
    }

    /// The resource is gone from the back end (or given up there, with a clean-up job behind it): it no longer counts as
    /// allocated, and its room comes back with a report whose call begins from now on.
    pub async fn forget_claim(&mut self, resource_id: &str) -> StoreResult<()> {
        self.hold_places_of(resource_id).await?;
        let sql = self
            .dialect()
            .sql("UPDATE capacity_claims SET settled_at = COALESCE(settled_at, {now}), freed = TRUE WHERE resource_id = $1 AND NOT freed");
        on_tx!(self, t => sqlx::query(sql).bind(resource_id).execute(t).await?.rows_affected());
        let sql = "DELETE FROM pool_allocations WHERE resource_id = $1 RETURNING resource_id, pool, gib";
        let gone: Option<Allocation> = on_tx!(self, t => sqlx::query_as(sql).bind(resource_id).fetch_optional(t).await?);
        let Some(gone) = gone else { return Ok(()) };
        let sql = "UPDATE pools SET allocated_gib = allocated_gib - $2, resources = resources - 1 WHERE name = $1";
        on_tx!(self, t => sqlx::query(sql).bind(&gone.pool).bind(gone.gib).execute(t).await?.rows_affected());
        Ok(())
    }

    /// The resource is smaller by so much: it counts less as allocated, and the room shows in a later report.
    pub async fn shrink_allocation(&mut self, resource_id: &str, by_gib: i64) -> StoreResult<()> {
        self.hold_places_of(resource_id).await?;
        let sql = "UPDATE pool_allocations SET gib = gib - $2 WHERE resource_id = $1 RETURNING resource_id, pool, gib";
        let left: Option<Allocation> = on_tx!(self, t => sqlx::query_as(sql).bind(resource_id).bind(by_gib).fetch_optional(t).await?);
        let Some(left) = left else { return Ok(()) };
        let sql = "UPDATE pools SET allocated_gib = allocated_gib - $2 WHERE name = $1";
        on_tx!(self, t => sqlx::query(sql).bind(&left.pool).bind(by_gib).execute(t).await?.rows_affected());
        Ok(())
    }

    /// The resource lies from now on where its `stand_in` was placed; what it held before is given up, as in
    /// [`Tx::forget_claim`].
    pub async fn claim_of_stand_in(&mut self, resource_id: &str, stand_in: &str) -> StoreResult<()> {
        self.hold_places(resource_id, stand_in).await?;
        self.settle_claim(stand_in).await?;
        self.forget_claim(resource_id).await?;
        for sql in [
            "UPDATE capacity_claims SET resource_id = $1 WHERE resource_id = $2",
            "UPDATE pool_allocations SET resource_id = $1 WHERE resource_id = $2",
        ] {
            on_tx!(self, t => sqlx::query(sql).bind(resource_id).bind(stand_in).execute(t).await?.rows_affected());
        }
        Ok(())
    }

    /// The resource was there before we knew of it, and counts from now on; reports show its room already. Once.
    pub async fn adopt_allocation(&mut self, resource_id: &str, pool: &str, gib: i64) -> StoreResult<()> {
        let sql = "UPDATE pools SET allocated_gib = allocated_gib + $2, resources = resources + 1 WHERE name = $1 \
                   AND NOT EXISTS (SELECT 1 FROM pool_allocations a WHERE a.resource_id = $3)";
        if on_tx!(self, t => sqlx::query(sql).bind(pool).bind(gib).bind(resource_id).execute(t).await?.rows_affected()) > 0 {
            let sql = "INSERT INTO pool_allocations (resource_id, pool, gib) VALUES ($1, $2, $3)";
            on_tx!(self, t => sqlx::query(sql).bind(resource_id).bind(pool).bind(gib).execute(t).await?.rows_affected());
        }
        Ok(())
    }

    /// The resource was found in another pool: it counts there from now on. False: that pool is not known, and nothing changed.
    pub async fn move_allocation(&mut self, resource_id: &str, pool: &str) -> StoreResult<bool> {
        self.hold_places_of(resource_id).await?;
        let sql = "SELECT resource_id, pool, gib FROM pool_allocations WHERE resource_id = $1";
        let old: Option<Allocation> = on_tx!(self, t => sqlx::query_as(sql).bind(resource_id).fetch_optional(t).await?);
        let Some(old) = old else { return Ok(false) };
        if old.pool == pool {
            return Ok(true);
        }
        let sql = "UPDATE pools SET allocated_gib = allocated_gib + $2, resources = resources + 1 WHERE name = $1";
        if on_tx!(self, t => sqlx::query(sql).bind(pool).bind(old.gib).execute(t).await?.rows_affected()) == 0 {
            return Ok(false);
        }
        let sql = "UPDATE pools SET allocated_gib = allocated_gib - $2, resources = resources - 1 WHERE name = $1";
        on_tx!(self, t => sqlx::query(sql).bind(&old.pool).bind(old.gib).execute(t).await?.rows_affected());
        let sql = "UPDATE pool_allocations SET pool = $2 WHERE resource_id = $1";
        on_tx!(self, t => sqlx::query(sql).bind(resource_id).bind(pool).execute(t).await?.rows_affected());
        Ok(true)
    }

    /// Ends what an earlier placement of the same resource left open: on a pool in `abandoned` something may exist (a
    /// clean-up job removes it), anywhere else nothing does.
    pub(crate) async fn close_earlier_claim(&mut self, resource_id: &str, abandoned: &[String]) -> StoreResult<()> {
        let sql = "SELECT pool FROM capacity_claims WHERE resource_id = $1 AND settled_at IS NULL";
        let open: Option<(String,)> = on_tx!(self, t => sqlx::query_as(sql).bind(resource_id).fetch_optional(t).await?);
        match open {
            Some((pool,)) if abandoned.contains(&pool) => self.forget_claim(resource_id).await,
            Some(_) => self.release_claim(resource_id).await,
            None => Ok(()),
        }
    }

    /// The pools on which the given resources lie.
    pub(crate) async fn pools_of_resources(&mut self, resource_ids: &[String]) -> StoreResult<Vec<String>> {
        let mut pools = Vec::new();
        let sql = "SELECT pool FROM pool_allocations WHERE resource_id = $1";
        for id in resource_ids {
            let found: Option<(String,)> = on_tx!(self, t => sqlx::query_as(sql).bind(id).fetch_optional(t).await?);
            pools.extend(found.map(|(pool,)| pool));
        }
        Ok(pools)
    }

    /// Serialises whoever changes claims of a configured group; a key that is no group has no row and needs none.
    pub(super) async fn lock_capacity_group(&mut self, name: &str) -> StoreResult<()> {
        let sql = "UPDATE capacity_groups SET turns = turns + 1 WHERE name = $1";
        on_tx!(self, t => sqlx::query(sql).bind(name).execute(t).await?.rows_affected());
        Ok(())
    }

    /// Holds the group and the pool that a resource lies in, before its claim: a report takes them in this order too.
    pub(super) async fn hold_places_of(&mut self, resource_id: &str) -> StoreResult<()> {
        self.hold_places(resource_id, resource_id).await
    }

    /// The places of two resources, in one order.
    async fn hold_places(&mut self, one: &str, other: &str) -> StoreResult<()> {
        let sql = "SELECT name, capacity_key FROM pools WHERE name IN (SELECT pool FROM capacity_claims WHERE resource_id IN ($1, $2) AND NOT freed \
                   UNION SELECT pool FROM pool_allocations WHERE resource_id IN ($1, $2)) ORDER BY capacity_key, name";
        let places: Vec<(String, String)> = on_tx!(self, t => sqlx::query_as(sql).bind(one).bind(other).fetch_all(t).await?);
        self.hold_these(&places).await
    }

    /// Pools with their capacity keys, in one order.
    pub(super) async fn hold_these(&mut self, places: &[(String, String)]) -> StoreResult<()> {
        for (_, key) in places {
            self.lock_capacity_group(key).await?;
        }
        for (pool, _) in places {
            let sql = "UPDATE pools SET resources = resources WHERE name = $1";
            on_tx!(self, t => sqlx::query(sql).bind(pool).execute(t).await?.rows_affected());
        }
        Ok(())
    }

    async fn shift_pool(&mut self, pool: &str, key: &str, claimed: i64, allocated: i64, resources: i64) -> StoreResult<()> {
        let sql = "UPDATE pools SET claimed_gib = claimed_gib + $3, \
                       allocated_gib = allocated_gib + CASE WHEN name = $1 THEN $4 ELSE 0 END, \
                       resources = resources + CASE WHEN name = $1 THEN $5 ELSE 0 END \
                   WHERE capacity_key = $2";
        on_tx!(self, t => sqlx::query(sql).bind(pool).bind(key).bind(claimed).bind(allocated).bind(resources).execute(t).await?.rows_affected());
        Ok(())
    }

    /// Drops the claims that the reports of every pool they count against cover.
    pub(super) async fn drop_covered_claims(&mut self, host: &str) -> StoreResult<()> {
        let sql = "DELETE FROM capacity_claims WHERE capacity_key IN (SELECT capacity_key FROM pools WHERE host = $1) AND settled_at < \
                       (SELECT MIN(p.report_began_at) FROM pools p JOIN backends b ON b.host = p.host \
                        WHERE p.capacity_key = capacity_claims.capacity_key AND p.present AND b.up AND b.configured)";
        on_tx!(self, t => sqlx::query(sql).bind(host).execute(t).await?.rows_affected());
        Ok(())
    }

    /// A back end came, left or changed its capacity group: its claims count against the new one from now on.
    pub(super) async fn move_claims(&mut self, host: &str, group: Option<&str>) -> StoreResult<()> {
        let sql = "SELECT name, capacity_key FROM pools WHERE host = $1 AND capacity_key <> COALESCE($2, name)";
        let moved: Vec<(String, String)> = on_tx!(self, t => sqlx::query_as(sql).bind(host).bind(group).fetch_all(t).await?);
        for (pool, old) in moved {
            let new = group.unwrap_or(&pool).to_owned();
            let sql = "UPDATE pools SET capacity_key = $2 WHERE name = $1";
            on_tx!(self, t => sqlx::query(sql).bind(&pool).bind(&new).execute(t).await?.rows_affected());
            let sql = "UPDATE capacity_claims SET capacity_key = $2 WHERE pool = $1";
            on_tx!(self, t => sqlx::query(sql).bind(&pool).bind(&new).execute(t).await?.rows_affected());
            let sql = "UPDATE pools SET claimed_gib = (SELECT CAST(COALESCE(SUM(c.gib), 0) AS BIGINT) FROM capacity_claims c \
                           WHERE c.capacity_key = pools.capacity_key AND (c.settled_at IS NULL OR c.settled_at >= pools.report_began_at)) \
                       WHERE capacity_key IN ($1, $2)";
            on_tx!(self, t => sqlx::query(sql).bind(&old).bind(&new).execute(t).await?.rows_affected());
        }
        Ok(())
    }
}
