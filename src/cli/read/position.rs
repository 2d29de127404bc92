//! Where to begin and to end: as the operator writes it, and as offsets of a partition.

use std::str::FromStr;

use crate::cli::client::{Bounds, Client, ClientError, Isolation, OffsetOf};
use crate::cli::text::parse_time;

/// A place in every partition that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Start,
    End,
    Offset(i64),
    /// So many records before the end.
    BeforeEnd(i64),
    /// The first record at or after this time, in ms since 1970.
    Time(i64),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        match text {
            "start" => return Ok(Place::Start),
            "end" => return Ok(Place::End),
            _ => {}
        }
        if let Ok(number) = text.parse::<i64>() {
            return Ok(if number < 0 { Place::BeforeEnd(number.saturating_neg()) } else { Place::Offset(number) });
        }
        parse_time(text).map(Place::Time).ok_or_else(|| {
            format!(
                "{text:?} is none of: start, end, an offset (100), -N for N before the end, \
                 a time in UTC (2026-01-01, 2026-01-01T09:30, 2026-01-01T09:30:00Z)"
            )
        })
    }
}

impl Place {
    /// The offset in a partition with these bounds; none when no record is as late as the time.
    pub fn offset(
        self,
        client: &mut Client,
        topic: &str,
        bounds: Bounds,
        isolation: Isolation,
    ) -> Result<Option<i64>, ClientError> {
        Ok(match self {
            Place::Start => Some(bounds.start),
            Place::End => Some(bounds.end),
            Place::Offset(offset) => Some(offset),
            Place::BeforeEnd(number) => Some(bounds.end.saturating_sub(number).max(bounds.start)),
            Place::Time(ms) => client.offset(topic, bounds.partition, OffsetOf::Time(ms), isolation)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_words_offsets_and_times() {
        let place = |text: &str| text.parse::<Place>();
        assert_eq!(place("start"), Ok(Place::Start));
        assert_eq!(place("17"), Ok(Place::Offset(17)));
        assert_eq!(place("-3"), Ok(Place::BeforeEnd(3)));
        let day = 1_767_225_600_000;
        assert_eq!(place("2026-01-01"), Ok(Place::Time(day)));
        assert_eq!(place("2026-01-01T09:30"), Ok(Place::Time(day + 34_200_000)));
        assert_eq!(place("2026-01-01T09:30Z"), Ok(Place::Time(day + 34_200_000)));
        assert_eq!(place("2026-01-01T09:30:00.5Z"), Ok(Place::Time(day + 34_200_500)));
        assert_eq!(place("2026-01-01T09:30:00+01:00"), Ok(Place::Time(day + 30_600_000)));
        for wrong in ["", "soon", "1.5", "2026-13-01", "9:30"] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
