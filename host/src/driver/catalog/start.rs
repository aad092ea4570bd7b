//! Start-up: drivers from the database, then what is new in the plugin folder, then the configured back ends.

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    Applied, Catalog, CatalogError, Parts,
    book::Refusal,
    embedded,
    file::{self, FileError},
    offer,
    open::PATIENCE_AT_START,
};
use crate::{config::BackendConfig, store::sql::driver_blobs::ActiveDriver, wasm::watch};

/// The wait before a file is looked at again that could not be.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

impl Catalog {
    /// Loads everything, and from then on follows the plugin folder until `stop`. Bad drivers leave their back ends down
    /// with a reason; the rest serves.
    ///
    /// # Errors
    /// The folder or the database cannot be used.
    pub async fn start(&self, parts: Parts, backends: &[BackendConfig], stop: &CancellationToken) -> Result<Applied, CatalogError> {
        let parts = self.inner.parts.get_or_init(|| parts);
        let io = |source| CatalogError::Folder { folder: parts.folder.clone(), source };
        tokio::fs::create_dir_all(&parts.folder).await.map_err(io)?;
        // from before the scan, so that nothing falls between the two
        let changes = parts.watch.then(|| watch::watch(parts.folder.clone(), parts.settle, stop.clone()));
        let active = parts.store.active_drivers().await?;
        if !active.iter().any(|a| a.name == embedded::NAME) && embedded::write_if_absent(&parts.folder).map_err(io)? {
            tracing::info!(folder = %parts.folder.display(), "the embedded memory driver was written into the plugin folder");
        }
        for row in &active {
            self.load_active(row).await?;
        }
        for path in files_of(&parts.folder).await? {
            self.offer_news(&path, &active).await?;
        }
        let applied = self.apply_within(backends, PATIENCE_AT_START).await?;
        if let Some(changes) = changes {
            tokio::spawn(self.clone().follow_folder(changes));
        }
        Ok(applied)
    }

    /// Offers what changes in the folder. A file that a busy database kept from being looked at is looked at again: nothing
    /// else would bring it back, since it lies still. Files of different names are looked at side by side.
    async fn follow_folder(self, mut changes: mpsc::Receiver<PathBuf>) {
        let mut looks = JoinSet::new();
        let look = |path: PathBuf, pause: Duration| {
            let catalog = self.clone();
            async move {
                tokio::time::sleep(pause).await;
                let looked = catalog.offer_file(&path, false).await;
                (path, looked.err())
            }
        };
        loop {
            tokio::select! {
                changed = changes.recv() => match changed {
                    Some(path) => drop(looks.spawn(look(path, Duration::ZERO))),
                    None => return,
                },
                Some(looked) = looks.join_next() => if let Ok((path, Some(error))) = looked {
                    tracing::warn!(file = %path.display(), %error, "a changed driver file could not be looked at; it is tried again");
                    looks.spawn(look(path, LOOK_AGAIN));
                },
            }
        }
    }

    /// Loads what the database says serves under a name; a failure is a refusal that shows in the status.
    pub(super) async fn load_active(&self, row: &ActiveDriver) -> Result<bool, CatalogError> {
        let parts = self.parts()?;
        let Some(bytes) = parts.store.driver_blob(&row.hash).await? else { return Ok(false) };
        match parts.loader.load(&row.name, Bytes::from(bytes)).await {
            Ok(driver) => {
                let mut book = self.book();
                let entry = book.drivers.entry(row.name.clone()).or_default();
                entry.loaded = Some(driver);
                entry.since = row.activated_at;
                entry.forced = row.forced;
                Ok(true)
            }
            Err(error) => {
                let reason = format!("these bytes were accepted before, but this binary cannot load them: {error}");
                tracing::error!(driver = %row.name, sha256 = %row.hash, %reason, "a driver is not loaded");
                self.book().drivers.entry(row.name.clone()).or_default().refused = Some(Refusal::new(&row.hash, reason));
                Ok(false)
            }
        }
    }

    /// Offers a file found at start if it is a wish: bytes never accepted, or put there after the active ones were accepted. An
    /// old file in one process's folder must not undo what another process accepted since.
    async fn offer_news(&self, path: &Path, active: &[ActiveDriver]) -> Result<(), CatalogError> {
        let Some(name) = offer::driver_name(path) else { return Ok(()) };
        let bytes = match file::read(path).await {
            Ok(bytes) => bytes,
            Err(FileError::Gone) => return Ok(()),
            Err(e) => {
                self.refuse(&name, "", &e.to_string(), Instant::now());
                return Ok(());
            }
        };
        if let Some(row) = active.iter().find(|a| a.name == name) {
            let hash = offer::hash(bytes.clone()).await;
            let placed =
                tokio::fs::metadata(path).await.map_or(0, |m| m.ctime().saturating_mul(1_000_000).saturating_add(m.ctime_nsec() / 1000));
            if hash == row.hash || (self.parts()?.store.driver_blob_known(&hash).await? && placed <= row.activated_at) {
                return Ok(());
            }
        }
        self.offer(&name, bytes, false).await.map(drop)
    }
}

/// The driver files of a folder, by name.
pub(super) async fn files_of(folder: &Path) -> Result<Vec<PathBuf>, CatalogError> {
    let io = |source| CatalogError::Folder { folder: folder.to_owned(), source };
    let mut entries = tokio::fs::read_dir(folder).await.map_err(io)?;
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().await.map_err(io)? {
        let path = entry.path();
        if offer::driver_name(&path).is_some() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

impl Parts {
    /// Parts without a watched folder and without hooks.
    pub fn new(store: crate::store::Store, loader: Arc<dyn crate::driver::Loader>, host: impl Into<String>, folder: PathBuf) -> Self {
        Self { store, loader, host: host.into(), folder, watch: false, settle: std::time::Duration::from_millis(300), hooks: Vec::new() }
    }
}
