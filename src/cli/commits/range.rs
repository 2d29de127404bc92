//! Which commits: `N`, `A-B`, `A-`.

use std::str::FromStr;

use crate::cli::failure::Failure;

/// Commits from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    first: i64,
    last: Option<i64>,
}

impl Range {
    /// All there are.
    pub const ALL: Range = Range { first: 0, last: None };

    /// The first and the one past the last, if there is a last, of a feed that has so many. One that is not there is a
    /// refusal, unless it is waited for.
    pub fn bounds(self, feed: &str, commits: i64, waits: bool) -> Result<(i64, Option<i64>), Failure> {
        let highest = self.last.unwrap_or(self.first);
        if highest >= commits && !waits && self != Range::ALL {
            return Err(Failure::Refused(match commits {
                0 => format!("{feed} has no commits yet"),
                _ => format!("{feed} has no commit {highest}: its commits are 0 to {}", commits - 1),
            }));
        }
        Ok((self.first, self.last.map(|last| last + 1)))
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Range, String> {
        let wrong = || format!("{text:?} is none of: N, A-B, A-");
        let number = |text: &str| text.parse().ok().filter(|number| (0..i64::MAX).contains(number)).ok_or_else(wrong);
        match text.split_once('-') {
            None => number(text).map(|first| Range { first, last: Some(first) }),
            Some((first, "")) => Ok(Range { first: number(first)?, last: None }),
            Some((first, last)) => match (number(first)?, number(last)?) {
                (first, last) if first <= last => Ok(Range { first, last: Some(last) }),
                _ => Err(format!("{text} is empty: write the smaller number first")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_both_ends() {
        let bounds = |text: &str, commits, waits| text.parse::<Range>().unwrap().bounds("f", commits, waits).ok();
        assert_eq!(bounds("7", 8, false), Some((7, Some(8))));
        assert_eq!(bounds("3-5", 6, false), Some((3, Some(6))));
        assert_eq!(bounds("3-", 6, false), Some((3, None)));
        assert_eq!(bounds("3-6", 6, false), None);
        assert_eq!(bounds("3-6", 6, true), Some((3, Some(7))));
        assert_eq!(Range::ALL.bounds("f", 0, false).ok(), Some((0, None)));
        for wrong in ["", "-", "-3", "x", "1-x", "5-3", "1-2-3", "9223372036854775807"] {
            assert!(wrong.parse::<Range>().is_err(), "{wrong}");
        }
    }
}
