//! Which program the broker is, and its clock beside ours.

use super::finding::Finding;
use crate::cli::client::Told;
use crate::cli::text::age;

const CHECK: &str = "clock";
/// Differences that nobody notices, and those that make records look wrong.
const SMALL_MS: i64 = 2_000;
const LARGE_MS: i64 = 60_000;

/// The program and its version.
pub fn software(told: Option<&Told>) -> Finding {
    const CHECK: &str = "software";
    const OURS: &str = env!("CARGO_PKG_VERSION");
    match told.map(|told| told.about.version.as_str()) {
        Some(OURS) => Finding::good(CHECK, format!("StreamStack {OURS}, as this program")),
        Some(theirs) => Finding::note(
            CHECK,
            format!("StreamStack {theirs}; this program is {OURS}"),
            "nothing, unless a command is refused that the docs promise",
        ),
        None => Finding::note(
            CHECK,
            "no StreamStack broker, or one that does not tell its version",
            "produce, read and feed work with any broker; commits and streams are StreamStack's",
        ),
    }
}

/// The difference of the clocks, and whether the broker's was moved.
pub fn check(told: Option<&Told>) -> Vec<Finding> {
    match told {
        Some(told) => vec![difference(told.ahead_ms, told.unsure_ms)].into_iter().chain(moved(told)).collect(),
        None => vec![Finding::note(CHECK, "not told by this broker", "compare the clocks of both machines by hand")],
    }
}

fn difference(ahead_ms: i64, unsure_ms: i64) -> Finding {
    // What may come from the way there and back is no difference.
    let apart_ms = (ahead_ms.abs() - unsure_ms).max(0);
    let direction = if ahead_ms < 0 { "behind" } else { "ahead of" };
    let finding = format!("the broker's clock is {} {direction} this machine's", age(ahead_ms.abs()));
    let remedy =
        "let both machines set their clocks by NTP: records carry the time of whoever sends them, commits the broker's";
    if apart_ms <= SMALL_MS {
        Finding::good(CHECK, format!("the broker's clock and this machine's are within {SMALL_MS} ms"))
    } else if apart_ms <= LARGE_MS {
        Finding::warning(CHECK, finding, remedy)
    } else {
        Finding::problem(CHECK, finding, remedy)
    }
}

/// Seal times go by a steady clock, which follows a wall clock that was set at half the speed of time.
fn moved(told: &Told) -> Option<Finding> {
    let moved_ms = told.about.wall_ms - told.about.steady_ms;
    (moved_ms.abs() > SMALL_MS).then(|| {
        let direction = if moved_ms < 0 { "back" } else { "forward" };
        Finding::warning(
            CHECK,
            format!(
                "the broker's clock was set {direction}; seal times are {} away from it and follow it",
                age(moved_ms.abs())
            ),
            "nothing: it is made up in twice that time; a start of the broker makes it up at once",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;
    use crate::api::About;

    #[test]
    fn only_what_the_way_does_not_explain_is_a_difference() {
        assert_eq!(difference(1_500, 0).level, Level::Good);
        assert_eq!(difference(-5_000, 4_000).level, Level::Good);
        assert_eq!(difference(-5_000, 10).level, Level::Warning);
        assert_eq!(difference(-5_000, 10).finding, "the broker's clock is 5.0 s behind this machine's");
        assert_eq!(difference(3_600_000, 10).level, Level::Problem);
    }

    #[test]
    fn a_clock_that_was_set_is_noticed() {
        let told = |steady_ms| Told {
            about: About { version: "1".to_owned(), wall_ms: 100_000, steady_ms },
            ahead_ms: 0,
            unsure_ms: 0,
        };
        assert_eq!(check(Some(&told(100_000))).len(), 1);
        let found = check(Some(&told(160_000))).pop().unwrap();
        assert!(
            found.finding.starts_with("the broker's clock was set back; seal times are 1 min 0 s away"),
            "{found:?}"
        );
    }
}
