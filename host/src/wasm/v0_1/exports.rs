//! Which interfaces a component exports, found once.

use wasmtime::{
    Store,
    component::{Instance, InstancePre},
};

use super::bindings::guest;
use crate::wasm::state::State;

macro_rules! exports {
    ($($name:ident = $wit:literal;)*) => {
        /// One lookup table for each exported interface.
        #[derive(Clone)]
        pub struct Exports {
            $(pub $name: Option<guest::$name::GuestIndices>,)*
        }

        impl Exports {
            /// Finds the exported interfaces.
            ///
            /// # Errors
            /// An exported interface lacks a function: wasmtime's words name both.
            pub fn find(pre: &InstancePre<State>) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let exported = pre.component().get_export_index(None, concat!("stowage:driver/", $wit, "@0.1.0")).is_some();
                        exported.then(|| guest::$name::GuestIndices::new(pre)).transpose().map_err(|e| format!("{e:#}"))?
                    },)*
                })
            }

            /// Checks the types of every exported function against the contract's.
            ///
            /// # Errors
            /// The interface and wasmtime's words.
            pub fn load_all(&self, store: &mut Store<State>, instance: &Instance) -> Result<(), String> {
                $(if let Some(indices) = &self.$name {
                    indices.load(&mut *store, instance).map_err(|e| format!("interface {}: {e:#}", $wit))?;
                })*
                Ok(())
            }

            /// The names of the exported interfaces.
            pub fn names(&self) -> Vec<String> {
                let mut names = Vec::new();
                $(if self.$name.is_some() {
                    names.push($wit.to_owned());
                })*
                names
            }
        }
    };
}

exports! {
    lifecycle = "lifecycle";
    capabilities = "capabilities";
    poll = "poll";
    volumes = "volumes";
    volume_clone = "volume-clone";
    volume_from_snapshot = "volume-from-snapshot";
    volume_snapshots = "volume-snapshots";
    volume_revert = "volume-revert";
    volume_retype = "volume-retype";
    volume_manage = "volume-manage";
    volume_replication = "volume-replication";
    connection_info = "connection-info";
    shares = "shares";
    share_shrink = "share-shrink";
    share_from_snapshot = "share-from-snapshot";
    share_snapshots = "share-snapshots";
    snapshot_access = "snapshot-access";
    share_revert = "share-revert";
    share_manage = "share-manage";
    share_snapshot_manage = "share-snapshot-manage";
    access = "access";
    ensure = "ensure";
    share_servers = "share-servers";
    share_server_manage = "share-server-manage";
    share_server_migration = "share-server-migration";
    allocations = "allocations";
}
