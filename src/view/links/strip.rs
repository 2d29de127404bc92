//! Rows in the order of their numbers: the links of a partition by feed offset, or the counts of commits by number.
//!
//! Whole pages of 255 rows are in files of so many pages each, so that what is dropped at the front can be removed. The rows of
//! the page that is not full yet are in memory, and a checkpoint keeps them itself: so a page is written once, whole, and no
//! crash can tear what was stored before.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::files::{Files, IndexFile};
use super::page::{PAGE_BYTES, ROOM_BYTES, Seal};
use super::row::{self, ROW_BYTES, Row};
use crate::store::FileError;

pub mod growth;

use growth::Growth;

/// Rows of a page.
pub const PAGE_ROWS: i64 = (ROOM_BYTES / ROW_BYTES) as i64;

/// Pages read at once.
const PAGES_READ: i64 = 256;

/// What a strip is for, and how it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripKind {
    pub letter: u8,
    pub number: u32,
    /// Pages of one file.
    pub piece_pages: i64,
}

/// What is in a strip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Rows below are not there, or not needed.
    pub first: i64,
    /// Rows below may be read.
    pub published: i64,
    /// The first row of `tail`, and of a page; what lies below is in files.
    pub tail_start: i64,
    pub tail: Vec<Row>,
}

/// See the module.
pub struct Strip {
    kind: StripKind,
    files: Files,
    seal: Seal,
    /// Never held while the disk is waited for.
    extent: RwLock<Extent>,
    /// The files that were used, by number.
    pieces: Mutex<BTreeMap<i64, Arc<Piece>>>,
}

struct Piece {
    file: IndexFile,
    is_dirty: Mutex<bool>,
}

impl Extent {
    /// That of a strip whose rows below `first` were dropped before there were any.
    pub fn starting_at(first: i64) -> Extent {
        let Growth { first, start, rows } = Growth::at(first);
        Extent { first, published: first, tail_start: start, tail: rows }
    }

    /// One past the last row.
    pub fn end(&self) -> i64 {
        self.tail_start + self.tail.len() as i64
    }
}

impl Strip {
    /// A strip with this in it; touches nothing.
    pub fn new(kind: StripKind, files: Files, secret: &[u8; 16], extent: Extent) -> Strip {
        let seal = Seal::new(kind.letter, secret, u64::from(kind.number));
        Strip { kind, files, seal, extent: RwLock::new(extent), pieces: Mutex::default() }
    }

    /// Holds the files against what is to be in them, and cuts what lies behind. Before anything is read.
    pub fn settle(&self) -> Result<(), FileError> {
        let extent = self.extent();
        for number in self.pieces_of(&extent) {
            let piece = self.piece(number);
            let end = (extent.tail_start / PAGE_ROWS - number * self.kind.piece_pages).min(self.kind.piece_pages);
            let (size, expected) = (piece.file.size()?, end as u64 * PAGE_BYTES as u64);
            if size < expected {
                return Err(FileError::Short { path: piece.file.path.clone(), size, expected });
            }
            if size > expected {
                let cut = piece.file.open()?.file.set_size(expected);
                cut.map_err(FileError::io(&piece.file.path))?;
            }
        }
        Ok(())
    }

    /// What is in it now.
    pub fn extent(&self) -> Extent {
        self.read_extent().clone()
    }

    /// Rows below may be read.
    pub fn published(&self) -> i64 {
        self.read_extent().published
    }

    /// The rows `[from, end)`, each as `make` has it. They must be published.
    pub fn read<T>(&self, from: i64, end: i64, make: impl Fn(Row) -> T) -> Result<Vec<T>, FileError> {
        if from >= end {
            return Ok(Vec::new());
        }
        let (tail_start, tail) = self.tail_from(from, end)?;
        let mut rows = Vec::with_capacity((end - from) as usize);
        let stored_end = end.min(tail_start);
        let mut next = from;
        while next < stored_end {
            next = self.read_stored(next, stored_end, &make, &mut rows)?;
        }
        rows.extend(tail.into_iter().map(make));
        Ok(rows)
    }

