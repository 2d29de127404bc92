//! The batches that the journal left to the segments, read back while it is replayed.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use crate::disk::{Disk, DiskFile, OpenMode};
use crate::model::codec::{Apart, NoBody};
use crate::model::{FeedId, Lsn, Offset, PartitionId};

use super::error::FileError;
use super::log::log_name;

/// Reads batches from the segments under `folder`. The segment read last stays open: batches come in order.
pub struct BodyReader {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    last: Option<(Key, Arc<dyn DiskFile>)>,
    gaps: BTreeMap<(FeedId, PartitionId), Gap>,
    failure: Option<FileError>,
    num_read: u64,
}

type Key = (FeedId, PartitionId, Offset);

/// Where a partition's log first misses a batch. A later entry that deletes the feed explains it.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Of the first entry of its group.
    pub lsn: Lsn,
    pub what: String,
}

/// Why there is no batch.
enum Fault {
    Missing(String),
    Failed(FileError),
}

impl BodyReader {
    /// Of the feeds whose folders lie in `folder`.
    pub fn new(disk: Arc<dyn Disk>, folder: PathBuf) -> BodyReader {
        BodyReader { disk, folder, last: None, gaps: BTreeMap::new(), failure: None, num_read: 0 }
    }

    /// The batch of an entry in the group that starts at `lsn`. One that is not there is noted as a gap, and a hollow
    /// one stands in for it. A disk that cannot read is no gap.
    pub fn batch(&mut self, apart: &Apart, lsn: Lsn) -> Result<Bytes, NoBody> {
        match self.read(apart) {
            Ok(batch) => {
                self.num_read += 1;
                Ok(batch)
            }
            Err(Fault::Missing(what)) => {
                self.gaps.entry((apart.feed, apart.partition)).or_insert(Gap { lsn, what });
                Ok(apart.hollow())
            }
            Err(Fault::Failed(error)) => {
                let told = NoBody(error.to_string());
                self.failure = Some(error);
                Err(told)
            }
        }
    }

    /// What the disk said when it could not read.
    pub fn take_failure(&mut self) -> Option<FileError> {
        self.failure.take()
    }

    /// True while the partition's log misses a batch: nothing can be written behind it.
    pub fn has_gap(&self, feed: FeedId, partition: PartitionId) -> bool {
        self.gaps.contains_key(&(feed, partition))
    }

    /// The feed was deleted: that is why its files were not there.
    pub fn explain(&mut self, feed: FeedId) {
        self.gaps.retain(|(of, _), _| *of != feed);
    }

    /// The first gap that nothing explained.
    pub fn first_gap(&self) -> Option<&Gap> {
        self.gaps.values().min_by_key(|gap| gap.lsn)
    }

    /// Batches that were found.
    pub fn num_read(&self) -> u64 {
        self.num_read
    }

    fn read(&mut self, apart: &Apart) -> Result<Bytes, Fault> {
        let path = self.path(apart);
        let position = apart.position;
        let missing = |what: String| Fault::Missing(format!("{}, byte {position}: {what}", path.display()));
        let failed = |source| Fault::Failed(FileError::Io { path: path.clone(), source });
        let file = match self.open(apart) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(missing("there is no such file".into()));
            }
            outcome => outcome.map_err(failed)?,
        };
        // Asked first, so that a length that nothing stands behind reserves no memory.
        let size = file.size().map_err(failed)?;
        if size < position + apart.num_bytes() as u64 {
            return Err(missing(format!("the file has only {size} bytes")));
        }
        let mut bytes = vec![0; apart.num_bytes()];
        let num_read = file.read_at(&mut bytes, position).map_err(failed)?;
        match apart.check(&bytes[..num_read]) {
            Ok(()) => Ok(bytes.into()),
            Err(NoBody(what)) => Err(missing(what)),
        }
    }

    fn open(&mut self, apart: &Apart) -> io::Result<Arc<dyn DiskFile>> {
        let key = (apart.feed, apart.partition, apart.segment);
        if let Some((_, file)) = self.last.as_ref().filter(|(last, _)| *last == key) {
            return Ok(file.clone());
        }
        let file = self.disk.open(&self.path(apart), OpenMode::Read)?;
        self.last = Some((key, file.clone()));
        Ok(file)
    }

    fn path(&self, apart: &Apart) -> PathBuf {
        let folder = self.folder.join(apart.feed.to_string()).join(apart.partition.to_string());
        folder.join(log_name(apart.segment))
    }
}
