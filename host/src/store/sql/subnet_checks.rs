//! What drivers said when they were asked whether live share servers could be given one more subnet.
//!
//! A check is one question about a network and holds one answer for each of its servers. It was made for those servers and
//! for the incarnations of their back ends, and it grows old: who reads it compares before it counts.

use crate::{
    clock::Micros,
    domain::share_network::SubnetVerdict,
    store::{Store, StoreResult, Tx, on_read, on_tx, sql::share_network_subnets::SubnetRow},
};

/// What is asked: a subnet for a network. Empty texts are a default subnet, and one without ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub network_id: String,
    pub zone: String,
    pub neutron_net_id: String,
    pub neutron_subnet_id: String,
}

impl Question {
    pub fn of(subnet: &SubnetRow) -> Self {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        Self {
            network_id: subnet.share_network_id.clone(),
            zone: text(&subnet.availability_zone),
            neutron_net_id: text(&subnet.neutron_net_id),
            neutron_subnet_id: text(&subnet.neutron_subnet_id),
        }
    }
}

/// A check as it stands in the database.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct CheckRow {
    pub id: String,
    /// What drivers are told, and what the subnet is called when it is made.
    pub subnet_id: String,
    pub created_at: Micros,
}

/// What was said of one server.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AnswerRow {
    pub check_id: String,
    pub share_server_id: String,
    /// `host@backend`
    pub backend: String,
    /// Of that back end, when it was asked.
    pub incarnation: String,
    /// The job that asks.
    pub job_id: String,
    /// None: not answered yet.
    pub verdict: Option<String>,
    /// Why not, for the operator.
    pub reason: Option<String>,
    /// How many addresses the server wants in the subnet.
    pub addresses: Option<i64>,
}

impl AnswerRow {
    pub fn verdict(&self) -> Option<SubnetVerdict> {
        self.verdict.as_deref().and_then(SubnetVerdict::parse)
    }
}

/// A check with what was said so far, by server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetCheck {
    pub row: CheckRow,
    pub answers: Vec<AnswerRow>,
}

const CHECK: &str = "SELECT id, subnet_id, created_at FROM subnet_checks \
     WHERE share_network_id = $1 AND availability_zone = $2 AND neutron_net_id = $3 AND neutron_subnet_id = $4";

const ANSWERS: &str = "SELECT check_id, share_server_id, backend, incarnation, job_id, verdict, reason, addresses FROM subnet_check_answers \
     WHERE check_id = $1 ORDER BY share_server_id";

impl Store {
    /// What was said so far. Empty: there is no such check any more.
    pub async fn subnet_check_answers(&self, check_id: &str) -> StoreResult<Vec<AnswerRow>> {
        Ok(on_read!(self, p => sqlx::query_as(ANSWERS).bind(check_id).fetch_all(p).await?))
    }
}

impl Tx {
    /// The check of this question.
    pub async fn subnet_check(&mut self, q: &Question) -> StoreResult<Option<SubnetCheck>> {
        let row: Option<CheckRow> = on_tx!(self, c => sqlx::query_as(CHECK).bind(&q.network_id).bind(&q.zone).bind(&q.neutron_net_id)
            .bind(&q.neutron_subnet_id).fetch_optional(c).await?);
        let Some(row) = row else { return Ok(None) };
        let answers = on_tx!(self, c => sqlx::query_as(ANSWERS).bind(&row.id).fetch_all(c).await?);
        Ok(Some(SubnetCheck { row, answers }))
    }

    pub async fn subnet_check_insert(&mut self, q: &Question, check: &CheckRow) -> StoreResult<()> {
        let sql = "INSERT INTO subnet_checks (id, share_network_id, availability_zone, neutron_net_id, neutron_subnet_id, subnet_id, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        on_tx!(self, c => sqlx::query(sql).bind(&check.id).bind(&q.network_id).bind(&q.zone).bind(&q.neutron_net_id).bind(&q.neutron_subnet_id)
            .bind(&check.subnet_id).bind(check.created_at).execute(c).await?.rows_affected());
        Ok(())
    }

    /// The server's driver is asked by this job.
    pub async fn subnet_check_asks(&mut self, a: &AnswerRow) -> StoreResult<()> {
        let sql = "INSERT INTO subnet_check_answers (check_id, share_server_id, backend, incarnation, job_id) VALUES ($1, $2, $3, $4, $5)";
        on_tx!(self, c => sqlx::query(sql).bind(&a.check_id).bind(&a.share_server_id).bind(&a.backend).bind(&a.incarnation).bind(&a.job_id)
            .execute(c).await?.rows_affected());
        Ok(())
    }

    /// What a driver said. False: the check is gone, or has this answer already.
    pub async fn subnet_check_answer(
        &mut self,
        check_id: &str,
        server_id: &str,
        verdict: SubnetVerdict,
        reason: Option<&str>,
        addresses: Option<i64>,
    ) -> StoreResult<bool> {
        let sql = "UPDATE subnet_check_answers SET verdict = $3, reason = $4, addresses = $5 \
                   WHERE check_id = $1 AND share_server_id = $2 AND verdict IS NULL";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(check_id).bind(server_id).bind(verdict.as_str()).bind(reason).bind(addresses)
            .execute(c).await?.rows_affected())
            == 1)
    }

    /// Holds the check: who says something of it does so one after the other. False: it is gone.
    pub async fn subnet_check_held(&mut self, check_id: &str) -> StoreResult<bool> {
        let sql = "UPDATE subnet_checks SET id = id WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(check_id).execute(c).await?.rows_affected()) == 1)
    }

    /// How many drivers have refused so far.
    pub async fn subnet_check_refusals(&mut self, check_id: &str) -> StoreResult<i64> {
        let sql = "SELECT COUNT(*) FROM subnet_check_answers WHERE check_id = $1 AND verdict = 'refused'";
        let (n,): (i64,) = on_tx!(self, c => sqlx::query_as(sql).bind(check_id).fetch_one(c).await?);
        Ok(n)
    }

    pub async fn subnet_check_remove(&mut self, id: &str) -> StoreResult<bool> {
        let sql = "DELETE FROM subnet_checks WHERE id = $1";
        Ok(on_tx!(self, c => sqlx::query(sql).bind(id).execute(c).await?.rows_affected()) == 1)
    }

    /// Removes the checks of a network that are older.
    pub async fn subnet_checks_forget(&mut self, network_id: &str, before: Micros) -> StoreResult<()> {
        let sql = "DELETE FROM subnet_checks WHERE share_network_id = $1 AND created_at < $2";
        on_tx!(self, c => sqlx::query(sql).bind(network_id).bind(before).execute(c).await?.rows_affected());
        Ok(())
    }
}
