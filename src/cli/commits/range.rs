//! Which commits: `N`, `A-B`, `A-`.

use std::str::FromStr;

use crate::cli::client::Bounds;
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

    /// The first and the one past the last, if there is a last, of a feed that has these. One that is not there is a
    /// refusal, unless it is waited for.
    pub fn bounds(self, feed: &str, there: Bounds, waits: bool) -> Result<(i64, Option<i64>), Failure> {
        let Bounds { start, end, .. } = there;
        if self == Range::ALL {
            return Ok((start, None));
        }
        let highest = self.last.unwrap_or(self.first);
        let missing = [self.first, highest].into_iter().find(|&n| n < start || n >= end && !waits);
        match missing {
            None => Ok((self.first, self.last.map(|last| last + 1))),
            Some(_) if start == end => Err(Failure::Refused(format!("{feed} has no commits yet"))),
            Some(missing) => {
                let last = end - 1;
                Err(Failure::Refused(format!("{feed} has no commit {missing}: its commits are {start} to {last}")))
            }
        }
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
        let there = |end| Bounds { partition: 0, start: 0, end };
        let bounds = |text: &str, end, waits| text.parse::<Range>().unwrap().bounds("f", there(end), waits).ok();
        assert_eq!(bounds("7", 8, false), Some((7, Some(8))));
        assert_eq!(bounds("3-5", 6, false), Some((3, Some(6))));
        assert_eq!(bounds("3-", 6, false), Some((3, None)));
        assert_eq!(bounds("3-6", 6, false), None);
        assert_eq!(bounds("3-6", 6, true), Some((3, Some(7))));
        let cut = Bounds { partition: 0, start: 4, end: 6 };
        assert_eq!(Range::ALL.bounds("f", cut, false).ok(), Some((4, None)));
        let forgotten = "3-5".parse::<Range>().unwrap().bounds("f", cut, true).unwrap_err();
        assert_eq!(forgotten.to_string(), "f has no commit 3: its commits are 4 to 5");
        for wrong in ["", "-", "-3", "x", "1-x", "5-3", "1-2-3", "9223372036854775807"] {
            assert!(wrong.parse::<Range>().is_err(), "{wrong}");
        }
    }
}
