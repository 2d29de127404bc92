//! What a record of this test says, in few bytes: hundreds of rounds leave millions of them to remember.

use streamstack::cli::client::Record;

use super::writer;

/// The record `number` of a writer. Whoever knows it knows all of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub writer: &'static str,
    pub number: i64,
}

/// A record, and where it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub partition: i32,
    pub offset: i64,
    pub stamp: Stamp,
}

impl Placed {
    /// Checked to be, in every byte, what its writer sent.
    pub fn of(record: &Record) -> Placed {
        Placed { partition: record.partition, offset: record.offset, stamp: Stamp::of(record) }
    }
}

impl Stamp {
    fn of(record: &Record) -> Stamp {
        let value = record.value.as_deref().expect("a value");
        let text = std::str::from_utf8(value).unwrap();
        let (name, rest) = text.split_once(' ').unwrap_or_else(|| panic!("no record of this test: {text:?}"));
        let number = rest.trim_end_matches('.').parse().unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let writer = writer::NAMES.into_iter().find(|known| *known == name);
        let stamp = Stamp { writer: writer.unwrap_or_else(|| panic!("no writer of this test: {name:?}")), number };
        assert_eq!(text, stamp.text(), "the record at offset {} is damaged", record.offset);
        assert_eq!(record.key.as_deref(), Some(value), "the key of {stamp:?}");
        assert_eq!((record.timestamp, record.headers.len()), (number, 0), "time and headers of {stamp:?}");
        stamp
    }

    /// The record's value, and its key. Up to 2 KB, so that the journal fills.
    pub fn text(&self) -> String {
        let filler = if self.writer == writer::SEALER { 0 } else { (self.number % 40) as usize * 50 };
        format!("{} {}{:.>filler$}", self.writer, self.number, "")
    }
}
