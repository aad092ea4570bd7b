//! A driver file is offered: checked, tried on every back end that uses it, kept in the database, swapped in. Or refused.

use std::{path::Path, sync::Arc, time::Instant};

use bytes::Bytes;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    Catalog, CatalogError,
    book::{DriverEntry, Refusal},
    file::{self, FileError},
    objection::{self, Objection},
    open::Opened,
};
use crate::{
    clock,
    driver::{backend::Backend, loader::Driver},
};

/// What became of an offered file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OfferResult {
    /// It serves.
    Accepted,
    /// These bytes serve already.
    Unchanged,
    /// What served before goes on serving.
    Refused,
}

/// The answer to an offer.
#[derive(Debug, Clone, Serialize)]
pub struct Offered {
    pub driver: String,
    pub sha256: String,
    pub result: OfferResult,
    /// Why it was refused; with a forced acceptance, what was overridden.
    pub reason: Option<String>,
    pub took_ms: u64,
}

/// What the checks before a swap found.
enum Verdict {
    /// Every back end has its new incarnation; the reasons that force overrode.
    Good {
        opened: Vec<Arc<Backend>>,
        failed: Vec<(String, String)>,
        overridden: Vec<Objection>,
    },
    Bad(String),
}

impl Catalog {
    /// Looks at every file of the plugin folder now. With `force`, what existing resources use is no reason to refuse.
    ///
    /// # Errors
    /// [`CatalogError`]; a file that is refused is no error.
    pub async fn reload_now(&self, force: bool) -> Result<Vec<Offered>, CatalogError> {
        let mut offered = Vec::new();
        for path in super::start::files_of(&self.parts()?.folder).await? {
            if let Some(one) = self.offer_file(&path, force).await? {
                offered.push(one);
            }
        }
        Ok(offered)
    }

    /// Offers a file of the plugin folder; none when it is gone meanwhile or its name is none of a driver.
    ///
    /// # Errors
    /// As [`reload_now`](Self::reload_now).
    pub async fn offer_file(&self, path: &Path, force: bool) -> Result<Option<Offered>, CatalogError> {
        let Some(name) = driver_name(path) else { return Ok(None) };
        // read in turn: of two looks at one file the later one has the newer bytes
        let _alone = self.alone_with(&name).await;
        match file::read(path).await {
            Ok(bytes) => self.offer_alone(&name, bytes, force).await.map(Some),
            Err(FileError::Gone) => Ok(None),
            Err(e) => Ok(Some(self.refuse(&name, "", &e.to_string(), Instant::now()))),
        }
    }

    /// Offers bytes under a driver's name.
    ///
    /// # Errors
    /// As [`reload_now`](Self::reload_now).
    pub async fn offer(&self, name: &str, bytes: Bytes, force: bool) -> Result<Offered, CatalogError> {
        let _alone = self.alone_with(name).await;
        self.offer_alone(name, bytes, force).await
    }

    /// As [`offer`](Self::offer), by whoever is alone with the name.
    async fn offer_alone(&self, name: &str, bytes: Bytes, force: bool) -> Result<Offered, CatalogError> {
        let begun = Instant::now();
        let sha256 = hash(bytes.clone()).await;
        let serving = self.loaded(name);
        if serving.as_ref().is_some_and(|d| d.identity().sha256 == sha256) {
            if let Some(entry) = self.book().drivers.get_mut(name) {
                entry.refused = None; // the good file is back in its place
            }
            return Ok(offered(name, &sha256, OfferResult::Unchanged, None, begun));
        }
        let driver = match self.parts()?.loader.load(name, bytes.clone()).await {
            Ok(driver) => driver,
            Err(e) => return Ok(self.refuse(name, &sha256, &e.to_string(), begun)),
        };
        let (_turn, trial) = self.try_on_users(name, &driver).await?;
        let (opened, failed, overridden) = match self.examine(&driver, serving, trial, force).await? {
            Verdict::Good { opened, failed, overridden } => (opened, failed, overridden),
            Verdict::Bad(reason) => return Ok(self.refuse(name, &sha256, &reason, begun)),
        };
        let store = &self.parts()?.store;
        let (now, forced) = (clock::now(), !overridden.is_empty());
        let mut tx = store.begin().await?;
        tx.keep_driver_blob(&sha256, &bytes, now).await?;
        tx.activate_driver(name, &sha256, &format!("{name}.wasm"), forced, now).await?;
        tx.prune_driver_blobs().await?;
        tx.commit().await?;
        self.adopt(name, driver, opened, failed, forced).await?;
        metrics::counter!("stowage_driver_reload_total", "result" => "accepted").increment(1);
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(driver = %name, %sha256, took_ms, forced, "a driver was taken into service");
        Ok(offered(name, &sha256, OfferResult::Accepted, forced.then(|| objection::text(&overridden)), begun))
    }

