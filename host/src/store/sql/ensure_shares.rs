//! What a run of ensure holds of single shares.
//!
//! A share that is taken has a row (`held`), its order key is held, and it shows `ensuring` where the run says so; all three
//! end together ([`Tx::ensure_let_go`]). So a run that is taken over finds what it holds, and nothing stays behind.

use crate::{
    clock::Micros,
    domain::{
        share::{ENSURE_FROM, ShareStatus, TRANSITIONAL, is_busy, is_one_of},
        share_server::ServerStatus,
    },
    store::{
        Store, StoreResult, Tx,
        bind::Sql,
        on_read, on_tx,
        sql::{
            ensure::{EnsureCounts, EnsureRun},
            shares::{SELECT, ShareRow},
        },
    },
};

/// How many shares one transaction takes at most, whatever the size of a call: each has a lock of its own on PostgreSQL, where all
/// transactions together have room for some thousands.
pub const TAKEN_AT_ONCE: i64 = 100;

/// A share that a run has something to say of.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow, serde::Serialize)]
pub struct EnsureShare {
    pub share_id: String,
    /// `held`, `busy`, `failed`, `left_out`, `broken`, `skipped`.
    pub state: String,
    pub reason: Option<String>,
}

#[derive(sqlx::FromRow)]
struct Candidate {
    id: String,
    status: String,
    task_state: Option<String>,
    /// Of the server that it is on.
    server_status: Option<String>,
}

impl Candidate {
    fn fits(&self) -> bool {
        is_one_of(&self.status, ENSURE_FROM) && !is_busy(self.task_state.as_deref()) && !self.server_changes()
    }
    /// Something else works on it, and will end.
    fn is_busy(&self) -> bool {
        is_one_of(&self.status, TRANSITIONAL) || is_busy(self.task_state.as_deref()) || self.server_changes()
    }
    /// Where it is mounted changes with its server.
    fn server_changes(&self) -> bool {
        self.server_status.as_deref() == Some(ServerStatus::NetworkChange.as_str())
    }
}

fn count(ids: &[String]) -> i64 {
    i64::try_from(ids.len()).unwrap_or(i64::MAX)
}

impl Store {
    /// The fewest turns that a busy share had which has not had `tries`. None: there is none left to try.
    pub async fn ensure_tried_least(&self, run_id: &str, tries: i64) -> StoreResult<Option<i64>> {
        let sql = "SELECT MIN(part) FROM ensure_shares WHERE run_id = $1 AND state = 'busy' AND part < $2";
        let (least,): (Option<i64>,) = on_read!(self, p => sqlx::query_as(sql).bind(run_id).bind(tries).fetch_one(p).await?);
        Ok(least)
    }

    /// The shares that are asked for in the next call, and their number.
    pub async fn ensure_part(&self, run_id: &str) -> StoreResult<Option<(i64, Vec<ShareRow>)>> {
        let sql = "SELECT MIN(part) FROM ensure_shares WHERE run_id = $1 AND state = 'held'";
        let (part,): (Option<i64>,) = on_read!(self, p => sqlx::query_as(sql).bind(run_id).fetch_one(p).await?);
        let Some(part) = part else { return Ok(None) };
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} JOIN ensure_shares e ON e.share_id = s.id WHERE e.run_id = $1 AND e.state = 'held' AND e.part = $2 ORDER BY i.id"
        ));
        let rows = on_read!(self, p => sqlx::query_as(sql).bind(run_id).bind(part).fetch_all(p).await?);
        Ok(Some((part, rows)))
    }

    /// The ids of up to `limit` shares of a back end in whose state something is under way, and how many there are.
    pub async fn shares_in_transition(&self, backend: &str, limit: i64) -> StoreResult<(Vec<(String, String)>, i64)> {
        let (n,): (i64,) = self.fetch_one(in_transition("COUNT(*)", backend)).await?;
        let mut sql = in_transition("s.id, s.status", backend);
        sql.push(" ORDER BY i.id LIMIT ").bind(limit);
        Ok((self.fetch_all(sql).await?, n))
    }

    /// What a run says of single shares: those it is done with first.
    pub async fn ensure_shares(&self, run_id: &str, limit: i64) -> StoreResult<Vec<EnsureShare>> {
        let sql = "SELECT share_id, state, reason FROM ensure_shares WHERE run_id = $1 \
                   ORDER BY CASE WHEN state = 'held' THEN 1 ELSE 0 END, state, share_id LIMIT $2";
        Ok(on_read!(self, p => sqlx::query_as(sql).bind(run_id).bind(limit).fetch_all(p).await?))
    }
}

