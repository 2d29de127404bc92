//! StreamStack: a Kafka-protocol broker whose topics are feeds with a commit history.
//!
//! The house, top to bottom; an arrow (`use crate::x`) may only point down:
//!
//! ```text
//! cli        commands of the operator
//! server     sockets: Kafka over TCP
//! api        one file per Kafka API key; api/mod.rs is the table (key, versions, handler)
//! wire       frames, the length guard, error codes, the Fetch response writer
//! broker     the running machine: the core and its lock, flusher, handles, consumer groups, waiters, upkeep, the indexer
//! view       readings of a feed and their names: feed space, commits, ranges, streams, the history topics; links and modes
//! store      journal, segments, tail files, manifest, recovery
//! model      pure: ids, Entry, State::apply, feeds, streams, seals, transaction/, producers, subscriptions, group/
//! batch      Kafka record batch v2: header, records, bounded codecs
//! disk       trait Disk; os, mapping (the only unsafe code), clock; faulty (for tests)
//! metrics, config   leaves
//! ```
//!
//! One idea carries all of it: one journal, one order, one fsync. State changes only by applying a
//! journal [`model::Entry`]; live and at recovery it is the same `apply`.
//!
//! # The way of a record
//!
//! A connection reads a frame, `api` checks the batch, and [`broker::Broker::append`] decides under the core's lock where
//! it goes: the offset is known then, so the answer is encoded at once and gated on an lsn. What was decided waits in the
//! open group. Whoever holds the flush token writes the group: one frame to the journal, one write a partition to the
//! segments, one fdatasync (`streamstack.durability=fsync`; with `os` there is no sync, and a large batch goes to its
//! segment only, which the journal's entry then names). Then it is published (ends that readers see), the gates
//! below its lsn open, and sleeping fetches wake. No reader takes the core's lock.
//!
//! A consumer group is a machine of its own in [`model::group`], behind a lock of its own in `broker::groups`. Positions and
//! what lasts of its membership are entries; an answer of the group is gated on them like any other.
//!
//! A transaction is a stream on every feed that it touches ([`model::Transactions`]). Its end is one entry, from which `apply` makes
//! the markers of all partitions, the commits of all feeds and the moved positions: nothing of it can be there without the
//! rest, and there is no second phase to wait for. Readers of committed records are held to the published last stable offset.
//!
//! A view in a mode (dedup, latest, live, changed) needs the feed's index: for each sealed record, where its key and its identity
//! stood before ([`view::link`]). One thread builds it when such a view is first asked for and keeps it up at each seal
//! (`broker::indexer`); until it knows enough the name is retriable. What a mode emits of a range is a bitmap that follows from the
//! links in one pass, shared by all readers and extended as the index goes on; it is made again when it was let go. Readers hold no
//! state, and the server crosses gaps by a scan of the bits.
//!
//! # What holds, and must go on holding
//!
//! - State changes only in `State::apply`, which depends on state and entry alone.
//! - Nothing is acknowledged, refused or shown that rests on an entry that is not durable.
//! - Readers see published bytes only; what is published never shrinks. A mapped file is never cut.
//! - After a failed write or sync the journal takes nothing more; the process stops and says file and error.
//! - At recovery only a torn tail of the journal is dropped (a group whose batches are not in their segments is torn too); damage with valid frames behind it stops the start.
//! - Feed offsets, commit numbers and the bytes of a bounded view, once given, never change.
//! - `model`, `batch` and `wire` do no I/O; no lock is held over an await.
//!
//! # Choices that measurements or clients taught
//!
//! - Each journal frame says up to which lsn the journal was synced when it was written. So in `os` mode, where several
//!   frames may be lost at once, a lost tail is told from damage; and an empty frame when the journal comes to rest does the
//!   same for the last group (see `store::journal`).
//! - In `os` mode a batch above 1 KiB is written once, to its segment, and the journal holds its header, place and checksum.
//!   Writing it twice cost a second copy and a second page of memory, most of the CPU at large requests. The segment is
//!   written first, so a killed process loses nothing; after a power loss the journal ends at the first batch that is not
//!   there, by the same rule as for a torn frame (see `store::journal`). `synced` therefore moves in `os` mode only when the
//!   segments were synced too.
//! - A frame's buffer is made for all of it, and in an allocator that keeps memory: growing it copied each large request
//!   twice, and glibc gave the pages back to the system each time.
//! - Seals and deadlines go by a steady clock that starts at the wall's time: seal times never go back, and a bounded
//!   time range is closed by a journaled floor before it is first answered (see `view`). A wall clock that is set is
//!   followed at half the speed of time: a machine whose clock was wrong at the start comes right without a restart, and no
//!   jump makes deadlines come at once.
//! - The end of a transaction is answered when its entry is durable, so the next one may begin at once: CONCURRENT_TRANSACTIONS is
//!   never answered, which librdkafka would wait 100 ms for. A producer whose transaction timed out is fenced in both
//!   protocols, where Kafka tells those of the second that there is nothing to commit.
//! - With transactions the runs of feed space lie in the log in any order. DeleteRecords stops at the last stable offset, and
//!   feed space then begins behind the last record that is gone.
//! - Groups go by time in which the process ran and was not held up by its disk: after a pause the heartbeats of members wait
//!   in their sockets, and on a slow disk members wait for answers, and both would find their sessions over.
//! - A reader tries an answer without waiting for the disk, and makes it again on a thread that may wait if it would have had
//!   to (`disk::waiting`): a slow disk held up the async workers, and every read on a thread of its own costs a hop.
//! - Requests that arrive together on a connection go to the disk in one write: the connection decides on all of them and
//!   then starts the flush.
//! - A batch of which a mode emits a part reaches to the next emitted record, but within an answer no further than to where the
//!   next batch begins: batches that lie over each other are none that Kafka writes.
//! - DeleteRecords in one of several partitions is no beginning of the feed's order: what is left there was superseded, or
//!   came before, through records that are gone. The index is then begun anew, of what is left, so that a name shows the same
//!   records after a restart. The oracle of `tests/modes` found it.
//! - Fetch and ListOffsets answer NOT_LEADER_OR_FOLLOWER where Metadata says LEADER_NOT_AVAILABLE: the Java consumer stops
//!   at the latter in a Fetch.

// Only the library: tests may unwrap (see .clippy.toml), and `cli` speaks to the operator.
#![deny(clippy::unwrap_used, clippy::print_stdout)]

pub mod api;
pub mod batch;
pub mod broker;
pub mod cli;
pub mod config;
pub mod disk;
pub mod metrics;
pub mod model;
pub mod server;
pub mod store;
pub mod view;
pub mod wire;
