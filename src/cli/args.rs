//! The flags that say which configs hold, shared by the commands that run or show a broker.

use std::io;
use std::path::PathBuf;

use crate::config::{ConfigErrors, ServerConfig, Sources};

/// Flags win over the environment, the environment over the file.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ConfigArgs {
    /// Properties file with Kafka's names; config/server.properties is an example
    #[arg(long, value_name = "FILE", env = "STREAMSTACK_CONFIG")]
    pub config: Option<PathBuf>,
    /// Sets one config; may be given many times
    #[arg(long = "override", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// The data folder (log.dirs)
    #[arg(long, value_name = "DIR")]
    pub data: Option<String>,
    /// Address to listen on (listeners): PORT, HOST:PORT, or NAME://HOST:PORT
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
}

/// Why the configs could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigArgsError {
    #[error("cannot read {file}: {error}")]
    File { file: String, error: io::Error },
    #[error(transparent)]
    Config(#[from] ConfigErrors),
}

impl ConfigArgs {
    /// Reads the file and the environment, and logs what is worth a warning.
    pub fn load(&self) -> Result<ServerConfig, ConfigArgsError> {
        let config = ServerConfig::load(&self.sources()?)?;
        for warning in &config.warnings {
            tracing::warn!("{warning}");
        }
        Ok(config)
    }

    fn sources(&self) -> Result<Sources, ConfigArgsError> {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        Ok(Sources {
            file: self.config.as_ref().map(read).transpose()?,
            env: std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect(),
            overrides: self.overrides.clone(),
            flags: self.flags(),
        })
    }

    fn flags(&self) -> Vec<(&'static str, &'static str, String)> {
        let data = self.data.iter().map(|folder| ("--data", "log.dirs", folder.clone()));
        let listen = self.listen.iter().map(|address| ("--listen", "listeners", listener(address)));
        data.chain(listen).collect()
    }
}

fn read(file: &PathBuf) -> Result<(String, String), ConfigArgsError> {
    let name = file.display().to_string();
    match std::fs::read_to_string(file) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(ConfigArgsError::File { file: name, error }),
    }
}

/// A port alone is one of this machine's loopback.
fn listener(address: &str) -> String {
    match address {
        _ if address.contains("://") => address.to_owned(),
        _ if address.contains(':') => format!("PLAINTEXT://{address}"),
        _ => format!("PLAINTEXT://127.0.0.1:{address}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_short() {
        assert_eq!(listener("9093"), "PLAINTEXT://127.0.0.1:9093");
        assert_eq!(listener(":9093"), "PLAINTEXT://:9093");
        assert_eq!(listener("[::1]:0"), "PLAINTEXT://[::1]:0");
        assert_eq!(listener("INSIDE://h:1"), "INSIDE://h:1");
    }
}
