//! Writing to the operator.

use std::fmt::Display;
use std::io::{self, Write};

/// How a command writes what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people
    Table,
    /// For scripts: one object a line
    Json,
}

/// The flag `-o` of commands that answer with a table.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct FormatArgs {
    /// How to write what was found
    #[arg(long = "output", short = 'o', value_enum, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
}

/// Writes to standard output at once, and says when nobody reads it any more.
pub(super) fn write_out(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}").and_then(|()| out.flush())
}

/// Writes a note for people to standard error, where it does not mix with what scripts read.
pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes an answer to standard output at once. A reader that has gone (`| head`) is no error.
pub fn print(text: impl Display) {
    let mut out = io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}

/// Writes an error to standard error, in the words of the operator.
pub(super) fn complain(error: impl Display) {
    let _ = writeln!(io::stderr().lock(), "error: {error}");
}

/// `12.3 GiB`
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_the_unit_that_fits() {
        assert_eq!(human_bytes(1023), "1023 B");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(268_435_456), "256.0 MiB");
    }
}