    /// The strip as it is, for more to be put behind it.
    pub fn growth(&self) -> Growth {
        let extent = self.read_extent();
        Growth { first: extent.first, start: extent.tail_start, rows: extent.tail.clone() }
    }

    /// Writes the whole pages of what was put. Nobody sees them yet, and until they are installed it may be done again.
    pub fn write(&self, growth: &Growth) -> Result<(), FileError> {
        let (pages, _) = growth.rows.as_chunks::<{ PAGE_ROWS as usize }>();
        let first = growth.start / PAGE_ROWS;
        let mut at = 0;
        while at < pages.len() {
            let page = first + at as i64;
            let room = self.kind.piece_pages - page % self.kind.piece_pages;
            let end = pages.len().min(at + room as usize);
            self.write_pages(page, &pages[at..end])?;
            at = end;
        }
        Ok(())
    }

    /// What was written takes the place of what is in the strip.
    pub fn install(&self, growth: Growth) {
        let whole = growth.rows.len() as i64 / PAGE_ROWS * PAGE_ROWS;
        let tail = growth.rows[whole as usize..].to_vec();
        let mut extent = self.extent.write().unwrap_or_else(PoisonError::into_inner);
        let published = extent.published;
        *extent = Extent { first: growth.first, published, tail_start: growth.start + whole, tail };
    }

    /// What is installed below `end` may be read. If that is less, what lies between was dropped from the history, and all before.
    pub fn publish(&self, end: i64) {
        let mut extent = self.extent.write().unwrap_or_else(PoisonError::into_inner);
        if end > extent.end() {
            *extent = Extent::starting_at(end);
        }
        extent.published = extent.published.max(end);
    }

    /// Rows below `first` are not needed any more. True when that is new.
    pub fn trim(&self, first: i64) -> bool {
        let mut extent = self.extent.write().unwrap_or_else(PoisonError::into_inner);
        let first = first.min(extent.published);
        let is_new = first > extent.first;
        extent.first = extent.first.max(first);
        is_new
    }

    /// Makes what was installed durable; names need their folder synced as well.
    pub fn sync(&self) -> Result<(), FileError> {
        let pieces: Vec<Arc<Piece>> = self.lock_pieces().values().cloned().collect();
        for piece in pieces {
            let mut is_dirty = piece.is_dirty.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_dirty {
                piece.file.sync()?;
                *is_dirty = false;
            }
        }
        Ok(())
    }

    /// Names of the files that hold what is in the strip. The others are let go of.
    pub fn needed(&self) -> Vec<String> {
        let needed = self.pieces_of(&self.extent());
        self.lock_pieces().retain(|number, piece| {
            let is_needed = needed.contains(number);
            if !is_needed {
                piece.file.close();
            }
            is_needed
        });
        needed.map(|number| self.name(number)).collect()
    }

    fn tail_from(&self, from: i64, end: i64) -> Result<(i64, Vec<Row>), FileError> {
        let extent = self.read_extent();
        assert!(end <= extent.published, "rows {from}..{end} are asked of {}", extent.published);
        if from < extent.first {
            // Dropped since the reader looked where the history begins.
            let path = self.files.path(&self.name(self.piece_number(from / PAGE_ROWS)));
            return Err(FileError::Missing { path, expected: 1 });
        }
        let start = (from - extent.tail_start).max(0) as usize;
        let stop = (end - extent.tail_start).max(0) as usize;
        Ok((extent.tail_start, extent.tail.get(start..stop).unwrap_or_default().to_vec()))
    }

