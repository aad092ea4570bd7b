//! Following the other processes: what they accepted into the database serves here too.

use std::time::Instant;

use bytes::Bytes;
use futures::future::join_all;

use super::{Catalog, CatalogError, book::Refusal};
use crate::store::sql::driver_blobs::ActiveDriver;

impl Catalog {
    /// Takes over what the database says is active and does not serve here. Returns the names of what changed.
    ///
    /// # Errors
    /// [`CatalogError`].
    pub async fn follow(&self) -> Result<Vec<String>, CatalogError> {
        let behind: Vec<_> = self.parts()?.store.active_drivers().await?.into_iter().filter(|row| self.is_behind(row)).collect();
        // side by side: one driver's arrays do not keep another's bytes waiting
        let taken = join_all(behind.iter().map(|row| self.take_over(row))).await;
        let mut changed = Vec::new();
        for (row, taken) in behind.into_iter().zip(taken) {
            if taken? {
                changed.push(row.name);
            }
        }
        Ok(changed)
    }

    fn is_behind(&self, row: &ActiveDriver) -> bool {
        let book = self.book();
        let Some(entry) = book.drivers.get(&row.name) else { return true };
        if entry.loaded.as_ref().is_some_and(|d| d.identity().sha256 == row.hash) {
            return false;
        }
        // bytes that failed here are tried again now and then, not at every look
        !entry.refused.as_ref().is_some_and(|r| r.sha256 == row.hash && Instant::now() < r.retry_at)
    }

    /// Another process has checked these bytes against what exists; here they only have to work.
    async fn take_over(&self, row: &ActiveDriver) -> Result<bool, CatalogError> {
        let _alone = self.alone_with(&row.name).await;
        if !self.is_behind(row) {
            return Ok(false);
        }
        let parts = self.parts()?;
        let Some(bytes) = parts.store.driver_blob(&row.hash).await? else { return Ok(false) };
        let driver = match parts.loader.load(&row.name, Bytes::from(bytes)).await {
            Ok(driver) => driver,
            Err(error) => {
                let reason = format!("another process accepted these bytes, but this one cannot load them: {error}");
                tracing::error!(driver = %row.name, sha256 = %row.hash, %reason, "a driver is not followed");
                self.book().drivers.entry(row.name.clone()).or_default().refused = Some(Refusal::new(&row.hash, reason));
                return Ok(false);
            }
        };
        let (_turn, trial) = self.try_on_users(&row.name, &driver).await?;
        let (mut opened, mut failed) = (Vec::new(), Vec::new());
        for one in trial {
            match one.result {
                Ok(new) => match self.before_swap(&new).await? {
                    Ok(()) => opened.push(new),
                    Err(reason) => failed.push((one.config.name.clone(), reason)),
                },
                Err(e) => failed.push((one.config.name.clone(), format!("{}: {}", e.kind.as_str(), e.message))),
            }
        }
        let mut serving = failed.iter().map(|(name, _)| self.host_of(name)).collect::<Result<Vec<_>, _>>()?;
        serving.retain(|host| self.inner.live.load().contains_key(host));
        if !serving.is_empty() {
            // an array that is out for a moment is no reason to take down what serves; the others wait for it
            let why: Vec<String> = failed.into_iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
            let reason = format!("another process accepted these bytes, but here they do not start yet: {}", why.join("; "));
            tracing::warn!(driver = %row.name, sha256 = %row.hash, %reason, "a driver is not followed yet");
            self.book().drivers.entry(row.name.clone()).or_default().refused = Some(Refusal::new(&row.hash, reason));
            return Ok(false);
        }
        self.adopt(&row.name, driver, opened, failed, row.forced).await?;
        tracing::info!(driver = %row.name, sha256 = %row.hash, "another process's driver was taken over");
        Ok(true)
    }
}
