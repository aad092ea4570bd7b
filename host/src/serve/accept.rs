//! One connection after another, so many at once, until told to stop. What becomes of each is the caller's.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

/// Ends, with the socket closed, when `stop` is cancelled. A connection counts until its permit is dropped.
pub(crate) async fn accept(
    service: &'static str,
    socket: TcpListener,
    most: usize,
    stop: CancellationToken,
    mut begin: impl FnMut(TcpStream, SocketAddr, Option<OwnedSemaphorePermit>),
) {
    let room = Arc::new(Semaphore::new(most));
    loop {
        let permit = tokio::select! {
            () = stop.cancelled() => break,
            permit = Arc::clone(&room).acquire_owned() => permit.ok(),
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => begin(stream, peer, permit),
            Err(e) => {
                // out of file descriptors, or a connection that was gone at once: neither is cured by trying harder
                tracing::warn!(service, error = %e, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}
