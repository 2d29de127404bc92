//! The program: see `cli`.

use std::process::ExitCode;

/// The system's allocator gives the memory of each large request back at once, and takes a page fault per 4 KiB for the
/// next. Without huge pages: a buffer that is not filled should cost nothing.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    streamstack::cli::main()
}
