//! Accepting connections: limits, time-outs, and an end that cuts no answer in two.

use std::{collections::BTreeMap, fmt, net::SocketAddr, time::Duration};

use axum::{body::Body, extract::ConnectInfo};
use http::Request;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{ServeError, accept::accept};
use crate::{api::route::Api, config::ListenConfig};

/// The sockets of one process, before anything is served on them.
pub struct Sockets(Vec<(Api, TcpListener, SocketAddr)>);

/// Where each service listens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addresses(BTreeMap<&'static str, SocketAddr>);

impl Addresses {
    pub fn get(&self, api: Api) -> Option<SocketAddr> {
        self.0.get(name(api)).copied()
    }
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (name, address)) in self.0.iter().enumerate() {
            write!(f, "{}{name} {address}", if n == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

const fn name(api: Api) -> &'static str {
    match api {
        Api::Identity => "identity",
        Api::Block => "block",
        Api::Share => "share",
        Api::Admin => "admin",
    }
}

impl Sockets {
    /// Takes every configured address.
    ///
    /// # Errors
    /// [`ServeError::Bind`] naming the service and the key to change.
    pub async fn bind(listen: &ListenConfig) -> Result<Self, ServeError> {
        let mut sockets = Vec::new();
        for (api, bind) in
            [(Api::Identity, listen.identity), (Api::Block, listen.block), (Api::Share, listen.share), (Api::Admin, listen.admin)]
        {
            let Some(address) = bind.0 else { continue };
            let refused = |source| ServeError::Bind { service: name(api), address, source };
            let socket = TcpListener::bind(address).await.map_err(refused)?;
            let bound = socket.local_addr().map_err(refused)?;
            sockets.push((api, socket, bound));
        }
        Ok(Self(sockets))
    }

    pub fn addresses(&self) -> Addresses {
        Addresses(self.0.iter().map(|(api, _, address)| (name(*api), *address)).collect())
    }

    pub(super) fn into_open(self) -> impl Iterator<Item = (Api, TcpListener)> {
        self.0.into_iter().map(|(api, socket, _)| (api, socket))
    }
}

/// Serves `router` until `stop`, then gives connections the configured grace to finish their requests.
pub(super) async fn serve(api: Api, socket: TcpListener, router: axum::Router, limits: ListenConfig, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let open = metrics::gauge!("stowage_connections", "service" => name(api));
    accept(name(api), socket, limits.max_connections, stop, |stream, peer, permit| {
        let connection = graceful.watcher().watch(connection(stream, peer, router.clone(), limits.header_timeout));
        let open = open.clone();
        tokio::spawn(async move {
            open.increment(1.0);
            if let Err(e) = connection.await {
                tracing::debug!(error = %e, %peer, "a connection broke");
            }
            open.decrement(1.0);
            drop(permit);
        });
    })
    .await;
    let in_flight = graceful.count();
    if tokio::time::timeout(limits.shutdown_grace, graceful.shutdown()).await.is_err() {
        tracing::warn!(service = name(api), in_flight, "the grace has passed; connections are cut");
    }
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: axum::Router,
    header_timeout: Duration,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = Box<dyn std::error::Error + Send + Sync>> {
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        router.clone().oneshot(request)
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(header_timeout).max_headers(100);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(header_timeout)
        .keep_alive_timeout(Duration::from_secs(20))
        .max_concurrent_streams(100);
    builder.serve_connection(TokioIo::new(stream), service).into_owned()
}
