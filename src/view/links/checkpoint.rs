//! The checkpoint: one small file that names all that an index is made of, written whole after all that it names is durable.
//!
//! ```text
//!  0   8  "SSLINKS1"
//!  8   4  crc32c of all that follows
//! 12   2  length of the identity, then the identity, as its config has it
//!     16  secret
//!      4  pages of one file of rows
//!      1  1: the mark of the last commit that is indexed whole follows; 0: there is none
//!      8  position of its manifest
//!      8  its stream
//!      8  its seal time
//!      8  the commit that is being indexed
//!      4  partitions of it that are indexed whole
//!     24  what is counted of it: duplicates, new keys, tombstones
//!      1  number of indexes, then each of them:
//!         8  number of the next run
//!         4  number of runs, then each of them, the newest first: 8 number, 8 entries, 8 words of its filter
//!      4  number of strips, that of the counts first, then each of them:
//!         8  first row   8  published   8  first row of the tail
//!         2  rows of the tail, then the rows, 16 bytes each
//! ```
//!
//! All numbers are big-endian.

use bytes::{Buf, BufMut, Bytes, TryGetError};

use super::hasher::Secret;
use super::row::{self, ROW_BYTES, Row};
use super::run::RunId;
use super::source::Mark;
use super::strip::Extent;
use crate::view::link::CommitCounts;

const MAGIC: &[u8; 8] = b"SSLINKS1";
const HEAD_BYTES: usize = 12;

/// The file's name.
pub const NAME: &str = "links.checkpoint";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub identity: String,
    pub secret: Secret,
    pub piece_pages: u32,
    pub mark: Option<Mark>,
    pub commit: i64,
    pub partition: u32,
    pub counts: CommitCounts,
    pub indexes: Vec<IndexState>,
    pub strips: Vec<Extent>,
}

/// The runs of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexState {
    pub next_run: u64,
    pub runs: Vec<RunId>,
}

/// Letters of the indexes, in order: of keys, of identities.
pub const LETTERS: [u8; 2] = *b"KI";

impl Checkpoint {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_u16(self.identity.len() as u16);
        out.put_slice(self.identity.as_bytes());
        out.put_slice(&self.secret);
        out.put_u32(self.piece_pages);
        out.put_u8(u8::from(self.mark.is_some()));
        if let Some(mark) = &self.mark {
            out.put_u64(mark.position);
            out.put_i64(mark.stream);
            out.put_i64(mark.sealed);
        }
        out.put_i64(self.commit);
        out.put_u32(self.partition);
        let counts = [self.counts.duplicates, self.counts.new_keys, self.counts.tombstones];
        counts.iter().for_each(|count| out.put_u64(*count));
        out.put_u8(self.indexes.len() as u8);
        self.indexes.iter().for_each(|index| index.encode(&mut out));
        out.put_u32(self.strips.len() as u32);
        self.strips.iter().for_each(|extent| encode_extent(extent, &mut out));
        let head = [&MAGIC[..], &crc32c::crc32c(&out).to_be_bytes()].concat();
        [head, out].concat()
    }

    /// The checkpoint in `bytes`, or why it is none.
    pub fn decode(bytes: &Bytes) -> Result<Checkpoint, &'static str> {
        if bytes.len() < HEAD_BYTES || &bytes[..8] != MAGIC {
            return Err("it is not in a known format");
        }
        if bytes[8..HEAD_BYTES] != crc32c::crc32c(&bytes[HEAD_BYTES..]).to_be_bytes() {
            return Err("its checksum does not hold");
        }
        let mut input = bytes.slice(HEAD_BYTES..);
        match decode(&mut input) {
            Ok(checkpoint) if !input.has_remaining() => Ok(checkpoint),
            _ => Err("its fields do not fit its length"),
        }
    }
}

fn decode(input: &mut Bytes) -> Result<Checkpoint, TryGetError> {
    let identity_bytes = input.try_get_u16()?;
    let identity = String::from_utf8_lossy(&take(input, usize::from(identity_bytes))?).into_owned();
    let mut secret = Secret::default();
    input.try_copy_to_slice(&mut secret)?;
    let piece_pages = input.try_get_u32()?;
    let mark = match input.try_get_u8()? {
        0 => None,
        _ => Some(Mark { position: input.try_get_u64()?, stream: input.try_get_i64()?, sealed: input.try_get_i64()? }),
    };
    let (commit, partition) = (input.try_get_i64()?, input.try_get_u32()?);
    let counts = CommitCounts {
        duplicates: input.try_get_u64()?,
        new_keys: input.try_get_u64()?,
        tombstones: input.try_get_u64()?,
    };
    let num_indexes = usize::from(input.try_get_u8()?).min(LETTERS.len());
    let indexes = LETTERS[..num_indexes].iter().map(|letter| IndexState::decode(*letter, input));
    let indexes = indexes.collect::<Result<_, _>>()?;
    let strips = (0..input.try_get_u32()?).map(|_| decode_extent(input)).collect::<Result<_, _>>()?;
    Ok(Checkpoint { identity, secret, piece_pages, mark, commit, partition, counts, indexes, strips })
}

