//! Asking the drivers of a network's share servers whether each could be given one more subnet.
//!
//! The question is stored with its answers, one job asks for each server, and nothing else changes. A stored check counts for
//! the servers and incarnations it was made for, and for ten minutes; otherwise drivers are asked anew.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::json;
use uuid::Uuid;

use super::{
    create::zone,
    driver_subnet,
    in_use::check_not_in_change,
    ready::{Down, Ready, ready},
};
use crate::{
    app::App,
    clock::{self, Micros},
    context::RequestContext,
    domain::share_network::SubnetVerdict,
    error::{Error, Remedy, Result},
    jobs::NewJob,
    network::{NetworkError, Place, Segment, SubnetIds},
    service::{network_refusal as refusal, share_network::check_active},
    store::{
        Tx,
        sql::{
            share_network_subnets::SubnetRow,
            share_networks::ShareNetworkRow,
            subnet_checks::{AnswerRow, CheckRow, Question, SubnetCheck},
        },
    },
};

/// How long what drivers said counts.
pub const HOLDS: Duration = Duration::from_secs(600);
/// The task that asks.
pub const KIND: &str = "share_server.subnet_check";

/// What becomes of a check that is stored already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It counts.
    Counts,
    /// It counts unless a driver could not say: for a create.
    CountsIfSaid,
    /// It does not count: all are asked again.
    IsForgotten,
}

/// What drivers said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Possible,
    /// Back ends and their reasons.
    No(BTreeMap<String, String>),
    /// Some have not answered yet.
    NotYet,
}

/// The check of `subnet`, begun now if there was none. None: no server is in its zone, and nobody has to be asked.
///
/// # Errors
/// 400 while the network is being worked on or its subnet is not known to the network service, 404, and as [`ready`].
pub async fn begin(app: &App, ctx: &RequestContext, subnet: &SubnetRow, stored: Stored) -> Result<Option<SubnetCheck>> {
    let network_id = subnet.share_network_id.as_str();
    let down = Down::read(app).await?;
    // nobody has to know it where no server is
    let segment = segment(app, subnet);
    let mut tx = app.store.begin().await?;
    let Some(network) = tx.share_network_locked(network_id).await? else { return Err(refusal::network_not_found(network_id)) };
    if stored == Stored::CountsIfSaid {
        check_not_in_change(&network)?;
    }
    check_active(&network)?;
    if zone(&mut tx, network_id, subnet.availability_zone.as_deref()).await?.servers.is_empty() {
        tx.rollback().await?;
        return Ok(None);
    }
    let servers = ready(app, ctx, &mut tx, &down, &network).await?;
    let question = Question::of(subnet);
    let now = clock::now();
    tx.subnet_checks_forget(network_id, now - clock::micros(HOLDS)).await?;
    if let Some(found) = tx.subnet_check(&question).await? {
        if stored.counts(&found) && holds(&found, &servers, now) {
            tx.commit().await?;
            return Ok(Some(found));
        }
        tx.subnet_check_remove(&found.row.id).await?;
    }
    let check = insert(app, ctx, &mut tx, (&network, subnet, &segment?), &question, servers).await?;
    tx.commit().await?;
    Ok(Some(check))
}

async fn insert(
    app: &App,
    ctx: &RequestContext,
    tx: &mut Tx,
    (network, subnet, segment): (&ShareNetworkRow, &SubnetRow, &Segment),
    question: &Question,
    servers: Vec<Ready>,
) -> Result<SubnetCheck> {
    let row = CheckRow { id: Uuid::new_v4().to_string(), subnet_id: Uuid::new_v4().to_string(), created_at: clock::now() };
    tx.subnet_check_insert(question, &row).await?;
    let mut told = driver_subnet(subnet);
    told.id.clone_from(&row.subnet_id);
    told.network_type = Some(segment.network_type.clone());
    told.segmentation_id = segment.segmentation_id;
    told.cidr.clone_from(&segment.cidr);
    told.gateway.clone_from(&segment.gateway);
    told.mtu = segment.mtu;
    told.ip_version = segment.ip_version;
    let mut answers = Vec::with_capacity(servers.len());
    for Ready { server, incarnation } in servers {
        let job = NewJob {
            kind: KIND,
            resource_kind: "share_server",
            // it changes nothing, and waits for nobody
            order_key: format!("{}/{}", row.id, server.id),
            resource_id: server.id.clone(),
            backend: Some(server.backend.clone()),
            payload: json!({ "check_id": row.id, "subnet": told }),
            max_age: app.config.get().jobs.max_age.min(HOLDS),
            request_id: ctx.request_id.clone(),
            project_id: network.project_id.clone(),
            user_id: ctx.principal.user_id.clone(),
        };
        let answer = AnswerRow {
            check_id: row.id.clone(),
            share_server_id: server.id,
            backend: server.backend,
            incarnation,
            job_id: tx.enqueue(&app.jobs, job).await?,
            verdict: None,
            reason: None,
            addresses: None,
        };
        tx.subnet_check_asks(&answer).await?;
        answers.push(answer);
    }
    Ok(SubnetCheck { row, answers })
}

