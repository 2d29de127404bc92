//! How a stream becomes a commit: its records get their place in feed space, its manifest is written.

use serde_json::value::RawValue;

use super::super::entry::{SealProducer, StreamSealed};
use super::super::feed::{Feed, Partition};
use super::super::history::{
    CommitState, Manifest, ManifestPart, ManifestRun, ManifestTransaction, Sibling, StreamFact, StreamKind, label_hash,
};
use super::super::ids::{CommitNumber, PartitionId, StreamId, Timestamp};
use super::super::producers::{Room, Sequenced};
use super::super::stream::{Extent, OpenStream, StreamPart};
use super::super::writes::{CommitRow, RunRow, TailWrite, Told};

/// What the manifest of a transaction's commit says besides.
#[derive(Default)]
pub(super) struct InManifest {
    pub transaction: Option<ManifestTransaction>,
    pub siblings: Vec<Sibling>,
}

impl Feed {
    /// Returns by how many the remembered producers grew.
    pub(super) fn seal(
        &mut self,
        at: Timestamp,
        sealed: &StreamSealed,
        in_manifest: InManifest,
        room: &Room,
        writes: &mut Vec<TailWrite>,
    ) -> u64 {
        let last = self.last_sealed_at;
        assert!(at >= last, "stream {} of feed {} is sealed at {at}, before {last}", sealed.stream, self.id);
        if !self.open.contains_key(&sealed.stream) {
            self.open_stream_now(sealed.stream, sealed.label.clone(), None, at, writes);
        }
        let stream = self.close(sealed.stream).expect("it was there or is there now");
        if self.implicit == Some(sealed.stream) {
            self.implicit = None;
        }
        let commit = self.next_commit;
        let more_producers = match &sealed.sealed_by {
            Some(by) => self.seal_producers.append(&sequenced(by), at, commit.0, room),
            None => 0,
        };
        self.publish(at, sealed, stream, in_manifest, writes);
        more_producers
    }

    fn publish(
        &mut self,
        at: Timestamp,
        sealed: &StreamSealed,
        stream: OpenStream,
        in_manifest: InManifest,
        writes: &mut Vec<TailWrite>,
    ) {
        let commit = self.next_commit;
        self.trim_with_seal(commit, &stream, writes);
        let partitions = self.place_parts(commit, &stream, writes);
        let label = stream.label().map(str::to_owned).or_else(|| sealed.label.clone());
        let metadata = sealed.metadata.clone().or_else(|| stream.named()?.metadata.clone());
        let kind = if stream.transaction.is_some() { StreamKind::Transaction } else { StreamKind::Implicit };
        let (records, bytes) = (stream.records, stream.bytes);
        let fact = StreamFact::Sealed { commit: commit.0, reason: sealed.reason, label: label.clone(), records, bytes };
        self.tell(stream.id, at, Told::Sealed, fact, writes);
        let manifest = Manifest {
            feed: self.name.clone(),
            commit: commit.0,
            stream: stream.id.0,
            label,
            kind,
            reason: sealed.reason,
            transaction: in_manifest.transaction,
            opened: stream.opened.0,
            first_append: stream.appended.map(|span| span.first.0),
            last_append: stream.appended.map(|span| span.last.0),
            sealed: at.0,
            partitions,
            records,
            bytes,
            tombstones: stream.tombstones,
            duplicates: None,
            new_keys: None,
            siblings: in_manifest.siblings,
            metadata: metadata.map(checked_json),
            state: CommitState::Live,
        };
        writes.push(self.write_manifest(commit, at, &manifest));
    }

    /// Gives the stream's records their places in feed space, partition by partition.
    fn place_parts(
        &mut self,
        commit: CommitNumber,
        stream: &OpenStream,
        writes: &mut Vec<TailWrite>,
    ) -> Vec<ManifestPart> {
        let feed = self.id;
        let place = |(partition, part): (&PartitionId, &StreamPart)| {
            let in_manifest = manifest_part(*partition, part, self.partition_mut(*partition));
            let (row, runs) = self.partition_mut(*partition).place(commit, &part.extents);
            writes.push(TailWrite::Runs { feed, partition: *partition, row, runs });
            in_manifest
        };
        stream.parts.iter().map(place).collect()
    }

    fn write_manifest(&mut self, commit: CommitNumber, at: Timestamp, manifest: &Manifest) -> TailWrite {
        let batch = manifest.to_batch();
        let position = self.commits_bytes;
        self.commits_bytes += batch.len() as u64;
        self.next_commit = CommitNumber(commit.0 + 1);
        self.last_sealed_at = at;
        let label_hash = manifest.label.as_deref().map_or(0, label_hash);
        let stream = StreamId(manifest.stream);
        TailWrite::Commit {
            feed: self.id,
            position,
            row: CommitRow { commit, position, stream, sealed: at, label_hash },
            batch,
        }
    }
}

impl Partition {
    /// Puts the extents at the end of feed space. Returns the rows and the number of the first.
    fn place(&mut self, commit: CommitNumber, extents: &[Extent]) -> (u64, Vec<RunRow>) {
        let row = self.num_runs;
        let mut feed_base = self.feed_end;
        let run = |extent: &Extent| {
            let run = RunRow { commit, feed_base, log_base: extent.base, count: extent.count };
            feed_base = feed_base.plus(extent.count);
            run
        };
        let runs: Vec<RunRow> = extents.iter().map(run).collect();
        self.feed_end = feed_base;
        self.num_runs += runs.len() as u64;
        (row, runs)
    }
}

fn manifest_part(id: PartitionId, part: &StreamPart, partition: &Partition) -> ManifestPart {
    ManifestPart {
        partition: id.0,
        feed_base: partition.feed_end.0,
        count: part.records,
        bytes: part.bytes,
        runs: part.extents.iter().map(|e| ManifestRun { log_base: e.base.0, count: e.count }).collect(),
        min_timestamp: part.timestamp_min.0,
        max_timestamp: part.timestamp_max.0,
    }
}

fn checked_json(text: String) -> Box<RawValue> {
    RawValue::from_string(text).expect("metadata is checked when it is decided and when it is decoded")
}

pub(super) fn sequenced(by: &SealProducer) -> Sequenced {
    Sequenced { producer: by.producer, epoch: by.epoch, first: by.sequence, count: by.records.into() }
}
