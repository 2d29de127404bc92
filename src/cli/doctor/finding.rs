//! What the doctor found, and how it is told.

use serde_json::{Value, json};

use crate::cli::output::Format;
use crate::cli::paint::Paint;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Good,
    /// Worth knowing; nothing is wrong.
    Note,
    /// It works, and may not as somebody expects.
    Warning,
    /// Something does not work.
    Problem,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    pub check: &'static str,
    pub finding: String,
    /// What to do, unless all is good.
    pub remedy: Option<String>,
}

impl Finding {
    pub fn good(check: &'static str, finding: impl Into<String>) -> Finding {
        Finding { level: Level::Good, check, finding: finding.into(), remedy: None }
    }

    pub fn note(check: &'static str, finding: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Note, check, finding: finding.into(), remedy: Some(remedy.into()) }
    }

    pub fn warning(check: &'static str, finding: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Warning, check, finding: finding.into(), remedy: Some(remedy.into()) }
    }

    pub fn problem(check: &'static str, finding: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Problem, check, finding: finding.into(), remedy: Some(remedy.into()) }
    }

    pub fn text(&self, format: Format, paint: Paint) -> String {
        match format {
            Format::Json => format!("{}\n", self.json()),
            Format::Table => self.lines(paint),
        }
    }

    fn lines(&self, paint: Paint) -> String {
        let mark = match self.level {
            Level::Good => paint.good("good   "),
            Level::Note => paint.dim("note   "),
            Level::Warning => paint.bold("warning"),
            Level::Problem => paint.bad("PROBLEM"),
        };
        let Finding { check, finding, remedy, .. } = self;
        let remedy =
            remedy.as_ref().map(|remedy| format!("{:9}{:12}  {remedy}\n", "", "  what to do")).unwrap_or_default();
        format!("{mark}  {check:12}  {finding}\n{remedy}")
    }

    fn json(&self) -> Value {
        let level = match self.level {
            Level::Good => "good",
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Problem => "problem",
        };
        json!({ "check": self.check, "level": level, "finding": self.finding, "remedy": self.remedy })
    }
}
