//! Accepting connections: how many, for how long, with or without TLS, and an end that cuts no answer in two.

use std::{fs, path::Path, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::Request;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, rustls};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::{
    node::refusal::{Refusal, Result},
    serve::accept::accept,
};

const CONNECTIONS: usize = 1024;
const HANDSHAKE: Duration = Duration::from_secs(10);
const HEADERS: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(20);

/// With or without TLS.
#[derive(Clone)]
pub struct Acceptor(Option<TlsAcceptor>);

impl Acceptor {
    pub const fn plain() -> Self {
        Self(None)
    }

    /// # Errors
    /// `invalid`, naming the file.
    pub fn tls(certificate: &Path, key: &Path) -> Result<Self> {
        use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
        let read = |path: &Path| fs::read(path).map_err(|e| Refusal::io(path.display(), e));
        let wrong = |path: &Path, e: &dyn std::fmt::Display| Refusal::invalid(format!("{}: {e}", path.display()));
        let chain = CertificateDer::pem_slice_iter(&read(certificate)?)
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|e| wrong(certificate, &e))?;
        let secret = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|e| wrong(key, &e))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| wrong(certificate, &e))?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|e| wrong(certificate, &e))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(Some(TlsAcceptor::from(Arc::new(config)))))
    }
}

/// Serves until `stop`, then lets requests end.
pub async fn serve(socket: TcpListener, acceptor: Acceptor, router: Router, stop: CancellationToken) {
    let graceful = Arc::new(GracefulShutdown::new());
    let open = tokio_util::task::TaskTracker::new();
    accept("node", socket, CONNECTIONS, stop, |stream, _, permit| {
        let (acceptor, router, watcher) = (acceptor.clone(), router.clone(), graceful.watcher());
        open.spawn(async move {
            if let Err(e) = connection(stream, acceptor, router, watcher).await {
                tracing::debug!(error = %e, "a connection broke");
            }
            drop(permit);
        });
    })
    .await;
    open.close();
    if let Some(graceful) = Arc::into_inner(graceful)
        && timeout(GRACE, async { tokio::join!(graceful.shutdown(), open.wait()) }).await.is_err()
    {
        tracing::warn!("the grace has passed; connections are cut");
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn connection(
    stream: TcpStream,
    acceptor: Acceptor,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) -> std::result::Result<(), Failure> {
    let _ = stream.set_nodelay(true);
    match acceptor.0 {
        None => http(stream, router, watcher).await,
        Some(tls) => http(timeout(HANDSHAKE, tls.accept(stream)).await??, router, watcher).await,
    }
}

async fn http(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) -> std::result::Result<(), Failure> {
    let service = hyper::service::service_fn(move |request: Request<Incoming>| router.clone().oneshot(request.map(Body::new)));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS).max_headers(64).max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HEADERS)
        .keep_alive_timeout(Duration::from_secs(20))
        .max_concurrent_streams(64)
        .max_header_list_size(16 << 10);
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    watcher.watch(connection).await
}
