//! A driver that lies about share servers. It proves that each lie ends one call, with a typed error, and that nothing of it is
//! kept.
//!
//! The option `lie` names the lie. Beside it, everything is answered as an honest driver would, without an array: whatever is asked
//! about is there.

mod lies;

use stowage_driver_sdk::{RuleChanges, ServerMigration, prelude::*};

use crate::lies::Lie;

const LIE: Opt<String> = Opt::choice("lie", lies::NAMES, "What it says that is not so.").default("none");

struct HostileServers {
    lie: Lie,
}

/// Where its shares are exported: what set-up was given first.
const ADDRESS: &str = "address";

fn details(server_id: &str, networks: &[NetworkInfo]) -> ServerDetails {
    let mut details = vec![KeyValue::new("identifier", server_id)];
    details.extend(networks.iter().flat_map(|n| &n.allocations).take(1).map(|a| KeyValue::new(ADDRESS, &a.ip_address)));
    details
}

fn location(address: &str, share_id: &str) -> ExportLocation {
    ExportLocation::new(format!("{address}:/{share_id}"))
}

impl Driver for HostileServers {
    fn info() -> DriverInfo {
        DriverInfo::new("hostile-servers", "Stowage", env!("CARGO_PKG_VERSION"))
    }
    fn options() -> Vec<OptionSpec> {
        vec![LIE.spec()]
    }
    fn open(cx: &Context) -> Result<Self> {
        Ok(Self { lie: Lie::named(&cx.find(&LIE)?.unwrap_or_default()) })
    }
    fn report(&self, _: &Context) -> Result<CapabilityReport> {
        let features = Features {
            share_server_mode: ShareServerMode::WithServers,
            share_server_multiple_subnet_support: true,
            network_allocation_update_support: true,
            ip_versions: vec![IpVersion::V4],
            ..Features::share(ShareProtocol::Nfs)
        };
        Ok(CapabilityReport::new(features, vec![Pool::new("pool0").total_gib(1_000.0).free_gib(1_000.0)]))
    }
}

impl Shares for HostileServers {
    fn create_share(&self, _: &Context, share: &Share) -> Result<ShareOutcome> {
        let own = share.server.as_ref().and_then(|s| KeyValue::find(&s.details, ADDRESS)).unwrap_or("192.0.2.66");
        let address = if self.lie == Lie::OthersAddresses { lies::ELSEWHERE } else { own };
        Ok(ShareOutcome::Done(ShareUpdate::at(vec![location(address, &share.id)])))
    }
    fn delete_share(&self, _: &Context, _: &Share) -> Result<()> {
        Ok(())
    }
    fn extend_share(&self, _: &Context, _: &Share, _: u64) -> Result<ResizeOutcome> {
        Ok(ResizeOutcome::Done)
    }
}

impl Access for HostileServers {
    fn apply_access(&self, _: &Context, _: &Share, rules: &[AccessRule], _: RuleChanges<'_>) -> Result<Vec<RuleState>> {
        Ok(rules.iter().map(RuleState::active).collect())
    }
}

impl ShareServers for HostileServers {
    fn allocations_wanted(&self, _: &Context) -> Result<AddressCounts> {
        let most = if self.lie == Lie::ManyAddresses { u32::MAX } else { 0 };
        Ok(AddressCounts { per_subnet: most.max(1), admin: most })
    }
    fn set_up_server(&self, _: &Context, server_id: &str, networks: &[NetworkInfo], _: &[KeyValue]) -> ServerResult<ServerOutcome> {
        let honest = details(server_id, networks);
        match self.lie {
            Lie::EndlessToken => Ok(ServerOutcome::Pending(lies::endless())),
            Lie::HugePartial => Err(DriverError::invalid("half of it is built").leaving(lies::huge())),
            lie => Ok(ServerOutcome::Done(lies::details(lie, honest))),
        }
    }
    fn tear_down_server(&self, _: &Context, _: &str, _: Option<&ServerDetails>, _: &[SecurityService]) -> Result<()> {
        Ok(())
    }
}

impl Allocations for HostileServers {
    fn check_network_update(&self, _: &Context, _: LiveServer<'_>, _: &Subnet, _: &[ShareRules]) -> Result<CheckOutcome> {
        Ok(if self.lie == Lie::LongRefusal { CheckOutcome::Refused("no, \0no ".repeat(100_000)) } else { CheckOutcome::Ok })
    }
    fn update_network(&self, _: &Context, live: LiveServer<'_>, added: &NetworkInfo) -> ServerResult<UpdateOutcome> {
        let more = added.allocations.first().map_or(lies::ELSEWHERE, |a| a.ip_address.as_str());
        let change = |share: &Share| {
            let mut locations = share.locations.clone();
            locations.push(location(more, &share.id));
            ShareChange { id: share.id.clone(), locations, pool: None }
        };
        let shares = live.shares.iter().map(change).collect();
        let honest = NetworkUpdate { shares, snapshots: Vec::new(), details: live.server.details.clone() };
        match self.lie {
            Lie::EndlessUpdateToken => Ok(UpdateOutcome::Pending(lies::endless())),
            Lie::HugeUpdatePartial => Err(DriverError::invalid("half of it is done").leaving(lies::huge())),
            lie => Ok(UpdateOutcome::Done(lies::update(lie, honest))),
        }
    }
}

impl ShareServerMigration for HostileServers {
    fn check_migration(&self, _: &Context, _: &MigrationSource, _: &[Subnet], _: MigrationRequest) -> Result<MigrationCheck> {
        let all = MigrationAbilities { writable: true, preserve_snapshots: true, cancel: true, progress: true };
        Ok(if self.lie == Lie::LongRefusal {
            MigrationCheck::Refused("no, \0no ".repeat(100_000))
        } else {
            MigrationCheck::Compatible(all)
        })
    }
    fn start_migration(&self, _: &Context, _: ServerMigration<'_>) -> Result<CopyOutcome> {
        Ok(match self.lie {
            Lie::EndlessCopy => CopyOutcome::Pending(lies::nearly_done()),
            Lie::EndlessCopyToken => CopyOutcome::Pending(lies::endless()),
            _ => CopyOutcome::Done,
        })
    }
    fn complete_migration(&self, _: &Context, migration: ServerMigration<'_>) -> Result<CompleteOutcome> {
        let address = KeyValue::find(&migration.destination.details, ADDRESS).unwrap_or(lies::ELSEWHERE);
        let source = migration.source;
        let honest = ServerMoved {
            shares: source.shares.iter().map(|s| MovedShare::at(&s.id, "pool0", vec![location(address, &s.id)])).collect(),
            snapshots: source.snapshots.iter().map(|s| MovedSnapshot::new(&s.id, Vec::new())).collect(),
            details: migration.destination.details.clone(),
        };
        Ok(CompleteOutcome::Done(lies::moved(self.lie, honest)))
    }
    fn cancel_migration(&self, _: &Context, _: &MigrationSource, _: &ShareServer) -> Result<()> {
        Ok(())
    }
    fn abandon_server(&self, _: &Context, _: &ShareServer, _: &[Share], _: &[ShareSnapshot]) -> Result<()> {
        Ok(())
    }
}

impl Poll for HostileServers {
    fn poll(&self, _: &Context, token: &str) -> ServerResult<PollOutcome> {
        if self.lie == Lie::EndlessCopy {
            return Ok(PollOutcome::Pending(lies::nearly_done()));
        }
        Err(DriverError::not_found(format!("nobody works on {} bytes of token", token.len())).into())
    }
}

export!(HostileServers: shares, access, poll, share_servers, share_server_migration, allocations);
