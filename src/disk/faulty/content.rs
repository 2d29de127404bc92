//! The bytes of a file in memory, in shared chunks: a copy costs nothing until one side writes.

use std::sync::Arc;

const CHUNK: usize = 4096;

/// A file's bytes. What was never written reads as zeros.
#[derive(Clone, Default)]
pub(super) struct Content {
    size: u64,
    chunks: Arc<Vec<Option<Arc<[u8; CHUNK]>>>>,
}

impl Content {
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Fills `buf` from `at`; fewer bytes only at the end of the file.
    pub(super) fn read(&self, buf: &mut [u8], at: u64) -> usize {
        let count = self.size.saturating_sub(at).min(buf.len() as u64) as usize;
        let mut done = 0;
        while done < count {
            let (index, inside) = place(at + done as u64);
            let step = (CHUNK - inside).min(count - done);
            let target = &mut buf[done..done + step];
            match self.chunks.get(index).and_then(Option::as_ref) {
                Some(chunk) => target.copy_from_slice(&chunk[inside..inside + step]),
                None => target.fill(0),
            }
            done += step;
        }
        count
    }

    pub(super) fn write(&mut self, bytes: &[u8], at: u64) {
        let mut done = 0;
        while done < bytes.len() {
            let (index, inside) = place(at + done as u64);
            let step = (CHUNK - inside).min(bytes.len() - done);
            self.chunk(index)[inside..inside + step].copy_from_slice(&bytes[done..done + step]);
            done += step;
        }
        self.extend_to(at + bytes.len() as u64);
    }

    pub(super) fn extend_to(&mut self, size: u64) {
        self.size = self.size.max(size);
    }

    pub(super) fn set_size(&mut self, size: u64) {
        if size < self.size {
            let (index, inside) = place(size);
            // Bytes past a cut are gone: a later extension reads zeros.
            if self.chunks.get(index).is_some_and(Option::is_some) {
                self.chunk(index)[inside..].fill(0);
            }
            if self.chunks.len() > index + 1 {
                Arc::make_mut(&mut self.chunks).truncate(index + 1);
            }
        }
        self.size = size;
    }

    fn chunk(&mut self, index: usize) -> &mut [u8; CHUNK] {
        let chunks = Arc::make_mut(&mut self.chunks);
        if chunks.len() <= index {
            chunks.resize(index + 1, None);
        }
        Arc::make_mut(chunks[index].get_or_insert_with(|| Arc::new([0; CHUNK])))
    }
}

fn place(at: u64) -> (usize, usize) {
    ((at / CHUNK as u64) as usize, (at % CHUNK as u64) as usize)
}