/// `what` of the shares of a back end in whose state something is under way. The back end's shares are read for it, as many as
/// there are: it is not for a transaction that holds up others.
fn in_transition(what: &str, backend: &str) -> Sql {
    let mut sql = Sql::new(format!("SELECT {what} FROM share_instances i JOIN shares s ON s.id = i.share_id WHERE i.backend = "));
    sql.bind(backend).push(" AND s.status IN ").bind_list(TRANSITIONAL.iter().map(|s| s.as_str()));
    sql
}

impl Tx {
    /// Takes the next shares of a run, up to `limit` and [`TAKEN_AT_ONCE`], and writes down in `run`, too, how far it is. How many
    /// had their turn; none: every share had.
    pub async fn ensure_take_next(&mut self, run: &mut EnsureRun, limit: i64, now: Micros) -> StoreResult<i64> {
        let sql = "SELECT i.id, i.share_id FROM share_instances i WHERE i.backend = $1 AND i.id > $2 ORDER BY i.id LIMIT $3";
        let next: Vec<(String, String)> = on_tx!(self, c => sqlx::query_as(sql).bind(&run.backend).bind(&run.walked_to)
            .bind(limit.min(TAKEN_AT_ONCE)).fetch_all(c).await?);
        let Some(last) = next.last().map(|(instance, _)| instance.clone()) else {
            self.ensure_walked(&run.id, None).await?;
            run.walked = true;
            return Ok(0);
        };
        let ids: Vec<String> = next.into_iter().map(|(_, id)| id).collect();
        self.ensure_take(run, &ids, 0, now).await?;
        self.ensure_walked(&run.id, Some(&last)).await?;
        run.walked_to = last;
        Ok(count(&ids))
    }

