//! `--dry-run` and `--yes`: what changes much is shown first.

use super::failure::Failure;

/// Whether what was planned is done.
#[derive(clap::Args)]
pub struct Consent {
    /// Only show what would be done
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Do it
    #[arg(long)]
    pub yes: bool,
}

impl Consent {
    /// True when it is to be done; the plan is on the screen by now.
    pub fn given(&self) -> Result<bool, Failure> {
        match self.yes || self.dry_run {
            true => Ok(self.yes),
            false => Err(Failure::Usage("nothing was changed: say --yes to do it, or --dry-run to see it only".into())),
        }
    }
}
