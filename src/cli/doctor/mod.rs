//! `streamstack doctor`: looks at a broker from here, or at a data folder, and says what to do.

mod advertised;
mod broker;
mod clock;
mod disk;
mod finding;
mod folder;

use std::path::PathBuf;

use super::broker_args::BrokerArgs;
use super::failure::Failure;
use super::output::{FormatArgs, write_out};
use super::paint::{Paint, counted};
use finding::{Finding, Level};

const EXAMPLES: &str = "\
Examples:
  streamstack doctor                                  the broker at 127.0.0.1:9092
  streamstack doctor --bootstrap broker.example:9092  from where your clients run
  streamstack doctor --data ./streamstack-data        the folder and its disk, without a broker
  streamstack doctor -o json | jq 'select(.level == \"problem\")'

Exit codes: 0 no problem was found, 1 at least one was, 2 wrong arguments.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Look at a data folder and its disk instead: files are read and synced there, a small one for a moment
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    output: FormatArgs,
    #[command(flatten)]
    broker: BrokerArgs,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let paint = Paint::of_stdout();
    let (mut worst, mut num_problems, mut written) = (Level::Good, 0, Ok(()));
    let tell = |finding: Finding| {
        worst = worst.max(finding.level);
        num_problems += u64::from(finding.level == Level::Problem);
        if written.is_ok() {
            written = write_out(finding.text(args.output.format, paint));
        }
    };
    match &args.data {
        Some(folder) => folder::check(folder, tell),
        None => broker::check(&args.broker, tell),
    }
    written?;
    match num_problems {
        0 => Ok(()),
        number => Err(Failure::Refused(format!("{} found", counted(number, "problem")))),
    }
}