impl IndexState {
    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.next_run);
        out.put_u32(self.runs.len() as u32);
        for run in &self.runs {
            let numbers = [run.number, run.num_entries, run.num_filter_words];
            numbers.iter().for_each(|number| out.put_u64(*number));
        }
    }

    fn decode(letter: u8, input: &mut Bytes) -> Result<IndexState, TryGetError> {
        let next_run = input.try_get_u64()?;
        let runs = (0..input.try_get_u32()?).map(|_| {
            let [number, num_entries, num_filter_words] =
                [input.try_get_u64()?, input.try_get_u64()?, input.try_get_u64()?];
            Ok(RunId { letter, number, num_entries, num_filter_words })
        });
        Ok(IndexState { next_run, runs: runs.collect::<Result<_, _>>()? })
    }
}

fn encode_extent(extent: &Extent, out: &mut Vec<u8>) {
    let numbers = [extent.first, extent.published, extent.tail_start];
    numbers.iter().for_each(|number| out.put_i64(*number));
    out.put_u16(extent.tail.len() as u16);
    extent.tail.iter().for_each(|row| out.put_slice(&row::encode(*row)));
}

fn decode_extent(input: &mut Bytes) -> Result<Extent, TryGetError> {
    let (first, published, tail_start) = (input.try_get_i64()?, input.try_get_i64()?, input.try_get_i64()?);
    let num_rows = usize::from(input.try_get_u16()?);
    let rows = take(input, num_rows * ROW_BYTES)?;
    let (rows, _) = rows.as_chunks::<ROW_BYTES>();
    let tail: Vec<Row> = rows.iter().map(row::decode).collect();
    Ok(Extent { first, published, tail_start, tail })
}

fn take(input: &mut Bytes, num: usize) -> Result<Bytes, TryGetError> {
    if input.remaining() < num {
        return Err(TryGetError { requested: num, available: input.remaining() });
    }
    Ok(input.split_to(num))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Checkpoint {
        let run = |number, letter| RunId { letter, number, num_entries: 1_000 + number, num_filter_words: 160 };
        let tail = vec![row::row(row::pack(3, 9), row::NONE, true, false), row::EMPTY];
        Checkpoint {
            identity: "header:ce_id".into(),
            secret: *b"0123456789abcdef",
            piece_pages: 4096,
            mark: Some(Mark { position: 77, stream: 5, sealed: 1_767_225_600_000 }),
            commit: 12,
            partition: 1,
            counts: CommitCounts { duplicates: 3, new_keys: 4, tombstones: 5 },
            indexes: vec![
                IndexState { next_run: 9, runs: vec![run(8, b'K'), run(3, b'K')] },
                IndexState { next_run: 2, runs: vec![run(1, b'I')] },
            ],
            strips: vec![
                Extent { first: 2, published: 12, tail_start: 0, tail: vec![row::EMPTY; 3] },
                Extent { first: 0, published: 510, tail_start: 510, tail },
            ],
        }
    }

    #[test]
    fn a_checkpoint_is_written_and_read_as_ever() {
        let bytes = sample().encode();
        let found: String = bytes.chunks(32).map(|line| format!("{}\n", hex(line))).collect();
        assert_eq!(found, include_str!("../../../tests/golden/links/checkpoint.hex"), "{found}");
        assert_eq!(Checkpoint::decode(&bytes.into()), Ok(sample()));
        let bare = Checkpoint { mark: None, indexes: Vec::new(), strips: Vec::new(), ..sample() };
        assert_eq!(Checkpoint::decode(&bare.encode().into()), Ok(bare));
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_flipped_bit_and_a_cut_are_seen() {
        let bytes = sample().encode();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            Checkpoint::decode(&flipped.into()).unwrap_err();
        }
        for len in 0..bytes.len() {
            Checkpoint::decode(&Bytes::copy_from_slice(&bytes[..len])).unwrap_err();
        }
    }
}
