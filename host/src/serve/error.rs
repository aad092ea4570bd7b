//! Why `stowage serve` did not start. Each text names the remedy.

use std::{io, net::SocketAddr, path::PathBuf};

use crate::{error::chain, store::StoreError};

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{service} cannot listen on {address}: {source}; set listen.{service} to another address, or to \"\" to turn it off")]
    Bind {
        service: &'static str,
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("the state folder {} cannot be used: {source}; set --state-dir or state_dir", path.display())]
    StateFolder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "host is {wanted:?} in the configuration, but volumes in this database are placed under {was:?}: set host = {was:?}, or use another \
         database"
    )]
    HostChanged { was: String, wanted: String },
    #[error("{}", chain(.0))]
    Store(#[source] StoreError),
    #[error("{context}: {source}")]
    Part {
        context: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ServeError {
    /// A part of the service that could not be built or started.
    pub fn part(context: impl Into<String>, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Part { context: context.into(), source: source.into() }
    }
}

impl From<StoreError> for ServeError {
    fn from(e: StoreError) -> Self {
        Self::Store(e)
    }
}
