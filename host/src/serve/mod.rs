//! One serving process: from a configuration to listeners, and back to nothing on SIGTERM.
//!
//! Order of the start: addresses are taken first (a taken port is the commonest mistake, and is told before anything is
//! written, unless it is taken by the process that has this very state), then the database, then everything that needs it, then connections are accepted. Order of the end: no new
//! connection, requests in flight get their answers, jobs are handed back, the database is closed.

pub(crate) mod accept;
mod cluster_host;
mod error;
mod listener;
pub mod reload;
pub mod signals;

use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use error::ServeError;
pub use listener::{Addresses, Sockets};

use crate::{
    api::{self, dispatch, route::Api},
    app::{App, PublicUrls},
    config::Live,
    store::Store,
    telemetry::log::LogControl,
};

/// A process that serves.
pub struct Running {
    pub app: Arc<App>,
    /// Where the services really listen, also when port 0 was configured.
    pub addresses: Addresses,
    /// No new connections.
    closing: CancellationToken,
    /// Workers and loops end; cancelled only when no request waits for them any more.
    background: CancellationToken,
    listeners: JoinSet<()>,
    grace: Duration,
}

/// Starts everything the configuration asks for.
///
/// # Errors
/// [`ServeError`], which says what to do.
pub async fn start(live: Live, log: Option<LogControl>) -> Result<Running, ServeError> {
    let config = live.get();
    let sockets = match Sockets::bind(&config.listen).await {
        Ok(sockets) => sockets,
        // a second start on the same state: that the ports are taken, too, is not what is to be changed
        Err(e) => return Err(Store::held(&config.database_url()).map_or(e, ServeError::Store)),
    };
    let addresses = sockets.addresses();
    state_folder(&config.state_dir)?;
    let store = open_store(&live).await?;
    let app = {
        let log = log.unwrap_or_else(|| LogControl::detached(&config.log));
        App::build_with(live, store, PublicUrls::new(&config.public_url, &addresses), log).await?
    };
    let (closing, background) = (CancellationToken::new(), CancellationToken::new());
    app.start(&background).await?;
    reload::watch(Arc::clone(&app), background.clone());
    let mut listeners = JoinSet::new();
    for (api, socket) in sockets.into_open() {
        listeners.spawn(listener::serve(api, socket, router(&app, api), config.listen.clone(), closing.clone()));
    }
    app.health.ok("process");
    tracing::info!(%addresses, state = %config.state_dir.display(), "ready");
    Ok(Running { app, addresses, closing, background, listeners, grace: config.listen.shutdown_grace })
}

impl Running {
    /// Ends in order; returns when nothing runs any more, at the latest a little after the configured grace.
    pub async fn stop(mut self) {
        self.app.health.set("process", crate::telemetry::health::Status::Unready, "shutting down");
        self.closing.cancel();
        while self.listeners.join_next().await.is_some() {}
        self.background.cancel();
        self.app.stop(self.grace).await;
        self.app.store.close().await;
        tracing::info!("stopped");
    }
}

fn router(app: &Arc<App>, api: Api) -> axum::Router {
    let urls = &app.public_urls;
    let configured = &app.config.get().public_url;
    let own = match api {
        Api::Identity => &configured.identity,
        Api::Block => &configured.block,
        Api::Share => &configured.share,
        Api::Admin => &configured.admin,
    };
    let options = dispatch::Options {
        // a handler that waits for a job gives up first, with the better answer
        deadline: app.config.get().jobs.wait + Duration::from_secs(5),
        public_url: Some(own.trim_end_matches('/').to_owned()).filter(|u| !u.is_empty()),
        identity_url: format!("{}/v3", urls.identity),
    };
    dispatch::router(Arc::clone(app), api, &api::routes(api), options)
}

/// Opens the database. SQLite, which has one process, is migrated here; PostgreSQL only by `stowage migrate`, since other
/// processes may still run the older binary.
async fn open_store(live: &Live) -> Result<Store, ServeError> {
    let config = live.get();
    let store = Store::open(&config.database.store_options(config.database_url())).await.map_err(ServeError::Store)?;
    if store.is_sqlite() {
        store.migrate().await.map_err(ServeError::Store)?;
    }
    store.check_schema().await.map_err(ServeError::Store)?;
    cluster_host::settle(&store, &config.host).await?;
    Ok(store)
}

/// The state folder holds credentials: only its owner may look.
///
/// # Errors
/// [`ServeError::StateFolder`].
pub fn state_folder(path: &Path) -> Result<(), ServeError> {
    let io = |source| ServeError::StateFolder { path: path.to_owned(), source };
    if !path.exists() {
        fs::create_dir_all(path).map_err(io)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(io)?;
    }
    Ok(())
}
