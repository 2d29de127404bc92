//! Accepting connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::gate::Handle;
use super::{Shared, connection};
use crate::config::Listener as ListenerConfig;
use crate::metrics;

/// How long accepting pauses when the process has no file handle left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections that may wait to be accepted (the system may allow fewer: net.core.somaxconn). One that finds the queue
/// full waits a second, until its client tries again.
const BACKLOG: u32 = 4096;

/// How long connections have to send their last answers at shutdown.
const DRAIN_MAX: Duration = Duration::from_secs(5);

pub(super) struct Listener {
    pub address: SocketAddr,
    name: String,
    socket: TcpListener,
}

pub(super) async fn bind(config: &ListenerConfig) -> io::Result<Listener> {
    // No host means every interface, as in Kafka.
    let host = config.host.as_deref().unwrap_or("0.0.0.0");
    let mut failure = io::Error::new(io::ErrorKind::AddrNotAvailable, "the name has no address");
    for address in tokio::net::lookup_host((host, config.port)).await? {
        match listen(address) {
            Ok(socket) => return Ok(Listener { address: socket.local_addr()?, name: config.name.clone(), socket }),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait for the connections of the last life to time out.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Listener {
    /// Serves until `stopped`, then waits for its connections to end.
    pub async fn run(self, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                (handle, accepted) = self.accept(&shared) => match accepted {
                    Ok((stream, peer)) => self.admit(handle, stream, peer, &shared, &stopped, &mut connections),
                    Err(error) => pause(&error).await,
                },
                Some(ended) = connections.join_next() => note_end(ended),
                _ = stopped.changed() => break,
            }
        }
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_MAX, drained).await.is_err() {
            tracing::warn!(listener = self.name, "connections still open after the time to drain; closing them");
        }
    }

    /// The next connection, once there is a file handle for it.
    async fn accept(&self, shared: &Shared) -> (Handle, io::Result<(TcpStream, SocketAddr)>) {
        if shared.gate.is_full() {
            metrics::all().accept_errors.increment();
            let max = shared.gate.num_handles();
            tracing::warn!(
                max,
                "no file handle is left for more connections; they wait until one ends (see ulimit -n)"
            );
        }
        (shared.gate.handle().await, self.socket.accept().await)
    }

    fn admit(
        &self,
        handle: Handle,
        stream: TcpStream,
        peer: SocketAddr,
        shared: &Arc<Shared>,
        stopped: &watch::Receiver<bool>,
        connections: &mut JoinSet<()>,
    ) {
        let max = shared.broker.settings().typed().num_connections_max;
        let Some(admitted) = shared.gate.admit(handle, max) else {
            metrics::all().connections_refused.increment();
            tracing::warn!(%peer, max, "connection refused: max.connections reached");
            return;
        };
        metrics::all().connections_taken.increment();
        let serving = connection::serve(stream, peer, self.name.clone(), shared.clone(), stopped.clone());
        connections.spawn(async move {
            serving.await;
            drop(admitted);
        });
    }
}

fn note_end(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        // A panic ends its own connection only.
        metrics::all().connections_panicked.increment();
        tracing::error!(%error, "a connection ended in a panic");
    }
}

/// Without file handles, accepting again at once would only spin.
async fn pause(error: &io::Error) {
    metrics::all().accept_errors.increment();
    tracing::warn!(%error, "cannot accept a connection");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}