    /// Appends stored rows from `from` on to `rows`; gives back the number of the row that comes next.
    fn read_stored<T>(
        &self,
        from: i64,
        end: i64,
        make: &impl Fn(Row) -> T,
        rows: &mut Vec<T>,
    ) -> Result<i64, FileError> {
        let first = from / PAGE_ROWS;
        let number = self.piece_number(first);
        let piece_end = (number + 1) * self.kind.piece_pages;
        let last = (end - 1) / PAGE_ROWS;
        let stop = (last + 1).min(piece_end).min(first + PAGES_READ);
        let piece = self.piece(number);
        let position = |page: i64| (page - number * self.kind.piece_pages) as u64 * PAGE_BYTES as u64;
        let bytes = piece.file.open()?.slice(position(first), position(stop), false);
        let bytes = bytes.map_err(FileError::io(&piece.file.path))?;
        for (page, bytes) in (first..).zip(bytes.chunks(PAGE_BYTES)) {
            let damaged = |what: String| FileError::damaged(&piece.file.path, position(page), what);
            let (num, stored) = self.seal.rows(bytes, page as u64).map_err(|flaw| damaged(flaw.to_string()))?;
            if num as i64 != PAGE_ROWS {
                return Err(damaged(format!("it holds {num} rows")));
            }
            let (stored, _) = stored.as_chunks::<ROW_BYTES>();
            let start = (from - page * PAGE_ROWS).max(0) as usize;
            let stop = (end - page * PAGE_ROWS).min(PAGE_ROWS) as usize;
            rows.extend(stored[start..stop].iter().map(|bytes| make(row::decode(bytes))));
        }
        Ok(end.min(stop * PAGE_ROWS))
    }

    /// Writes pages that lie in one file.
    fn write_pages(&self, first: i64, pages: &[[Row; PAGE_ROWS as usize]]) -> Result<(), FileError> {
        let mut bytes = Vec::with_capacity(pages.len() * PAGE_BYTES);
        let mut rows = Vec::with_capacity(ROOM_BYTES);
        for (page, number) in pages.iter().zip(first..) {
            rows.clear();
            page.iter().for_each(|row| rows.extend_from_slice(&row::encode(*row)));
            self.seal.put_page(&mut bytes, number as u64, page.len(), &rows);
        }
        let number = self.piece_number(first);
        let piece = self.piece(number);
        let position = (first - number * self.kind.piece_pages) as u64 * PAGE_BYTES as u64;
        // Before the write: whoever syncs meanwhile may sync too much, never too little.
        *piece.is_dirty.lock().unwrap_or_else(PoisonError::into_inner) = true;
        piece.file.create()?.file.write_all_at(&bytes, position).map_err(FileError::io(&piece.file.path))
    }

    /// The files that hold rows of it.
    fn pieces_of(&self, extent: &Extent) -> std::ops::Range<i64> {
        let (first, end) = (extent.first / PAGE_ROWS, extent.tail_start / PAGE_ROWS);
        if first >= end { 0..0 } else { self.piece_number(first)..self.piece_number(end - 1) + 1 }
    }

    fn piece_number(&self, page: i64) -> i64 {
        page / self.kind.piece_pages
    }

    fn name(&self, piece: i64) -> String {
        let first = piece * self.kind.piece_pages * PAGE_ROWS;
        let letter = char::from(self.kind.letter).to_ascii_lowercase();
        format!("{letter}-{}.{first:020}.rows", self.kind.number)
    }

    fn piece(&self, number: i64) -> Arc<Piece> {
        let new = || Arc::new(Piece { file: self.files.file(&self.name(number)), is_dirty: Mutex::new(false) });
        self.lock_pieces().entry(number).or_insert_with(new).clone()
    }

    fn lock_pieces(&self) -> MutexGuard<'_, BTreeMap<i64, Arc<Piece>>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_extent(&self) -> std::sync::RwLockReadGuard<'_, Extent> {
        self.extent.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True for a name that a file of rows may have.
pub fn is_piece(name: &str) -> bool {
    name.ends_with(".rows")
}
