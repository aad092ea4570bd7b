//! `/volumes/{id}/action`: what does not attach; [`attaching`] has what does.

mod attach;
pub mod attaching;
mod begin_detaching;
mod bootable;
mod detach;
mod extend;
mod force_delete;
mod force_detach;
mod initialize_connection;
mod migrate;
mod migrate_completion;
mod readonly;
mod reserve;
mod reset;
mod retype;
mod revert;
mod roll_detaching;
mod terminate_connection;
mod unreserve;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const PATH: &str = "/volumes/{volume_id}/action";

pub const ROUTES: &[Route] = &[
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume:extend,volume:extend_attached_volume",
        202,
        "Make a volume larger; an attached one from 3.42",
        handler!(extend::extend),
    )
    .action("os-extend")
    .body(&[("os-extend.new_size", "integer", "GiB, more than it has")]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume:update_readonly_flag",
        202,
        "Say whether attachments may only read",
        handler!(readonly::readonly),
    )
    .action("os-update_readonly_flag")
    .body(&[("os-update_readonly_flag.readonly", "boolean", "whether they may")]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume:update,volume:multiattach_bootable_volume",
        200,
        "Say whether a server may boot from it",
        handler!(bootable::bootable),
    )
    .action("os-set_bootable")
    .body(&[("os-set_bootable.bootable", "boolean", "whether it may")]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume_extension:volume_admin_actions:reset_status",
        202,
        "Say what a volume's status is",
        handler!(reset::reset_status),
    )
    .action("os-reset_status")
    .body(&[
        ("os-reset_status.status", "string", "any status but those that only a job ends, such as deleting, extending or detaching"),
        ("os-reset_status.attach_status", "string", "attached or detached"),
        ("os-reset_status.migration_status", "string", "migrating, starting, completing, success, error or none"),
    ]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume_extension:volume_admin_actions:force_delete",
        202,
        "Delete a volume whatever its status",
        handler!(force_delete::force_delete),
    )
    .action("os-force_delete"),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume:retype,volume:multiattach",
        202,
        "Give a volume another type, where it is or elsewhere",
        handler!(retype::retype),
    )
    .action("os-retype")
    .body(&[
        ("os-retype.new_type", "string", "name or id"),
        (
            "os-retype.migration_policy",
            "string",
            "never, or on-demand: if the back end cannot do it in place, the volume is copied to a new object",
        ),
    ]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume_extension:volume_admin_actions:migrate_volume",
        202,
        "Send a volume to another pool",
        handler!(migrate::migrate),
    )
    .action("os-migrate_volume")
    .body(&[
        ("os-migrate_volume.host", "string", "host@backend#pool, or host@backend"),
        ("os-migrate_volume.force_host_copy", "boolean", "it is always this service that copies"),
        ("os-migrate_volume.lock_volume", "boolean", "show it in maintenance meanwhile; otherwise attaching it ends the move"),
        ("os-migrate_volume.cluster", "string", "there are no clusters; from 3.16"),
    ]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume_extension:volume_admin_actions:migrate_volume_completion",
        200,
        "Say that one volume was swapped for another",
        handler!(migrate_completion::migrate_completion),
    )
    .action("os-migrate_volume_completion")
    .body(&[
        ("os-migrate_volume_completion.new_volume", "string", "the other volume"),
        ("os-migrate_volume_completion.error", "boolean", "the swap failed"),
    ]),
    Route::new(
        Api::Block,
        Verb::Post,
        PATH,
        "volume:revert_to_snapshot",
        202,
        "Give a volume the content of its latest snapshot back",
        handler!(revert::revert),
    )
    .since(40)
    .action("revert")
    .body(&[("revert.snapshot_id", "string", "the latest snapshot, of the volume's size")]),
];
