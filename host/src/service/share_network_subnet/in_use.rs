//! A subnet for a zone whose subnets have share servers: they have to be given addresses in it. Their drivers are asked first
//! ([`ask`](super::ask)), and nothing changes until all of them agree ([`accept`](super::accept)).

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{
    OfNetwork,
    accept::accept,
    ask::{self, Said, Stored},
};
use crate::{
    app::App,
    context::RequestContext,
    domain::share_network::{NetworkStatus, SubnetVerdict},
    error::{Error, Remedy, Result},
    service::network_refusal as refusal,
    store::sql::{share_network_subnets::SubnetRow, share_networks::ShareNetworkRow, subnet_checks::AnswerRow},
};

/// How often drivers are asked for one create when servers or drivers change meanwhile.
const ROUNDS: usize = 3;
/// How long a check waits for drivers that answer at once.
const BRIEFLY: Duration = Duration::from_secs(1);

/// What a check says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// None: drivers are being asked.
    pub compatible: Option<bool>,
    /// The back ends that were asked.
    pub hosts: BTreeMap<String, Option<bool>>,
    /// Why not, for operators.
    pub reasons: BTreeMap<String, String>,
}

/// Adds `subnet`, which is in no database yet, to the network and its servers.
///
/// # Errors
/// 400 while drivers have not answered, or when something on the network is not at rest, 409 when its servers cannot be given
/// another subnet, a driver refuses, or another change of the network has begun, 503 when a back end is down.
pub async fn add(
    app: &Arc<App>,
    ctx: &RequestContext,
    network: ShareNetworkRow,
    subnet: SubnetRow,
    metadata: Vec<(String, String)>,
) -> Result<OfNetwork> {
    check_not_in_change(&network)?;
    for _ in 0..ROUNDS {
        if let Some(check) = ask::begin(app, ctx, &subnet, Stored::CountsIfSaid).await? {
            let answers = ask::wait(app, ctx, &check, app.config.get().jobs.wait).await?;
            match ask::said(&answers) {
                Said::Possible => {}
                Said::No(reasons) => return Err(refused(ctx, &network, &reasons)),
                // another check was begun, which this create joins
                Said::NotYet if answers.is_empty() => continue,
                Said::NotYet => return Err(in_progress(&network)),
            }
        }
        if let Some(made) = accept(app, ctx, &subnet, &metadata).await? {
            return Ok(made);
        }
    }
    Err(Error::conflict(format!(
        "The share servers of share network {} or their back ends changed while they were being asked; try again.",
        network.id
    )))
}

/// Whether the servers could be given `subnet`, as far as their drivers have said. `anew`: whatever was said before is forgotten.
///
/// # Errors
/// As [`add`], but that what drivers say is no refusal.
pub async fn check(app: &App, ctx: &RequestContext, subnet: &SubnetRow, anew: bool) -> Result<Checked> {
    let stored = if anew { Stored::IsForgotten } else { Stored::Counts };
    let Some(check) = ask::begin(app, ctx, subnet, stored).await? else {
        return Ok(Checked { compatible: Some(true), ..Checked::default() });
    };
    Ok(checked(&ask::wait(app, ctx, &check, BRIEFLY).await?))
}

fn checked(answers: &[AnswerRow]) -> Checked {
    let mut hosts: BTreeMap<String, Option<bool>> = BTreeMap::new();
    for answer in answers {
        let says = answer.verdict().map(|v| v == SubnetVerdict::Possible);
        let so_far = hosts.entry(answer.backend.clone()).or_insert(says);
        // of several servers on one back end a no counts most, then one that has not answered
        *so_far = match (*so_far, says) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (None, _) | (_, None) => None,
            _ => Some(true),
        };
    }
    let (compatible, reasons) = match ask::said(answers) {
        Said::Possible => (Some(true), BTreeMap::new()),
        Said::No(reasons) => (Some(false), reasons),
        Said::NotYet => (None, BTreeMap::new()),
    };
    Checked { compatible, hosts, reasons }
}

/// Of two creates at the same time one comes first.
///
/// # Errors
/// 409.
pub fn check_not_in_change(network: &ShareNetworkRow) -> Result<()> {
    if network.status == NetworkStatus::NetworkChange.as_str() { Err(refusal::in_change(network)) } else { Ok(()) }
}

/// Operators read the drivers' own reasons, others that there is one.
fn refused(ctx: &RequestContext, network: &ShareNetworkRow, reasons: &BTreeMap<String, String>) -> Error {
    let why = if ctx.is_admin() {
        reasons.iter().map(|(host, reason)| format!("{host}: {reason}")).collect::<Vec<_>>().join("; ")
    } else {
        "a storage back end of its share servers refuses. Contact your administrator to learn why".to_owned()
    };
    Error::conflict(format!("The share network {} cannot be given this subnet: {why}.", network.id)).with_remedy(Remedy::Operator)
}

fn in_progress(network: &ShareNetworkRow) -> Error {
    Error::invalid(format!(
        "The share servers of share network {} are being asked whether they can be given this subnet: the check is in progress, retry.",
        network.id
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(backend: &str, verdict: Option<SubnetVerdict>) -> AnswerRow {
        AnswerRow {
            check_id: "c".into(),
            share_server_id: "v".into(),
            backend: backend.into(),
            incarnation: "i".into(),
            job_id: "j".into(),
            verdict: verdict.map(|v| v.as_str().to_owned()),
            reason: None,
            addresses: None,
        }
    }

    #[test]
    fn a_back_end_says_what_its_most_reluctant_server_says() {
        use SubnetVerdict::{Possible, Refused};
        let found = checked(&[
            answer("a", Some(Possible)),
            answer("a", None),
            answer("b", None),
            answer("b", Some(Refused)),
            answer("c", Some(Possible)),
        ]);
        let hosts: Vec<(&str, Option<bool>)> = found.hosts.iter().map(|(h, v)| (h.as_str(), *v)).collect();
        assert_eq!(hosts, [("a", None), ("b", Some(false)), ("c", Some(true))]);
        assert_eq!(found.compatible, Some(false));
    }
}
