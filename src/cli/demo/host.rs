//! The demo's broker: in this process, on the loopback, in a folder that goes with it unless it was given.

use std::io;
use std::path::{Path, PathBuf};

use tokio::runtime::Runtime;

use crate::cli::{runtime, start_broker};
use crate::config::{ConfigErrors, ServerConfig, Sources};
use crate::disk::{Disk, OsDisk, entropy};
use crate::server::{Server, ServerError};

/// A running broker.
pub struct Host {
    runtime: Runtime,
    server: Server,
    address: String,
    folder: Folder,
}

/// Why the demo's broker did not start or stop well.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error("cannot use the folder {folder}: {error}")]
    Folder { folder: String, error: io::Error },
    #[error("cannot start the threads of the broker: {0}")]
    Threads(io::Error),
    #[error("cannot wait for Ctrl-C: {0}")]
    Signal(io::Error),
    #[error(transparent)]
    Config(#[from] ConfigErrors),
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl Host {
    /// Serves on `port` of 127.0.0.1, 0 for a free one.
    pub fn start(data: Option<PathBuf>, port: u16) -> Result<Host, HostError> {
        let folder = Folder::of(data)?;
        let config = config(&folder.path, port)?;
        let runtime = runtime().map_err(HostError::Threads)?;
        let server = runtime.block_on(start_broker(config))?;
        let address = server.addresses().first().map(ToString::to_string).unwrap_or_default();
        Ok(Host { runtime, server, address, folder })
    }

    /// `127.0.0.1:port`
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Until Ctrl-C.
    pub fn wait_for_interrupt(&self) -> Result<(), HostError> {
        self.runtime.block_on(tokio::signal::ctrl_c()).map_err(HostError::Signal)
    }

    /// Closes the broker in order; then a folder of its own is removed.
    pub fn stop(self) -> Result<(), HostError> {
        self.runtime.block_on(self.server.shut_down())?;
        Ok(())
    }
}

/// The defaults, whatever the environment says: the demo is the same everywhere.
fn config(folder: &Path, port: u16) -> Result<ServerConfig, ConfigErrors> {
    ServerConfig::load(&Sources {
        file: None,
        env: Vec::new(),
        overrides: Vec::new(),
        flags: vec![
            ("--data", "log.dirs", folder.display().to_string()),
            ("--port", "listeners", format!("PLAINTEXT://127.0.0.1:{port}")),
        ],
    })
}

/// Where the data lies.
struct Folder {
    path: PathBuf,
    is_temporary: bool,
}

impl Folder {
    fn of(data: Option<PathBuf>) -> Result<Folder, HostError> {
        let is_temporary = data.is_none();
        let path = match data {
            Some(path) => path,
            None => temporary().map_err(|error| HostError::Folder { folder: "a temporary one".to_owned(), error })?,
        };
        let made = OsDisk.create_dir_all(&path);
        made.map_err(|error| HostError::Folder { folder: path.display().to_string(), error })?;
        Ok(Folder { path, is_temporary })
    }
}

fn temporary() -> io::Result<PathBuf> {
    let number = u32::from_be_bytes(entropy::bytes()?);
    Ok(std::env::temp_dir().join(format!("streamstack-demo-{number:08x}")))
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_temporary {
            return;
        }
        if let Err(error) = OsDisk.remove_dir_all(&self.path) {
            tracing::warn!(folder = %self.path.display(), %error, "the demo's folder could not be removed");
        }
    }
}
