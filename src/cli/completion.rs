//! `streamstack completion`: what a shell needs to complete commands and options.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::failure::Failure;
use super::output::write_out;

const EXAMPLES: &str = "\
Examples:
  streamstack completion bash > /etc/bash_completion.d/streamstack
  streamstack completion zsh > \"${fpath[1]}/_streamstack\"
  streamstack completion fish > ~/.config/fish/completions/streamstack.fish";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Which shell
    #[arg(value_enum)]
    shell: CompletedShell,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum CompletedShell {
    Bash,
    Zsh,
    Fish,
}

/// `C` is the whole command line.
pub(super) fn run<C: CommandFactory>(args: &Args) -> Result<(), Failure> {
    let shell = match args.shell {
        CompletedShell::Bash => Shell::Bash,
        CompletedShell::Zsh => Shell::Zsh,
        CompletedShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut C::command(), "streamstack", &mut script);
    Ok(write_out(String::from_utf8_lossy(&script))?)
}
