//! One row of a table of the history: 32 bytes that say themselves whether they are what was written.
//!
//! ```text
//! 0   1  version: 2
//! 1  27  four signed numbers, big-endian, each in as many bytes as the table's layout says; then zeros
//! 28  4  crc32c of the table's letter, the row's number (8 bytes) and bytes 0 to 27
//! ```
//!
//! Version 1 was four numbers of 8 bytes, the first of them so small that byte 0 was 0. Nothing tells whether such a row is
//! sound, so it is not read: it is made anew, as a damaged one is.

pub const ROW_BYTES: u64 = 32;

/// A row's numbers.
pub type Row = [u64; 4];

/// How the rows of a table are laid out. Frozen.
pub struct Layout {
    letter: u8,
    /// Bytes of each number, 27 together at most.
    widths: [usize; 4],
}

/// `commits.index`: position, stream, seal time, hash of the label.
pub const COMMITS: Layout = Layout { letter: b'C', widths: [6, 6, 7, 8] };
/// `streams.index`: position, greatest time up to the event.
pub const EVENTS: Layout = Layout { letter: b'S', widths: [6, 7, 0, 0] };
/// `feed.runs`: commit, feed base, log base, count.
pub const RUNS: Layout = Layout { letter: b'R', widths: [6, 7, 7, 7] };
/// `aborted.index`: producer, first offset, offset of the marker, what was decided then.
pub const ABORTED: Layout = Layout { letter: b'A', widths: [6, 7, 7, 7] };

const VERSION: u8 = 2;
const OLDER_VERSION: u8 = 0;
const CRC_AT: usize = 28;

/// Why a row is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("it is in an older format")]
    Older,
    #[error("its version {0} is unknown")]
    Version(u8),
    #[error("its checksum does not hold")]
    Checksum,
}

impl Layout {
    /// Row `number` as it is stored.
    pub fn encode(&self, number: u64, row: &Row) -> [u8; ROW_BYTES as usize] {
        let mut bytes = [0; ROW_BYTES as usize];
        bytes[0] = VERSION;
        let mut at = 1;
        for (field, width) in row.iter().zip(self.widths) {
            bytes[at..at + width].copy_from_slice(&field.to_be_bytes()[8 - width..]);
            at += width;
        }
        // Counts and times that a broker reaches within thousands of years.
        assert!(self.fields(&bytes) == *row, "{row:?} does not fit the widths {:?}", self.widths);
        let crc = self.checksum(number, &bytes);
        bytes[CRC_AT..].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    /// Row `number` from what is stored in its place.
    pub fn decode(&self, number: u64, bytes: &[u8]) -> Result<Row, Flaw> {
        match bytes[0] {
            VERSION if bytes[CRC_AT..] == self.checksum(number, bytes).to_be_bytes() => Ok(self.fields(bytes)),
            VERSION => Err(Flaw::Checksum),
            OLDER_VERSION => Err(Flaw::Older),
            version => Err(Flaw::Version(version)),
        }
    }

    /// The same for one in any version: for whoever holds the row against what it rests on.
    pub fn decode_any(&self, number: u64, bytes: &[u8]) -> Result<Row, Flaw> {
        match self.decode(number, bytes) {
            Err(Flaw::Older) => Ok(std::array::from_fn(|index| number_in(&bytes[index * 8..][..8]))),
            decoded => decoded,
        }
    }

    fn fields(&self, bytes: &[u8]) -> Row {
        let mut at = 1;
        self.widths.map(|width| {
            let field = number_in(&bytes[at..at + width]);
            at += width;
            extended(field, width)
        })
    }

    fn checksum(&self, number: u64, bytes: &[u8]) -> u32 {
        let place = crc32c::crc32c_append(crc32c::crc32c(&[self.letter]), &number.to_be_bytes());
        crc32c::crc32c_append(place, &bytes[..CRC_AT])
    }
}

fn number_in(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The number whose last `width` bytes these are, with its sign.
fn extended(field: u64, width: usize) -> u64 {
    match width {
        0 => 0,
        width => {
            let unused = 64 - 8 * width as u32;
            ((field << unused) as i64 >> unused) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: [(&Layout, &str); 4] = [
        (&COMMITS, include_str!("../../tests/golden/tables/commits.hex")),
        (&EVENTS, include_str!("../../tests/golden/tables/events.hex")),
        (&RUNS, include_str!("../../tests/golden/tables/runs.hex")),
        (&ABORTED, include_str!("../../tests/golden/tables/aborted.hex")),
    ];

    /// Three rows of each table, from number 258 on.
    fn samples(layout: &Layout) -> Vec<Row> {
        let full = [0x0102_0304_0506, 0x1112_1314_1516, 0x21_2223_2425_2627, 0x3132_3334_3536_3738_u64];
        let negative = [0, 0, -1_000_i64 as u64, u64::MAX];
        let fitted = |row: Row| std::array::from_fn(|index| extended(row[index], layout.widths[index]));
        [full, [0; 4], negative].map(fitted).to_vec()
    }

    #[test]
    fn rows_are_written_and_read_as_ever() {
        for (layout, golden) in LAYOUTS {
            let rows = samples(layout);
            let stored: Vec<_> = rows.iter().zip(258..).map(|(row, number)| layout.encode(number, row)).collect();
            let lines = stored.iter().map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            let found = lines.collect::<Vec<_>>().join("\n");
            assert_eq!(found, golden.trim_end(), "{found}");
            for ((row, bytes), number) in rows.iter().zip(&stored).zip(258..) {
                assert_eq!(layout.decode(number, bytes), Ok(*row));
            }
        }
    }

    #[test]
    fn a_flipped_bit_another_place_and_another_table_are_seen() {
        for (layout, _) in LAYOUTS {
            for (row, number) in samples(layout).iter().zip(258..) {
                let stored = layout.encode(number, row);
                for bit in 0..ROW_BYTES as usize * 8 {
                    let mut flipped = stored;
                    flipped[bit / 8] ^= 1 << (bit % 8);
                    layout.decode(number, &flipped).unwrap_err();
                }
                assert_eq!(layout.decode(number + 1, &stored), Err(Flaw::Checksum));
                for (other, _) in LAYOUTS.iter().filter(|(other, _)| other.letter != layout.letter) {
                    assert_eq!(other.decode(number, &stored), Err(Flaw::Checksum));
                }
            }
        }
        assert_eq!(COMMITS.decode(0, &[0; 32]), Err(Flaw::Older));
    }
}
