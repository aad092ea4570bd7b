//! Taking over shares and snapshots that somebody else made, and letting go of them.

mod manage;
mod snapshots;
mod unmanage;

use super::{share_actions::PATH as ACTION, snapshots::ACTION as SNAPSHOT_ACTION};
use crate::{
    api::{
        route::{Api, Route, Verb},
        share::body::{WITH_OS_UNTIL, WITHOUT_OS_SINCE},
    },
    handler,
};

pub(super) use manage::options;

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

/// From here on snapshots can be taken over and let go of.
const SNAPSHOTS_SINCE: u16 = 12;

pub const ROUTES: &[Route] = &[
    manage("/os-share-manage").until(WITH_OS_UNTIL),
    manage("/shares/manage").since(WITHOUT_OS_SINCE),
    unmanage("/os-share-unmanage/{share_id}/unmanage").until(WITH_OS_UNTIL),
    unmanage(ACTION).action("unmanage").since(WITHOUT_OS_SINCE),
    Route::new(
        Api::Share,
        Verb::Post,
        "/snapshots/manage",
        "share_snapshot:manage_snapshot",
        202,
        "Take over a snapshot that somebody else took",
        handler!(snapshots::manage),
    )
    .since(SNAPSHOTS_SINCE)
    .body(&[
        ("snapshot.share_id", "string", "the share"),
        ("snapshot.provider_location", "string", "what the back end knows it by"),
        ("snapshot.driver_options", "object", "what the driver wants to know beside that"),
        ("snapshot.name", "string", "at most 255 characters"),
        ("snapshot.description", "string", "at most 255 characters"),
        ("snapshot.metadata", "object", "pairs of text, from 2.73"),
    ]),
    Route::new(
        Api::Share,
        Verb::Post,
        SNAPSHOT_ACTION,
        "share_snapshot:unmanage_snapshot",
        202,
        "Let go of a snapshot, and leave it as it is",
        handler!(snapshots::unmanage),
    )
    .action("unmanage")
    .since(SNAPSHOTS_SINCE),
];
