//! A whole broker in this process, for the commands that need one.

use std::sync::Arc;

use crate::broker::Broker;
use crate::config::ServerConfig;
use crate::disk::{OsClock, OsDisk, limits};
use crate::server::{Server, ServerError};

/// Opens the data folder, recovers it and listens: clients are served when this returns.
pub async fn start_broker(config: ServerConfig) -> Result<Server, ServerError> {
    // Before the store asks how many it may use.
    limits::raise_open_files();
    let listeners = config.settings.listeners.clone();
    // Recovery reads files: off the async threads, so that signals are still heard.
    let opening = tokio::task::spawn_blocking(move || Broker::open(Arc::new(OsDisk), Arc::new(OsClock::new()), config));
    let broker = match opening.await {
        Ok(opened) => opened?,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    };
    Server::start(broker, &listeners).await
}

/// The runtime that all of it runs on.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
