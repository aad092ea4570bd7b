//! `/share-networks`.

mod create;
mod delete;
mod filters;
mod list;
mod reset;
mod services;
mod show;
mod subnet_check;
mod update;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const ALL: &str = "/share-networks";
const ONE: &str = "/share-networks/{network_id}";
const ACTION: &str = "/share-networks/{network_id}/action";

type Members = &'static [(&'static str, &'static str, &'static str)];

const LIST_QUERY: Members = &[
    ("limit", "integer", "at most this many"),
    ("offset", "integer", "skip this many"),
    ("all_tenants", "boolean", "every project's, for an admin"),
    ("project_id", "string", "this project's, for an admin"),
    ("created_since", "string", "filter: yyyy-mm-dd"),
    ("created_before", "string", "filter: yyyy-mm-dd"),
    ("security_service_id", "string", "filter: those that use it"),
    ("name", "string", "filter"),
    ("name~", "string", "filter: contains, from 2.36"),
    ("description~", "string", "filter: contains, from 2.36"),
    ("status", "string", "filter"),
    ("neutron_net_id", "string", "filter: of one of its subnets"),
    ("neutron_subnet_id", "string", "filter: of one of its subnets"),
    ("cidr", "string", "filter: of one of its subnets"),
    ("ip_version", "integer", "filter: of one of its subnets"),
    ("network_type", "string", "filter: of one of its subnets, for an admin"),
    ("segmentation_id", "integer", "filter: of one of its subnets, for an admin"),
];

const fn action(
    key: &'static str,
    policy: &'static str,
    success: u16,
    summary: &'static str,
    body: Members,
    handler: crate::api::route::Handler,
) -> Route {
    Route::new(Api::Share, Verb::Post, ACTION, policy, success, summary, handler).action(key).body(body)
}

pub const ROUTES: &[Route] = &[
    Route::new(Api::Share, Verb::Get, ALL, "share_network:index", 200, "List share networks", handler!(list::summaries)).query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Get,
        "/share-networks/detail",
        "share_network:detail",
        200,
        "List share networks with all fields",
        handler!(list::details),
    )
    .query(LIST_QUERY),
    Route::new(
        Api::Share,
        Verb::Post,
        ALL,
        "share_network:create",
        200,
        "Create a share network with its first subnet",
        handler!(create::create),
    )
    .body(&[
        ("share_network.name", "string", "at most 255 characters"),
        ("share_network.description", "string", "at most 255 characters"),
        ("share_network.neutron_net_id", "string", "with neutron_subnet_id or not at all"),
        ("share_network.neutron_subnet_id", "string", "with neutron_net_id or not at all"),
        ("share_network.availability_zone", "string", "of the first subnet, from 2.51; left out it serves every zone"),
    ]),
    Route::new(Api::Share, Verb::Get, ONE, "share_network:show", 200, "Show a share network", handler!(show::show)),
    Route::new(Api::Share, Verb::Put, ONE, "share_network:update", 200, "Change a share network", handler!(update::update)).body(&[
        ("share_network.name", "string", "at most 255 characters"),
        ("share_network.description", "string", "at most 255 characters"),
        ("share_network.neutron_net_id", "string", "of the default subnet, while there are no servers"),
        ("share_network.neutron_subnet_id", "string", "of the default subnet, while there are no servers"),
    ]),
    Route::new(
        Api::Share,
        Verb::Delete,
        ONE,
        "share_network:delete",
        202,
        "Delete a share network that no share is on",
        handler!(delete::delete),
    ),
    action(
        "add_security_service",
        "share_network:add_security_service",
        200,
        "Let a share network use a security service",
        &[("add_security_service.security_service_id", "string", "the service's id")],
        handler!(services::add),
    ),
    action(
        "remove_security_service",
        "share_network:remove_security_service",
        200,
        "Let a share network use a security service no more",
        &[("remove_security_service.security_service_id", "string", "the service's id")],
        handler!(services::remove),
    ),
    action(
        "update_security_service",
        "share_network:update_security_service",
        202,
        "Put one security service in the place of another",
        &[
            ("update_security_service.current_service_id", "string", "one that the network uses"),
            ("update_security_service.new_service_id", "string", "one of the same type"),
        ],
        handler!(services::replace),
    )
    .since(63),
    action(
        "update_security_service_check",
        "share_network:update_security_service_check",
        202,
        "Ask whether update_security_service would do",
        &[
            ("update_security_service_check.current_service_id", "string", "one that the network uses"),
            ("update_security_service_check.new_service_id", "string", "one of the same type"),
            ("update_security_service_check.reset_operation", "boolean", "ask again"),
        ],
        handler!(services::check_replace),
    )
    .since(63),
    action(
        "add_security_service_check",
        "share_network:add_security_service_check",
        202,
        "Ask whether add_security_service would do",
        &[
            ("add_security_service_check.security_service_id", "string", "the service's id"),
            ("add_security_service_check.reset_operation", "boolean", "ask again"),
        ],
        handler!(services::check_add),
    )
    .since(63),
    action(
        "reset_status",
        "share_network:reset_status",
        202,
        "Say what a share network's status is",
        &[("reset_status.status", "string", "active, error, network_change")],
        handler!(reset::reset_status),
    )
    .since(63),
    action(
        "share_network_subnet_create_check",
        "share_network:subnet_create_check",
        202,
        "Ask whether a subnet could be added",
        &[
            ("share_network_subnet_create_check.neutron_net_id", "string", "with neutron_subnet_id or not at all"),
            ("share_network_subnet_create_check.neutron_subnet_id", "string", "with neutron_net_id or not at all"),
            ("share_network_subnet_create_check.availability_zone", "string", "left out: a default subnet"),
            ("share_network_subnet_create_check.reset_operation", "boolean", "ask again"),
        ],
        handler!(subnet_check::check),
    )
    .since(70),
];
