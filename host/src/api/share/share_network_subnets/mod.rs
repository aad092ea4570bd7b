//! `/share-networks/{id}/subnets`, and their metadata.

mod create;
mod delete;
mod list;
mod metadata;
mod show;
pub(super) mod values;

use crate::{
    api::route::{Api, Handler, Route, Verb},
    handler,
};

const ALL: &str = "/share-networks/{network_id}/subnets";
const ONE: &str = "/share-networks/{network_id}/subnets/{subnet_id}";
const PAIRS: &str = "/share-networks/{network_id}/subnets/{subnet_id}/metadata";
const PAIR: &str = "/share-networks/{network_id}/subnets/{subnet_id}/metadata/{key}";
/// Subnets are known from here on,
const SINCE: u16 = 51;
/// and their metadata from here on.
const METADATA_SINCE: u16 = 78;

const fn of(verb: Verb, path: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, verb, path, policy, success, summary, handler).since(SINCE)
}

const fn pairs(verb: Verb, path: &'static str, policy: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Share, verb, path, policy, 200, summary, handler).since(METADATA_SINCE)
}

pub const ROUTES: &[Route] =
    &[
        of(Verb::Get, ALL, "share_network_subnet:index", 200, "List a share network's subnets", handler!(list::list)),
        of(Verb::Post, ALL, "share_network_subnet:create", 200, "Add a subnet to a share network", handler!(create::create)).body(&[
            ("share-network-subnet.neutron_net_id", "string", "with neutron_subnet_id or not at all"),
            ("share-network-subnet.neutron_subnet_id", "string", "with neutron_net_id or not at all"),
            ("share-network-subnet.availability_zone", "string", "left out: a default subnet, for zones without any"),
            ("share-network-subnet.metadata", "object", "pairs of text, from 2.78"),
        ]),
        of(Verb::Get, ONE, "share_network_subnet:show", 200, "Show a subnet", handler!(show::show)),
        of(Verb::Delete, ONE, "share_network_subnet:delete", 202, "Delete a subnet, and the idle servers on it", handler!(delete::delete)),
        pairs(Verb::Get, PAIRS, "share_network_subnet:get_metadata", "Show a subnet's metadata", handler!(metadata::all)),
        pairs(Verb::Post, PAIRS, "share_network_subnet:update_metadata", "Add to a subnet's metadata", handler!(metadata::merge))
            .body(&[("metadata", "object", "pairs of text")]),
        pairs(Verb::Put, PAIRS, "share_network_subnet:update_metadata", "Replace a subnet's metadata", handler!(metadata::replace))
            .body(&[("metadata", "object", "pairs of text")]),
        pairs(Verb::Get, PAIR, "share_network_subnet:get_metadata", "Show one value", handler!(metadata::one)),
        pairs(Verb::Post, PAIR, "share_network_subnet:update_metadata", "Set one value", handler!(metadata::set_one)).body(&[(
            "metadata",
            "object",
            "the pair; its key is the URL's",
        )]),
        pairs(Verb::Delete, PAIR, "share_network_subnet:delete_metadata", "Remove one pair", handler!(metadata::remove)),
    ];
