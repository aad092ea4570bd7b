//! Taking over shares that somebody else made, and letting go of shares.

mod manage;
mod unmanage;

use super::share_actions::PATH as ACTION;
use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

const fn manage(path: &'static str) -> Route {
    Route::new(
        Api::Share,
        Verb::Post,
        path,
        "share:manage,share:create_public_share",
        200,
        "Take over a share that somebody else made",
        handler!(manage::manage),
    )
    .body(&[
        ("share.service_host", "string", "host@backend#pool"),
        ("share.export_path", "string", "where it is exported"),
        ("share.protocol", "string", "how"),
        ("share.share_type", "string", "name or id; the default type when left out"),
        ("share.driver_options", "object", "what the driver wants to know beside that"),
        ("share.name", "string", "at most 255 characters"),
        ("share.description", "string", "at most 255 characters"),
        ("share.is_public", "boolean", "whether every project may see it, from 2.8"),
        ("share.share_server_id", "string", "the server it is on, for types whose servers the driver builds, from 2.49"),
        ("share.mount_point_name", "string", "from 2.92"),
    ])
}

const fn unmanage(path: &'static str) -> Route {
    Route::new(
        Api::Share,
        Verb::Post,
        path,
        "share:unmanage",
        202,
        "Let go of a share, and leave it as it is",
        handler!(unmanage::unmanage),
    )
}

pub const ROUTES: &[Route] = &[
    manage("/os-share-manage").until(WITH_OS_UNTIL),
    manage("/shares/manage").since(WITHOUT_OS_SINCE),
    unmanage("/os-share-unmanage/{share_id}/unmanage").until(WITH_OS_UNTIL),
    unmanage(ACTION).action("unmanage").since(WITHOUT_OS_SINCE),
];
