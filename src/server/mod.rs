//! Sockets: Kafka over TCP. One task a connection; one connection's fault never touches another.

mod connection;
mod gate;
mod listener;
mod outbox;
mod quiet;
mod room;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::broker::{Broker, BrokerError};
use crate::config::Listener as ListenerConfig;
use crate::disk::limits;

/// A broker that serves clients.
pub struct Server {
    broker: Arc<Broker>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    listeners: JoinSet<()>,
}

/// What all connections of a server share.
struct Shared {
    broker: Arc<Broker>,
    gate: gate::Gate,
    room: Arc<room::Room>,
    /// Of closed connections.
    quiet: quiet::Quiet,
    started: tokio::time::Instant,
}

/// Why a server did not start or stop well.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("cannot listen on {address}: {error}")]
    Listen { address: String, error: std::io::Error },
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

impl Server {
    /// Listens on every address; port 0 takes a free one. Clients are served once this returns.
    pub async fn start(broker: Arc<Broker>, listeners: &[ListenerConfig]) -> Result<Server, ServerError> {
        let (stop, stopped) = watch::channel(false);
        let settings = broker.settings().typed();
        let gate = gate::Gate::new(limits::open_files(), broker.num_files_max());
        let room = room::Room::new(broker.queued_bytes_max(), settings.request_bytes_max);
        let shared = Arc::new(Shared {
            broker: broker.clone(),
            gate,
            room,
            quiet: quiet::Quiet::default(),
            started: tokio::time::Instant::now(),
        });
        let mut server = Server { broker, addresses: Vec::new(), stop, listeners: JoinSet::new() };
        for config in listeners {
            let listener = listener::bind(config)
                .await
                .map_err(|error| ServerError::Listen { address: config.to_string(), error })?;
            server.addresses.push(listener.address);
            server.listeners.spawn(listener.run(shared.clone(), stopped.clone()));
        }
        Ok(server)
    }

    /// The addresses that it listens on, in the order of the configuration.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The broker behind the sockets.
    pub fn broker(&self) -> &Arc<Broker> {
        &self.broker
    }

    /// Takes no more requests, answers those taken, then closes the broker in order.
    pub async fn shut_down(mut self) -> Result<(), ServerError> {
        // Nobody listening any more is just as well.
        let _ = self.stop.send(true);
        while self.listeners.join_next().await.is_some() {}
        Ok(self.broker.shut_down().await?)
    }
}