    /// Takes those of the busy shares that no longer are, of those that had `tried` turns before; up to `limit` and
    /// [`TAKEN_AT_ONCE`]. How many had one more turn, and how many are held now.
    pub async fn ensure_take_busy(&mut self, run: &EnsureRun, tried: i64, limit: i64, now: Micros) -> StoreResult<(i64, i64)> {
        // a busy share's part is the number of its turns
        let sql = "SELECT share_id FROM ensure_shares WHERE run_id = $1 AND state = 'busy' AND part = $2 ORDER BY share_id LIMIT $3";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(&run.id).bind(tried)
            .bind(limit.min(TAKEN_AT_ONCE)).fetch_all(c).await?);
        if rows.is_empty() {
            return Ok((0, 0));
        }
        let ids: Vec<String> = rows.into_iter().map(|(id,)| id).collect();
        self.ensure_forget(&run.id, &ids).await?;
        let held = self.ensure_take(run, &ids, tried + 1, now).await?;
        Ok((count(&ids), held))
    }

    /// Takes what fits of `ids`, and how many that are; what something else works on is noted as busy. The rest is in a state of
    /// which no driver is asked, and is reported as skipped.
    async fn ensure_take(&mut self, run: &EnsureRun, ids: &[String], tried: i64, now: Micros) -> StoreResult<i64> {
        // before anything is decided
        self.keep_networks_of(ids).await?;
        self.shares_held(ids).await?;
        let mut sql = Sql::new(
            "SELECT s.id, s.status, s.task_state, v.status AS server_status FROM share_instances i JOIN shares s ON s.id = i.share_id \
             LEFT JOIN share_servers v ON v.id = i.share_server_id WHERE s.id IN ",
        );
        sql.bind_list(ids.iter().map(String::as_str)).push(" AND i.backend = ").bind(run.backend.as_str());
        let found: Vec<Candidate> = self.fetch_all(sql).await?;
        let fit: Vec<String> = found.iter().filter(|c| c.fits()).map(|c| c.id.clone()).collect();
        let held = self.hold_order_keys(&fit, &run.id).await?;
        let mut busy: Vec<String> = fit.into_iter().filter(|id| !held.contains(id)).collect();
        busy.extend(found.iter().filter(|c| c.is_busy()).map(|c| c.id.clone()));
        self.ensure_note(&run.id, &held, "held", 0).await?;
        self.ensure_note(&run.id, &busy, "busy", tried).await?;
        let mut counts = EnsureCounts::default();
        for other in found.iter().filter(|c| !c.fits() && !c.is_busy()) {
            self.ensure_report(&run.id, &other.id, "skipped", Some(&format!("its status is {}", other.status))).await?;
            counts.skipped += 1;
        }
        if counts.skipped > 0 {
            self.ensure_count(&run.id, counts).await?;
        }
        if run.changes_status && !held.is_empty() {
            let mut sql = Sql::new("UPDATE shares SET previous_status = status, status = ");
            sql.bind(ShareStatus::Ensuring.as_str()).push(", updated_at = ").bind(now);
            sql.push(" WHERE id IN ").bind_list(held.iter().map(String::as_str));
            sql.push(" AND status IN ").bind_list(ENSURE_FROM.iter().map(|s| s.as_str()));
            self.run(sql).await?;
            self.instances_follow(&held, now).await?;
        }
        Ok(count(&held))
    }

    /// Holds the rows of shares in the order of their ids, so that two who hold some of the same never wait for each other.
    async fn shares_held(&mut self, ids: &[String]) -> StoreResult<()> {
        let mut sql = Sql::new("SELECT id FROM shares WHERE id IN ");
        sql.bind_list(ids.iter().map(String::as_str)).push(" ORDER BY id ").push(&self.dialect().expand("{for_update}"));
        let _: Vec<(String,)> = self.fetch_all(sql).await?;
        Ok(())
    }

    /// The networks of these shares before the shares themselves, as everybody does who works on a network: no server of theirs
    /// begins to be changed until the transaction ends.
    async fn keep_networks_of(&mut self, ids: &[String]) -> StoreResult<()> {
        let mut sql = Sql::new("SELECT n.id FROM share_networks n WHERE n.id IN (SELECT s.share_network_id FROM shares s WHERE s.id IN ");
        let for_share = self.dialect().expand("{for_share}");
        sql.bind_list(ids.iter().map(String::as_str)).push(") ORDER BY n.id ").push(&for_share);
        let _: Vec<(String,)> = self.fetch_all(sql).await?;
        Ok(())
    }

    async fn ensure_note(&mut self, run_id: &str, ids: &[String], state: &str, part: i64) -> StoreResult<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let mut sql = Sql::new("INSERT INTO ensure_shares (run_id, share_id, state, part) VALUES ");
        for (n, id) in ids.iter().enumerate() {
            sql.push(if n == 0 { "(" } else { ", (" }).bind(run_id).push(", ").bind(id.as_str());
            sql.push(", ").bind(state).push(", ").bind(part).push(")");
        }
        self.run(sql).await?;
        Ok(())
    }

    /// A part that cannot be asked for in one call becomes two: these of its shares get a number of their own.
    pub async fn ensure_split(&mut self, run_id: &str, part: i64, second: &[&str]) -> StoreResult<()> {
        // the numbers above it move, so that what was split is asked for first
        let sql = "UPDATE ensure_shares SET part = part + 1 WHERE run_id = $1 AND state = 'held' AND part > $2";
        on_tx!(self, c => sqlx::query(sql).bind(run_id).bind(part).execute(c).await?.rows_affected());
        let mut sql = Sql::new("UPDATE ensure_shares SET part = part + 1 WHERE run_id = ");
        sql.bind(run_id).push(" AND state = 'held' AND part = ").bind(part).push(" AND share_id IN ").bind_list(second.iter().copied());
        self.run(sql).await?;
        Ok(())
    }

    /// These shares have what they had before, and their jobs go on. A share that shows something else by now keeps it. The
    /// caller wakes the queue after the commit.
    pub async fn ensure_let_go(&mut self, run_id: &str, ids: &[String], now: Micros) -> StoreResult<()> {
        if ids.is_empty() {
            return Ok(());
        }
        self.shares_held(ids).await?;
        let mut sql = Sql::new("UPDATE shares SET status = COALESCE(previous_status, 'available'), previous_status = NULL, updated_at = ");
        sql.bind(now).push(" WHERE id IN ").bind_list(ids.iter().map(String::as_str));
        sql.push(" AND status = ").bind(ShareStatus::Ensuring.as_str());
        self.run(sql).await?;
        self.instances_follow(ids, now).await?;
        self.ensure_forget(run_id, ids).await?;
        self.release_order_keys(ids, run_id).await
    }

    /// Everything a run holds.
    pub async fn ensure_held(&mut self, run_id: &str) -> StoreResult<Vec<String>> {
        let sql = "SELECT share_id FROM ensure_shares WHERE run_id = $1 AND state = 'held' ORDER BY share_id";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(run_id).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// What a run holds in one part.
    pub async fn ensure_held_in(&mut self, run_id: &str, part: i64) -> StoreResult<Vec<String>> {
        let sql = "SELECT share_id FROM ensure_shares WHERE run_id = $1 AND state = 'held' AND part = $2 ORDER BY share_id";
        let rows: Vec<(String,)> = on_tx!(self, c => sqlx::query_as(sql).bind(run_id).bind(part).fetch_all(c).await?);
        Ok(rows.into_iter().map(|(id,)| id).collect())
    }

    /// The shares of a part are gone: nothing is held for them, and there are fewer to be done.
    pub async fn ensure_gone(&mut self, run_id: &str, part: i64, now: Micros) -> StoreResult<()> {
        let gone = self.ensure_held_in(run_id, part).await?;
        // as many as a statement takes
        for some in gone.chunks(500) {
            self.ensure_let_go(run_id, some, now).await?;
        }
        let sql = "UPDATE ensure_runs SET total = total - $2 WHERE id = $1";
        on_tx!(self, c => sqlx::query(sql).bind(run_id).bind(count(&gone)).execute(c).await?.rows_affected());
        Ok(())
    }

    /// What a run says of a share when it is done with it.
    pub async fn ensure_report(&mut self, run_id: &str, share_id: &str, state: &str, reason: Option<&str>) -> StoreResult<()> {
        let sql = "INSERT INTO ensure_shares (run_id, share_id, state, part, reason) VALUES ($1, $2, $3, 0, $4) \
                   ON CONFLICT (run_id, share_id) DO UPDATE SET state = excluded.state, reason = excluded.reason";
        on_tx!(self, c => sqlx::query(sql).bind(run_id).bind(share_id).bind(state).bind(reason).execute(c).await?.rows_affected());
        Ok(())
    }

    /// Those that were busy to the end are reported as skipped; how many.
    pub async fn ensure_skip_busy(&mut self, run_id: &str) -> StoreResult<i64> {
        let sql = "UPDATE ensure_shares SET state = 'skipped', reason = COALESCE(reason, 'it was busy whenever its turn came') \
                   WHERE run_id = $1 AND state = 'busy'";
        let n = on_tx!(self, c => sqlx::query(sql).bind(run_id).execute(c).await?.rows_affected());
        Ok(i64::try_from(n).unwrap_or(i64::MAX))
    }

    async fn ensure_forget(&mut self, run_id: &str, ids: &[String]) -> StoreResult<()> {
        let mut sql = Sql::new("DELETE FROM ensure_shares WHERE run_id = ");
        sql.bind(run_id).push(" AND share_id IN ").bind_list(ids.iter().map(String::as_str));
        self.run(sql).await?;
        Ok(())
    }

    /// The instances' status is their shares'.
    async fn instances_follow(&mut self, ids: &[String], now: Micros) -> StoreResult<()> {
        let mut sql = Sql::new(
            "UPDATE share_instances SET status = (SELECT s.status FROM shares s WHERE s.id = share_instances.share_id), updated_at = ",
        );
        sql.bind(now).push(" WHERE share_id IN ").bind_list(ids.iter().map(String::as_str));
        sql.push(" AND status <> (SELECT s.status FROM shares s WHERE s.id = share_instances.share_id)");
        self.run(sql).await?;
        Ok(())
    }

    /// What ensuring found of a share beside its locations: none leaves a column as it is. `pool` is `host@backend#pool`.
    pub async fn share_found(
        &mut self,
        id: &str,
        provider_id: Option<&str>,
        provider_data: Option<&str>,
        pool: Option<&str>,
        now: Micros,
    ) -> StoreResult<bool> {
        let sql = "UPDATE share_instances SET provider_id = COALESCE($2, provider_id), provider_data = COALESCE($3, provider_data), \
                       host = COALESCE($4, host), updated_at = $5 WHERE share_id = $1";
        Ok(
            on_tx!(self, c => sqlx::query(sql).bind(id).bind(provider_id).bind(provider_data).bind(pool).bind(now).execute(c).await?.rows_affected())
                == 1,
        )
    }
}
