//! `/volumes/{id}/action`: what attaches, as it was done before there were `/attachments`.

use super::{
    PATH, attach, begin_detaching, detach, force_detach, initialize_connection, reserve, roll_detaching, terminate_connection, unreserve,
};
use crate::{
    api::route::{Api, Handler, Route, Verb},
    handler,
};

const fn action(key: &'static str, policy: &'static str, success: u16, summary: &'static str, handler: Handler) -> Route {
    Route::new(Api::Block, Verb::Post, PATH, policy, success, summary, handler).action(key)
}

pub const ROUTES: &[Route] = &[
    action(
        "os-reserve",
        "volume_extension:volume_actions:reserve,volume:multiattach_bootable_volume",
        202,
        "Keep a volume for an attachment to come",
        handler!(reserve::reserve),
    ),
    action("os-unreserve", "volume_extension:volume_actions:unreserve", 202, "Take a reservation back", handler!(unreserve::unreserve)),
    action(
        "os-initialize_connection",
        "volume_extension:volume_actions:initialize_connection,volume:multiattach_bootable_volume",
        200,
        "Connect a host",
        handler!(initialize_connection::initialize_connection),
    )
    .body(&[("os-initialize_connection.connector", "object", "where the volume shall be connected")]),
    action(
        "os-terminate_connection",
        "volume_extension:volume_actions:terminate_connection",
        202,
        "Disconnect a host",
        handler!(terminate_connection::terminate_connection),
    )
    .body(&[("os-terminate_connection.connector", "object", "as it was connected")]),
    action(
        "os-attach",
        "volume_extension:volume_actions:attach,volume:multiattach_bootable_volume",
        202,
        "Say that the device is in use",
        handler!(attach::attach),
    )
    .body(&[
        ("os-attach.instance_uuid", "string", "the server; or host_name"),
        ("os-attach.host_name", "string", "the host"),
        ("os-attach.mountpoint", "string", "the device there"),
        ("os-attach.mode", "string", "rw or ro"),
    ]),
    action(
        "os-begin_detaching",
        "volume_extension:volume_actions:begin_detaching",
        202,
        "Announce a detach",
        handler!(begin_detaching::begin_detaching),
    ),
    action(
        "os-roll_detaching",
        "volume_extension:volume_actions:roll_detaching",
        202,
        "Take the announcement back",
        handler!(roll_detaching::roll_detaching),
    ),
    action("os-detach", "volume_extension:volume_actions:detach", 202, "Say that the device is not in use", handler!(detach::detach))
        .body(&[("os-detach.attachment_id", "string", "which attachment; may be left out when there is one")]),
    action(
        "os-force_detach",
        "volume_extension:volume_admin_actions:force_detach",
        202,
        "Take an attachment away whatever the volume's status",
        handler!(force_detach::force_detach),
    )
    .body(&[
        ("os-force_detach.attachment_id", "string", "which attachment; may be left out when there is one"),
        ("os-force_detach.connector", "object", "a host that is to be disconnected with it"),
    ]),
];
