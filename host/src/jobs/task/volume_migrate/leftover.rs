//! `volume.leftover`: what a move leaves on a back end goes when that is there to listen: the connections of this service, and
//! the object that the volume is not (any more, or after all).

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::super::{
    block_support::{call, volumes_of},
    cleanup::Remains,
    connect_turn, connection_end,
};
use crate::{
    copy,
    driver::{DriverError, DriverResult, ErrorKind, types},
    jobs::{JobContext, TaskError},
    store::StoreResult,
};

/// What may be left on a back end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Leftover {
    /// The volume's own id, whatever its objects are called.
    pub of: String,
    pub object: types::Volume,
    /// Runs that may be connected to it; these connections end first.
    pub runs: Vec<String>,
    /// Only the connections: the object stays.
    pub connections_only: bool,
}

impl Remains for Leftover {
    const KIND: &'static str = "volume.leftover";
    const NAME: &'static str = "volume";

    fn id(&self) -> &str {
        &self.of
    }

    /// An object that the volume is, is never deleted; connections to it end all the same.
    fn lives_on<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, StoreResult<bool>> {
        Box::pin(async move {
            let volume = cx.app.store.volume(&self.of).await?;
            Ok(!self.connections_only && volume.is_some_and(|v| v.backend() == Some(backend) && v.driver_id() == self.object.id))
        })
    }

    fn delete<'a>(&'a self, cx: &'a JobContext, backend: &'a str) -> BoxFuture<'a, DriverResult<()>> {
        Box::pin(async move {
            self.disconnect(cx, backend).await?;
            if self.connections_only {
                return Ok(());
            }
            volumes_of(cx, backend)?.delete(&call(cx, "cleanup"), &self.object).await
        })
    }
}

impl Leftover {
    async fn disconnect(&self, cx: &JobContext, backend: &str) -> DriverResult<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let hosts: Vec<String> = self.runs.iter().map(|run| copy::connector(run).host).collect();
        let _turn = match connect_turn::take_on(cx, backend, hosts.iter().map(String::as_str)).await {
            Ok(Some(turn)) => turn,
            Ok(None) => return Err(DriverError::new(ErrorKind::Busy, "waits for another connection of the same host")),
            Err(TaskError::Fenced) => return Err(DriverError::lease_lost()),
            Err(e) => return Err(DriverError::new(ErrorKind::Transient, e.to_string())),
        };
        let live = cx.app.drivers.backend(backend)?;
        for run in &self.runs {
            connection_end::end(cx, &live, &self.object, copy::connector(run)).await?;
        }
        Ok(())
    }
}
