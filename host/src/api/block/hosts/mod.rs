//! `/os-hosts`, which older clients ask instead of `/os-services`.

mod list;
mod show;
mod update;

use crate::{
    api::route::{Api, Route, Verb},
    handler,
};

const POLICY: &str = "volume_extension:hosts";

pub const ROUTES: &[Route] = &[
    Route::new(Api::Block, Verb::Get, "/os-hosts", POLICY, 200, "List services by host", handler!(list::list)).system_too(),
    Route::new(Api::Block, Verb::Get, "/os-hosts/{host}", POLICY, 200, "Show what a back end holds, by project", handler!(show::show))
        .system_too(),
    Route::new(Api::Block, Verb::Put, "/os-hosts/{host}", POLICY, 200, "Enable or disable a back end", handler!(update::update))
        .system_too()
        .body(&[("status", "string", "enable or disable")]),
];
