//! The promises of drivers that take over share servers.
//!
//! The kit knows of no server that somebody else made, so it makes one: it builds a server, lets go of it, and takes it over under
//! another id, by the name that its details have for it.

use std::{collections::BTreeSet, net::IpAddr};

use uuid::Uuid;

use super::{Desk, OrSay as _, Report, refused_as, same};
use crate::driver::{
    ErrorKind,
    share::{ShareServerManage, ShareServers},
    types::{NetworkInfo, ServerDetails, StringMap},
};

const NOBODY: &str = "stowage-kit-no-such-server";

pub async fn run(desk: &Desk<'_>, servers: &dyn ShareServers, network: NetworkInfo, report: &mut Report) {
    let Some(manage) = desk.backend.share_server_manage() else {
        return report.skip("share servers that somebody else made", "share-server-manage is not exported");
    };
    let trial = Trial { desk, manage: &**manage, networks: vec![network], options: StringMap::new() };
    let (made, taken) = (Uuid::new_v4().to_string(), Uuid::new_v4().to_string());
    let mut identifier = None;
    report
        .check("a share server that was let go of is found under its name with its addresses, however often it is let go of", async {
            let details = desk.set_up(servers, &made, &trial.networks).await?;
            let Some(name) = details.get("identifier").filter(|i| !i.is_empty()) else { return Ok(()) };
            trial.let_go(&made, Some(&details)).await?;
            trial.at_its_addresses(&taken, name).await?;
            identifier = Some(name.clone());
            Ok(())
        })
        .await;
    if let Some(identifier) = &identifier {
        adoption(&trial, &taken, identifier, report).await;
    } else {
        report.skip("taking over a share server", "its details have no identifier, or it was not found again");
    }
    report
        .check("a share server that is not there is refused as invalid", async {
            let id = Uuid::new_v4().to_string();
            refused_as(
                "addresses",
                manage.addresses(&desk.call("addresses of nobody"), &id, NOBODY, &trial.options).await,
                ErrorKind::Invalid,
            )?;
            let adopted = manage.adopt(&desk.call("adopt nobody"), &id, NOBODY, &trial.networks, &trial.options).await;
            refused_as("adopt", adopted, ErrorKind::Invalid)
        })
        .await;
    report
        .check("a share server that was taken over is torn down like any other", async {
            for id in [&taken, &made] {
                servers.teardown(&desk.call(&format!("tear down {id}")), id, None, &[]).await.or_say("teardown")?;
            }
            Ok(())
        })
        .await;
}

async fn adoption(trial: &Trial<'_>, id: &str, identifier: &str, report: &mut Report) {
    report
        .check("a repeated adoption of a share server answers the same, and nobody else gets it", async {
            let first = trial.adopt(id, identifier).await.or_say("adopt")?;
            // an array may call it something else from now on
            let now = first.get("identifier").map_or(identifier, String::as_str);
            same("adopt", &first, &trial.adopt(id, identifier).await.or_say("repeated adopt")?)?;
            trial.at_its_addresses(id, identifier).await?;
            let other = Uuid::new_v4().to_string();
            refused_as("adoption of what is managed", trial.adopt(&other, now).await, ErrorKind::Busy)
        })
        .await;
}

struct Trial<'t> {
    desk: &'t Desk<'t>,
    manage: &'t dyn ShareServerManage,
    networks: Vec<NetworkInfo>,
    options: StringMap,
}

impl Trial<'_> {
    async fn adopt(&self, id: &str, identifier: &str) -> crate::driver::DriverResult<ServerDetails> {
        let call = self.desk.call(&format!("adopt {id}"));
        self.manage.adopt(&call, id, identifier, &self.networks, &self.options).await
    }

    async fn let_go(&self, id: &str, details: Option<&ServerDetails>) -> Result<(), String> {
        let release = async |what: &str, id: &str, details: Option<&ServerDetails>| {
            self.manage.release(&self.desk.call(&format!("release {id}")), id, details, &[]).await.or_say(what)
        };
        release("release", id, details).await?;
        release("repeated release, without details", id, None).await?;
        release("release of what was never taken over", &Uuid::new_v4().to_string(), None).await
    }

    /// Those of users; an array may have more of its own.
    async fn at_its_addresses(&self, id: &str, identifier: &str) -> Result<(), String> {
        let found = self.manage.addresses(&self.desk.call(&format!("addresses of {id}")), id, identifier, &self.options).await;
        let found: BTreeSet<IpAddr> = found.or_say("addresses")?.into_iter().collect();
        let given = self.networks.iter().flat_map(|n| &n.allocations).filter_map(|a| a.ip_address.parse::<IpAddr>().ok());
        match given.into_iter().find(|a| !found.contains(a)) {
            Some(lost) => Err(format!("the server was given {lost}, and is said to be at {found:?}")),
            None => Ok(()),
        }
    }
}
