//! The day's polls, from the file that the program carries.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use jiff::Timestamp;
use serde::Deserialize;

const FILE: &[u8] = include_bytes!("data/flight-polls.jsonl.gz");
const FIRST_POLL: &str = "2013-02-08T00:59:00Z";
const HOUR_S: i64 = 3600;

/// What the day's polls hold, counted by other means.
pub const RECORDS_BY_POLL: [usize; 24] =
    [0, 0, 0, 0, 5, 81, 146, 218, 201, 183, 149, 141, 147, 154, 176, 190, 207, 199, 193, 171, 135, 80, 35, 11];
pub const NUM_RECORDS: usize = 2_822;
pub const NUM_DISTINCT: usize = 1_376;
pub const NUM_KEYS: usize = 930;
/// As many as are distinct: no flight comes back to a status that it had.
pub const NUM_CHANGES: usize = 1_376;

/// One poll of the boards. Empty when no flight was near.
pub struct Poll {
    /// Its time to the minute, such as `2013-02-08T09:59Z`.
    pub label: String,
    pub at_ms: i64,
    pub rows: Vec<Row>,
}

/// A flight's status at the time of the poll.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub key: String,
    pub value: String,
}

/// Why the file could not be read; it is part of the program, so none of these is expected.
#[derive(Debug, thiserror::Error)]
pub enum PollsError {
    #[error("the demo's data cannot be unpacked: {0}")]
    Unpack(#[from] std::io::Error),
    #[error("the demo's data holds a line that is no poll: {0}")]
    Line(#[from] serde_json::Error),
    #[error("the demo's data holds a time that is none: {0}")]
    Time(#[from] jiff::Error),
}

#[derive(Deserialize)]
struct Line {
    poll: String,
    key: String,
    value: serde_json::Value,
}

/// All 24 polls in order, the empty ones too.
pub fn load() -> Result<Vec<Poll>, PollsError> {
    let mut rows: BTreeMap<Timestamp, Vec<Row>> = BTreeMap::new();
    for line in BufReader::new(GzDecoder::new(FILE)).lines() {
        let Line { poll, key, value } = serde_json::from_str(&line?)?;
        rows.entry(poll.parse()?).or_default().push(Row { key, value: value.to_string() });
    }
    let first: Timestamp = FIRST_POLL.parse()?;
    let polls = (0..RECORDS_BY_POLL.len() as i64).map(|hour| {
        let at = Timestamp::from_second(first.as_second() + hour * HOUR_S)?;
        let rows = rows.remove(&at).unwrap_or_default();
        Ok(Poll { label: at.strftime("%Y-%m-%dT%H:%MZ").to_string(), at_ms: at.as_millisecond(), rows })
    });
    polls.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_file_holds_what_is_known_of_it() {
        let polls = load().unwrap();
        let counts: Vec<usize> = polls.iter().map(|poll| poll.rows.len()).collect();
        assert_eq!(counts, RECORDS_BY_POLL);
        assert_eq!(polls[9].label, "2013-02-08T09:59Z");
        let rows: Vec<&Row> = polls.iter().flat_map(|poll| &poll.rows).collect();
        assert_eq!(rows.len(), NUM_RECORDS);
        assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), NUM_DISTINCT);
        assert_eq!(rows.iter().map(|row| &row.key).collect::<BTreeSet<_>>().len(), NUM_KEYS);
    }
}
