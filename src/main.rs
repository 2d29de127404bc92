//! The program: see `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    streamstack::cli::main()
}