impl Stored {
    fn counts(self, check: &SubnetCheck) -> bool {
        let has = |verdict| check.answers.iter().any(|a| a.verdict() == Some(verdict));
        match self {
            Self::Counts => true,
            Self::CountsIfSaid => has(SubnetVerdict::Refused) || !has(SubnetVerdict::Failed),
            Self::IsForgotten => false,
        }
    }
}

/// Whether the check was made for exactly these servers and incarnations, and not too long ago.
pub fn holds(check: &SubnetCheck, servers: &[Ready], now: Micros) -> bool {
    let asked: BTreeMap<&str, &str> = check.answers.iter().map(|a| (a.share_server_id.as_str(), a.incarnation.as_str())).collect();
    let there: BTreeMap<&str, &str> = servers.iter().map(|r| (r.server.id.as_str(), r.incarnation.as_str())).collect();
    asked == there && now - check.row.created_at <= clock::micros(HOLDS)
}

/// Waits for the drivers that have not answered yet, at most so long and not beyond the request's own deadline; what was said.
/// Empty: the check is gone, somebody began another.
pub async fn wait(app: &App, ctx: &RequestContext, check: &SubnetCheck, most: Duration) -> Result<Vec<AnswerRow>> {
    let left = Duration::from_micros(u64::try_from(ctx.deadline - clock::now()).unwrap_or(0));
    let end = Instant::now() + most.min(left.saturating_sub(Duration::from_millis(500)));
    for answer in check.answers.iter().filter(|a| a.verdict.is_none()) {
        if app.jobs.wait(&answer.job_id, end.saturating_duration_since(Instant::now())).await.is_err() {
            break;
        }
    }
    Ok(app.store.subnet_check_answers(&check.row.id).await?)
}

/// One refusal refuses the whole, whatever others have not said yet.
pub fn said(answers: &[AnswerRow]) -> Said {
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    for answer in answers.iter().filter(|a| a.verdict().is_some_and(|v| v != SubnetVerdict::Possible)) {
        reasons.entry(answer.backend.clone()).or_insert_with(|| answer.reason.clone().unwrap_or_default());
    }
    if !reasons.is_empty() {
        return Said::No(reasons);
    }
    let all = !answers.is_empty() && answers.iter().all(|a| a.verdict() == Some(SubnetVerdict::Possible));
    if all { Said::Possible } else { Said::NotYet }
}

/// What the network service makes of the subnet's ids.
///
/// # Errors
/// 400 for ids that it does not know.
pub fn segment(app: &App, subnet: &SubnetRow) -> Result<Segment> {
    app.network.segment(&place(subnet)).map_err(|e| match &e {
        NetworkError::UnknownSubnet { .. } | NetworkError::NoDefault => Error::invalid(e.to_string()).with_remedy(Remedy::User),
        _ => e.into(),
    })
}

/// Where a subnet's addresses are.
pub fn place(subnet: &SubnetRow) -> Place {
    let ids = SubnetIds { neutron_net_id: subnet.neutron_net_id.clone(), neutron_subnet_id: subnet.neutron_subnet_id.clone() };
    Place::Subnet { id: subnet.id.clone(), ids }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(server: &str, verdict: Option<SubnetVerdict>) -> AnswerRow {
        AnswerRow {
            check_id: "c".into(),
            share_server_id: server.into(),
            backend: format!("stowage@{server}"),
            incarnation: "i".into(),
            job_id: "j".into(),
            verdict: verdict.map(|v| v.as_str().to_owned()),
            reason: Some(format!("because of {server}")),
            addresses: None,
        }
    }

    #[test]
    fn all_must_agree_and_one_refusal_is_enough() {
        use SubnetVerdict::{Failed, Possible, Refused};
        assert_eq!(said(&[answer("a", Some(Possible)), answer("b", Some(Possible))]), Said::Possible);
        assert_eq!(said(&[answer("a", Some(Possible)), answer("b", None)]), Said::NotYet);
        for no in [Refused, Failed] {
            let Said::No(reasons) = said(&[answer("a", None), answer("b", Some(no))]) else { panic!("{no}") };
            assert_eq!(reasons.into_iter().collect::<Vec<_>>(), [("stowage@b".to_owned(), "because of b".to_owned())]);
        }
        assert_eq!(said(&[]), Said::NotYet, "somebody began another check");
    }

    #[test]
    fn a_create_asks_again_where_a_driver_could_not_say_and_takes_a_refusal() {
        use SubnetVerdict::{Failed, Possible, Refused};
        let check = |verdicts: &[SubnetVerdict]| SubnetCheck {
            row: CheckRow { id: "c".into(), subnet_id: "s".into(), created_at: 0 },
            answers: verdicts.iter().map(|v| answer("a", Some(*v))).collect(),
        };
        assert!(Stored::CountsIfSaid.counts(&check(&[Possible])) && Stored::CountsIfSaid.counts(&check(&[Failed, Refused])));
        assert!(!Stored::CountsIfSaid.counts(&check(&[Possible, Failed])));
        assert!(Stored::Counts.counts(&check(&[Failed])) && !Stored::IsForgotten.counts(&check(&[Possible])));
    }
}
