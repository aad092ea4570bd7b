//! Addresses of share servers in subnets that the configuration does not have any more: they stay given, and no other subnet gives
//! them, as long as their servers are there.

use stowage::{config::Config, error::chain};

use super::{Report, drivers::Database};

/// Servers that are named; the others are counted.
const NAMED: i64 = 3;

pub async fn check(report: &mut Report, config: &Config, database: &Database) {
    let Database::Open(store) = database else { return };
    let given = match store.network_keys().await {
        Ok(given) => given,
        Err(e) => return report.wrong("addresses", chain(&e), "look at the database's own log"),
    };
    for key in given.iter().filter(|k| config.network.subnet(&k.network_key).is_none()) {
        let servers = match store.servers_with_addresses_in(&key.network_key, NAMED).await {
            Ok(ids) => ids.join(" "),
            Err(e) => return report.wrong("addresses", chain(&e), "look at the database's own log"),
        };
        let more = if key.servers > NAMED { format!(" and {} more", key.servers - NAMED) } else { String::new() };
        report.note(
            &format!("subnet {}", key.network_key),
            format_args!(
                "it is not in the configuration any more, and share servers have addresses in it ({}, of {servers}{more}). They work, and \
                 no other subnet gives these addresses. Put its [[network.subnet]] back under this id, or delete the servers: `openstack \
                 share server delete {servers}`",
                key.addresses
            ),
        );
    }
}
