//! Times in names: UTC, of one fixed length each, so that a time has one spelling.

use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::{NameError, short};
use crate::model::Timestamp;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// `YYYYMMDDTHHMMZ`.
pub(super) fn minute(text: &str) -> Result<Timestamp, NameError> {
    let wrong = || wrong(text, "time", "YYYYMMDDTHHMMZ, as 20260101T0900Z");
    let digits = text.strip_suffix('Z').and_then(|text| text.split_once('T')).filter(|(date, _)| date.len() == 8);
    let (date, clock) = digits.ok_or_else(wrong)?;
    let [hour, minute] = fields(clock, [2, 2]).ok_or_else(wrong)?;
    instant(date, hour, minute).ok_or_else(wrong)
}

/// `YYYYMMDDHH`: that hour's begin and end.
pub(super) fn hour(text: &str) -> Result<(Timestamp, Timestamp), NameError> {
    let wrong = || wrong(text, "hour", "hour-YYYYMMDDHH, as hour-2026010109");
    let (date, clock) = text.split_at_checked(8).ok_or_else(wrong)?;
    let [hour] = fields(clock, [2]).ok_or_else(wrong)?;
    let from = instant(date, hour, 0).ok_or_else(wrong)?;
    Ok((from, Timestamp(from.0 + HOUR_MS)))
}

/// `YYYYMMDD`: that day's begin and end.
pub(super) fn day(text: &str) -> Result<(Timestamp, Timestamp), NameError> {
    let from = instant(text, 0, 0).ok_or_else(|| wrong(text, "day", "day-YYYYMMDD, as day-20260101"))?;
    Ok((from, Timestamp(from.0 + DAY_MS)))
}

fn instant(date: &str, hour: i16, minute: i16) -> Option<Timestamp> {
    let [year, month, day] = fields(date, [4, 2, 2])?;
    let small = |number: i16| i8::try_from(number).ok();
    let civil = DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, 0, 0).ok()?;
    let instant = Offset::UTC.to_timestamp(civil).ok()?;
    Some(Timestamp(instant.as_millisecond()))
}

/// Numbers of exactly these lengths, and nothing else.
fn fields<const N: usize>(text: &str, lens: [usize; N]) -> Option<[i16; N]> {
    if text.len() != lens.iter().sum::<usize>() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut at = 0;
    let mut numbers = [0; N];
    for (number, len) in numbers.iter_mut().zip(lens) {
        *number = text[at..at + len].parse().ok()?;
        at += len;
    }
    Some(numbers)
}

fn wrong(text: &str, what: &'static str, form: &'static str) -> NameError {
    NameError::Time { found: short(text), what, form }
}
