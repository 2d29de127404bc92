//! `streamstack serve`: runs a broker until SIGTERM or SIGINT, or until its disk fails.

use std::fmt::Write;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::args::ConfigArgs;
use super::output::human_bytes;
use super::running::{runtime, start_broker};
use crate::broker::Broker;
use crate::config::{Durability, ServerConfig, Settings};
use crate::disk::{Clock, Disk, OsClock, OsDisk};
use crate::server::{Server, ServerError};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
}

/// Signals so close together are one: a shell sends Ctrl-C to a whole group of processes, of which one may pass it on.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// How often it is asked whether the disk has failed.
const FAILURE_CHECK: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error("cannot start: {0}")]
    Runtime(#[from] io::Error),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(
        "the disk failed: {failure}. Nothing was acknowledged that is not on disk; \
         see to the disk, then start again with the same data folder"
    )]
    Disk { failure: String },
    #[error("stopped at once by the second signal; the next start replays the journal")]
    Hurried,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let clock = OsClock::new();
    let config = match args.config.load() {
        Ok(config) => config,
        Err(error) => return super::wrong_usage(&error),
    };
    match runtime().map_err(ServeError::from).and_then(|runtime| {
        let served = runtime.block_on(serve(config, &clock));
        // Tasks that hang on a dead client or disk must not hold up the exit.
        runtime.shutdown_background();
        served
    }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            super::output::complain(error);
            ExitCode::FAILURE
        }
    }
}

async fn serve(config: ServerConfig, clock: &OsClock) -> Result<(), ServeError> {
    // Before the start, so that a signal during a long recovery is not the default one.
    let mut signals = Signals::install()?;
    let settings = config.settings.clone();
    let server = tokio::select! {
        server = start_broker(config) => server?,
        () = signals.next() => return Ok(()),
    };
    super::print(banner(&server, &settings));
    super::print(format_args!("ready in {} ms\n", clock.elapsed().as_millis()));
    let failed = tokio::select! {
        () = signals.next() => None,
        failure = failure(server.broker()) => Some(failure),
    };
    if let Some(failure) = failed {
        return Err(ServeError::Disk { failure });
    }
    tracing::info!("stopping; a second signal, a second or more after the first, stops at once");
    tokio::select! {
        stopped = server.shut_down() => Ok(stopped?),
        () = signals.again(clock) => Err(ServeError::Hurried),
    }
}

/// Completes when the broker can write no more, with the reason.
async fn failure(broker: &Broker) -> String {
    loop {
        if let Some(failure) = broker.failure() {
            return failure.to_owned();
        }
        tokio::time::sleep(FAILURE_CHECK).await;
    }
}

/// The signals that ask the process to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn install() -> io::Result<Signals> {
        Ok(Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The next that is meant as one more.
    async fn again(&mut self, clock: &OsClock) {
        let until = clock.elapsed() + SAME_SIGNAL;
        loop {
            self.next().await;
            if clock.elapsed() >= until {
                return;
            }
        }
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => tracing::info!("SIGTERM"),
            _ = self.interrupt.recv() => tracing::info!("SIGINT"),
        }
    }
}

fn banner(server: &Server, settings: &Settings) -> String {
    let mut text = format!("StreamStack {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11} {value}");
    };
    for (listener, address) in settings.listeners.iter().zip(server.addresses()) {
        line("listening", &format!("{}://{address}", listener.name));
    }
    match settings.advertised.is_empty() {
        true => line("advertised", "the address that a client reached"),
        false => settings.advertised.iter().for_each(|told| line("advertised", &told.to_string())),
    }
    line("data", &data(settings));
    line("durability", durability(settings.durability));
    text
}

fn data(settings: &Settings) -> String {
    let folder = std::path::absolute(&settings.data_dir).unwrap_or_else(|_| settings.data_dir.clone());
    match OsDisk.free_bytes(&settings.data_dir) {
        Ok(free) => format!("{} ({} free)", folder.display(), human_bytes(free)),
        Err(_) => folder.display().to_string(),
    }
}

fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::Fsync => "fsync: an acknowledged record survives power loss",
        Durability::Os => "os: an acknowledged record survives a crash of the process, not power loss",
    }
}
