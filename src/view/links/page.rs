//! Pages of 4 KiB, of which all files of the index are made. A page is written once and never again, and says itself whether
//! it is what was written, where it belongs and to which file.
//!
//! ```text
//!  0   1  version: 1
//!  1   1  letter of what it holds
//!  2   2  number of rows
//!  4   4  crc32c of the file's seal (see `Seal`), bytes 0 to 3 and all from byte 8 on
//!  8   8  number of the page in its file
//! 16      rows of 16 or 32 bytes, then zeros
//! ```
//!
//! All numbers are big-endian.

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
/// Bytes before its rows.
pub const HEAD_BYTES: usize = 16;
/// Bytes of rows.
pub const ROOM_BYTES: usize = PAGE_BYTES - HEAD_BYTES;

const VERSION: u8 = 1;

/// The file that a page belongs to: its letter, and a number drawn from the secret of the index and from what the file is
/// for. A page that a crash brought back from an earlier index, or that stands in another file, does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    letter: u8,
    start: u32,
}

/// Why a page is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("its version {0} is unknown")]
    Version(u8),
    #[error("its checksum does not hold")]
    Checksum,
    #[error("it is not whole")]
    Short,
}

impl Seal {
    /// `secret` is that of the index; `file` tells its files with this letter apart.
    pub fn new(letter: u8, secret: &[u8; 16], file: u64) -> Seal {
        Seal { letter, start: crc32c::crc32c_append(crc32c::crc32c(secret), &file.to_be_bytes()) }
    }

    /// Page `number` with these rows, appended to `out`.
    pub fn put_page(&self, out: &mut Vec<u8>, number: u64, num_rows: usize, rows: &[u8]) {
        assert!(rows.len() <= ROOM_BYTES, "{} bytes of rows for one page", rows.len());
        let start = out.len();
        out.extend_from_slice(&[VERSION, self.letter]);
        out.extend_from_slice(&(num_rows as u16).to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(rows);
        out.resize(start + PAGE_BYTES, 0);
        let crc = self.checksum(&out[start..]);
        out[start + 4..start + 8].copy_from_slice(&crc.to_be_bytes());
    }

    /// The number of rows of page `number`, and its bytes from the first row on.
    pub fn rows<'a>(&self, page: &'a [u8], number: u64) -> Result<(usize, &'a [u8]), Flaw> {
        if page.len() != PAGE_BYTES {
            return Err(Flaw::Short);
        }
        if page[0] != VERSION {
            return Err(Flaw::Version(page[0]));
        }
        let is_it = page[1] == self.letter && page[8..HEAD_BYTES] == number.to_be_bytes();
        if !is_it || page[4..8] != self.checksum(page).to_be_bytes() {
            return Err(Flaw::Checksum);
        }
        Ok((usize::from(u16::from_be_bytes([page[2], page[3]])), &page[HEAD_BYTES..]))
    }

    fn checksum(&self, page: &[u8]) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c_append(self.start, &page[..4]), &page[8..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_another_place_and_another_file_are_seen() {
        let seal = Seal::new(b'L', &[3; 16], 5);
        let mut page = Vec::new();
        seal.put_page(&mut page, 9, 2, &[0xab; 32]);
        assert_eq!(seal.rows(&page, 9).unwrap().0, 2);
        assert_eq!(seal.rows(&page, 9).unwrap().1[..33], [&[0xab; 32][..], &[0]].concat());
        for bit in 0..PAGE_BYTES * 8 {
            page[bit / 8] ^= 1 << (bit % 8);
            seal.rows(&page, 9).unwrap_err();
            page[bit / 8] ^= 1 << (bit % 8);
        }
        seal.rows(&page, 8).unwrap_err();
        seal.rows(&page[..4000], 9).unwrap_err();
        for other in [Seal::new(b'C', &[3; 16], 5), Seal::new(b'L', &[4; 16], 5), Seal::new(b'L', &[3; 16], 6)] {
            assert_eq!(other.rows(&page, 9), Err(Flaw::Checksum));
        }
    }
}
