//! How a command that talks to a broker ends, when it does not end well.

use std::io;
use std::process::ExitCode;

use super::client::ClientError;

/// Why a command did not do what it was told to.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Exit code 2: the arguments make no sense together.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("{0}")]
    Refused(String),
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    /// What was asked for is done as far as it was told before Ctrl-C.
    #[error("ended by Ctrl-C")]
    Interrupted,
    /// Whoever read the output has gone (`| head`): there is nothing left to do, and nothing to say.
    #[error("nobody reads the output any more")]
    ReaderGone,
}

/// What a shell gives a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

impl From<io::Error> for Failure {
    /// An error of writing to standard output.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Output(error),
        }
    }
}

/// Says what went wrong, and with which exit code the process ends.
pub(super) fn exit_code(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(error @ Failure::Usage(_)) => super::wrong_usage(&error),
        Err(Failure::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(error) => {
            super::output::complain(error);
            ExitCode::FAILURE
        }
    }
}
