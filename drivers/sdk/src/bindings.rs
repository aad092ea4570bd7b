//! What `wit-bindgen` makes of the interfaces in `wit/`: the host's functions, and one module an interface a driver can
//! export. Everything here is reached through friendlier names elsewhere in this crate.
//!
//! One world an interface, so that a component exports what its author named and nothing else. Record types are made once,
//! in `imports`, and shared.

#![allow(unsafe_code, missing_docs, clippy::all, clippy::pedantic, reason = "made by wit-bindgen")]

pub mod imports {
    wit_bindgen::generate!({
        path: "../../wit/stowage-driver/0.1.0",
        world: "imports",
        generate_unused_types: true,
        additional_derives: [PartialEq],
    });
}

macro_rules! exported {
    ($module:ident, $world:tt, $path:tt) => {
        pub mod $module {
            wit_bindgen::generate!({
                path: "../../wit/stowage-driver/0.1.0",
                world: $world,
                with: { "stowage:driver/types@0.1.0": crate::bindings::imports::stowage::driver::types },
                additional_derives: [PartialEq],
                pub_export_macro: true,
                default_bindings_module: $path,
            });
            #[doc(inline)]
            pub use exports::stowage::driver::$module::*;
        }
    };
}

exported!(lifecycle, "exports-lifecycle", "stowage_driver_sdk::bindings::lifecycle");
exported!(capabilities, "exports-capabilities", "stowage_driver_sdk::bindings::capabilities");
exported!(poll, "exports-poll", "stowage_driver_sdk::bindings::poll");
exported!(volumes, "exports-volumes", "stowage_driver_sdk::bindings::volumes");
exported!(volume_clone, "exports-volume-clone", "stowage_driver_sdk::bindings::volume_clone");
exported!(volume_from_snapshot, "exports-volume-from-snapshot", "stowage_driver_sdk::bindings::volume_from_snapshot");
exported!(volume_snapshots, "exports-volume-snapshots", "stowage_driver_sdk::bindings::volume_snapshots");
exported!(volume_revert, "exports-volume-revert", "stowage_driver_sdk::bindings::volume_revert");
exported!(volume_retype, "exports-volume-retype", "stowage_driver_sdk::bindings::volume_retype");
exported!(volume_manage, "exports-volume-manage", "stowage_driver_sdk::bindings::volume_manage");
exported!(volume_replication, "exports-volume-replication", "stowage_driver_sdk::bindings::volume_replication");
exported!(connection_info, "exports-connection-info", "stowage_driver_sdk::bindings::connection_info");
exported!(shares, "exports-shares", "stowage_driver_sdk::bindings::shares");
exported!(share_shrink, "exports-share-shrink", "stowage_driver_sdk::bindings::share_shrink");
exported!(share_from_snapshot, "exports-share-from-snapshot", "stowage_driver_sdk::bindings::share_from_snapshot");
exported!(share_snapshots, "exports-share-snapshots", "stowage_driver_sdk::bindings::share_snapshots");
exported!(snapshot_access, "exports-snapshot-access", "stowage_driver_sdk::bindings::snapshot_access");
exported!(share_revert, "exports-share-revert", "stowage_driver_sdk::bindings::share_revert");
exported!(share_manage, "exports-share-manage", "stowage_driver_sdk::bindings::share_manage");
exported!(share_snapshot_manage, "exports-share-snapshot-manage", "stowage_driver_sdk::bindings::share_snapshot_manage");
exported!(access, "exports-access", "stowage_driver_sdk::bindings::access");
exported!(ensure, "exports-ensure", "stowage_driver_sdk::bindings::ensure");
exported!(share_servers, "exports-share-servers", "stowage_driver_sdk::bindings::share_servers");
exported!(share_server_manage, "exports-share-server-manage", "stowage_driver_sdk::bindings::share_server_manage");
exported!(share_server_migration, "exports-share-server-migration", "stowage_driver_sdk::bindings::share_server_migration");
exported!(allocations, "exports-allocations", "stowage_driver_sdk::bindings::allocations");