    /// Whether a loaded driver, tried on its back ends, may serve. Touches nothing that does.
    async fn examine(
        &self,
        driver: &Arc<dyn Driver>,
        serving: Option<Arc<dyn Driver>>,
        trial: Vec<Opened>,
        force: bool,
    ) -> Result<Verdict, CatalogError> {
        let mut against = Vec::new();
        against.extend(serving.and_then(|serving| Objection::older_state(serving.identity(), driver.identity())));
        let mut opened = Vec::with_capacity(trial.len());
        let mut failed = Vec::new();
        for one in trial {
            let host = self.host_of(&one.config.name)?;
            let serves = self.inner.live.load().get(&host).cloned();
            if let Some(serves) = &serves {
                against.extend(self.other_driver(&serves.driver, driver.identity(), &host).await?);
            }
            match one.result {
                Ok(new) => {
                    against.extend(self.lacks(&new).await?.into_iter().map(Objection::Lacks));
                    match self.before_swap(&new).await? {
                        Ok(()) => opened.push(new),
                        Err(reason) => return Ok(Verdict::Bad(format!("{}: {reason}", new.host))),
                    }
                }
                Err(e) => {
                    if serves.is_some() {
                        against.push(Objection::WouldNotStart { backend: one.config.name.clone(), error: e.clone() });
                    }
                    failed.push((one.config.name.clone(), format!("{}: {}", e.kind.as_str(), e.message)));
                }
            }
        }
        if against.is_empty() || force {
            Ok(Verdict::Good { opened, failed, overridden: against })
        } else {
            Ok(Verdict::Bad(objection::text(&against)))
        }
    }

    /// Makes a checked driver the one that serves.
    pub(super) async fn adopt(
        &self,
        name: &str,
        driver: Arc<dyn Driver>,
        opened: Vec<Arc<Backend>>,
        failed: Vec<(String, String)>,
        forced: bool,
    ) -> Result<(), CatalogError> {
        let entry = DriverEntry { loaded: Some(driver), since: clock::now(), forced, refused: None };
        self.book().drivers.insert(name.to_owned(), entry);
        for new in opened {
            self.swap(new).await?;
        }
        for (backend, reason) in failed {
            self.retire(&self.host_of(&backend)?).await?;
            if let Some(entry) = self.book().backends.get_mut(&backend) {
                entry.fails(reason);
            }
        }
        Ok(())
    }

    pub(super) fn refuse(&self, name: &str, sha256: &str, reason: &str, begun: Instant) -> Offered {
        metrics::counter!("stowage_driver_reload_total", "result" => "refused").increment(1);
        let mut book = self.book();
        let entry = book.drivers.entry(name.to_owned()).or_default();
        let before = entry.refused.as_ref().filter(|r| r.sha256 == sha256 && r.reason == reason).map(|r| r.at);
        let serving = entry.loaded.is_some();
        let refusal = Refusal::new(sha256, reason);
        // the same refusal of the same bytes is as old as it was
        entry.refused = Some(Refusal { at: before.unwrap_or(refusal.at), ..refusal });
        if before.is_none() {
            tracing::error!(driver = %name, %sha256, %reason, serving, "a driver file was refused; what served before goes on");
        }
        offered(name, sha256, OfferResult::Refused, Some(reason.to_owned()), begun)
    }
}

fn offered(name: &str, sha256: &str, result: OfferResult, reason: Option<String>, begun: Instant) -> Offered {
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Offered { driver: name.to_owned(), sha256: sha256.to_owned(), result, reason, took_ms }
}

/// The driver's name by its file: the stem of `<name>.wasm`, of lower-case letters, digits, `-` and `_`.
pub(super) fn driver_name(path: &Path) -> Option<String> {
    if path.extension()? != "wasm" {
        return None;
    }
    let stem = path.file_stem()?.to_str()?;
    let plain = stem.len() <= 64 && stem.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
    (plain && !stem.is_empty()).then(|| stem.to_owned())
}

/// Hexadecimal SHA-256, off the runtime's threads: a Python driver has 18 MB.
pub(super) async fn hash(bytes: Bytes) -> String {
    let of = move || hex::encode(Sha256::digest(&bytes));
    tokio::task::spawn_blocking(of).await.unwrap_or_default()
}
