//! Logs: text for people or JSON for machines, to standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

#[derive(clap::Args)]
#[command(next_help_heading = "Logs")]
pub(super) struct Args {
    /// How logs are written
    #[arg(long, global = true, value_enum, default_value_t, env = "STREAMSTACK_LOG_FORMAT")]
    log_format: Format,
    /// What is logged: error, warn, info, debug, trace, or by part as in info,streamstack::store=debug [default: info for serve, config and inspect, else warn]
    #[arg(long, global = true, value_name = "LEVEL", env = "STREAMSTACK_LOG_LEVEL")]
    log_level: Option<String>,
}

#[derive(Clone, Copy, Default, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Debug, thiserror::Error)]
#[error("--log-level {level}: {why}")]
pub(super) struct LevelError {
    level: String,
    why: String,
}

/// Sends the logs of the process to standard error, at `level` unless the arguments say otherwise.
pub(super) fn start(args: &Args, level: &str) -> Result<(), LevelError> {
    let filter = filter(args.log_level.as_deref().unwrap_or(level))?;
    let to_stderr = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match args.log_format {
        Format::Text => to_stderr.with_ansi(io::stderr().is_terminal()).init(),
        Format::Json => to_stderr.json().flatten_event(true).init(),
    }
    Ok(())
}

/// A word alone must be a level: the filter would take it for a part of the program, and log nothing else.
fn filter(level: &str) -> Result<EnvFilter, LevelError> {
    let wrong = |why: String| LevelError { level: level.to_owned(), why };
    let lower = level.to_ascii_lowercase();
    let unknown = lower.split(',').find(|part| !part.contains('=') && part.trim().parse::<LevelFilter>().is_err());
    if let Some(part) = unknown {
        return Err(wrong(format!("{part} is not one of off, error, warn, info, debug, trace")));
    }
    EnvFilter::try_new(&lower).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_parts_are_taken_and_other_words_refused() {
        assert!(filter("INFO").is_ok());
        assert!(filter("info,streamstack::store=debug").is_ok());
        assert!(filter("loud").is_err());
        assert!(filter("streamstack=loud").is_err());
    }
}
