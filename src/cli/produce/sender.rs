//! Records on their way: collected into a batch for each partition, sent together, and sent again until they are taken.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::parse::NewRecord;
use super::tally::Tally;
use crate::batch::{self, BatchBuilder, Compression, Header};
use crate::cli::client::{Acks, Client, ClientError, ProducerSession};
use crate::cli::failure::Failure;
use crate::disk::{Clock, OsClock};

/// All batches together are no larger.
const REQUEST_BYTES_MAX: usize = 16 << 20;
/// What a record takes beside its bytes, at most.
const RECORD_OVERHEAD: usize = 64;
const PAUSE: Duration = Duration::from_millis(20);

/// How to send.
#[derive(Clone, Copy, Debug)]
pub struct SendOptions {
    pub acks: Acks,
    pub compression: Compression,
    pub is_idempotent: bool,
    /// A batch is no larger, before compression, unless it is one record.
    pub batch_bytes: usize,
    /// How long to try.
    pub patience: Duration,
}

/// Sends records to one topic.
pub struct Sender<'a> {
    client: &'a mut Client,
    topic: String,
    options: SendOptions,
    clock: OsClock,
    session: Option<ProducerSession>,
    sequences: BTreeMap<i32, i32>,
    open: BTreeMap<i32, Open>,
    tally: Tally,
}

/// A batch that grows.
struct Open {
    batch: BatchBuilder,
    records: i32,
    bytes: u64,
}

/// A batch that is on its way.
struct Sent {
    records: i32,
    bytes: u64,
}

impl Sender<'_> {
    pub fn new(client: &mut Client, topic: String, options: SendOptions) -> Result<Sender<'_>, Failure> {
        let session = if options.is_idempotent { Some(client.open_producer()?) } else { None };
        let (sequences, open, tally) = (BTreeMap::new(), BTreeMap::new(), Tally::default());
        Ok(Sender { client, topic, options, clock: OsClock::new(), session, sequences, open, tally })
    }

    pub fn client(&mut self) -> &mut Client {
        self.client
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Takes a record, and sends what was taken before it when there is no room for more. True when it sent.
    pub fn push(&mut self, partition: i32, record: &NewRecord) -> Result<bool, Failure> {
        let size = size_of(record);
        let is_full = self.open.get(&partition).is_some_and(|open| open.batch.len() + size > self.options.batch_bytes);
        let total: usize = self.open.values().map(|open| open.batch.len()).sum();
        let must_send = is_full || total + size > REQUEST_BYTES_MAX && total > 0;
        if must_send {
            self.flush()?;
        }
        let open = self.open.entry(partition).or_insert_with(|| Open {
            batch: BatchBuilder::new(0).compression(self.options.compression),
            records: 0,
            bytes: 0,
        });
        let headers = record.headers.iter();
        let headers: Vec<Header<'_>> = headers.map(|(key, value)| Header { key, value: value.as_deref() }).collect();
        open.batch.push(batch::NewRecord {
            timestamp: self.clock.wall_ms(),
            key: record.key.as_deref(),
            value: record.value.as_deref(),
            headers: &headers,
        });
        open.records += 1;
        open.bytes += payload(record);
        Ok(must_send)
    }

    /// Sends what was taken and waits until the broker has taken it.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let mut waiting = BTreeMap::new();
        let mut sent = BTreeMap::new();
        for (partition, open) in std::mem::take(&mut self.open) {
            waiting.insert(partition, self.sequenced(partition, open.batch, open.records));
            sent.insert(partition, Sent { records: open.records, bytes: open.bytes });
        }
        let give_up_at = self.clock.elapsed() + self.options.patience;
        while !waiting.is_empty() {
            match self.client.produce_once(&self.topic, &waiting, self.options.acks) {
                Ok(answers) => self.take_answers(answers, &mut waiting, &sent, give_up_at)?,
                Err(error) if self.may_repeat(&error) && self.clock.elapsed() < give_up_at => {
                    self.client.reconnect()?
                }
                Err(error) => return Err(self.unsure(error, &sent)),
            }
        }
        Ok(())
    }

    /// As the batch after those before it.
    fn sequenced(&mut self, partition: i32, batch: BatchBuilder, records: i32) -> Bytes {
        let Some(session) = self.session else { return batch.build() };
        let next = self.sequences.entry(partition).or_insert(0);
        let batch = batch.producer(session.at(*next)).build();
        // Sequences go round at 2^31.
        *next = next.wrapping_add(records) & i32::MAX;
        batch
    }

    /// Keeps in `waiting` what is to be sent again.
    fn take_answers(
        &mut self,
        answers: BTreeMap<i32, Result<i64, ClientError>>,
        waiting: &mut BTreeMap<i32, Bytes>,
        sent: &BTreeMap<i32, Sent>,
        give_up_at: Duration,
    ) -> Result<(), Failure> {
        if self.options.acks == Acks::None {
            waiting.clear();
            sent.iter().for_each(|(&partition, sent)| self.tally.add(partition, sent.records, sent.bytes, None));
            return Ok(());
        }
        let mut refusal = None;
        for (partition, answer) in answers {
            match (answer, sent.get(&partition)) {
                (Ok(offset), Some(sent)) => {
                    waiting.remove(&partition);
                    self.tally.add(partition, sent.records, sent.bytes, (offset >= 0).then_some(offset));
                }
                (Err(error), _) if error.is_retriable() && self.clock.elapsed() < give_up_at => {}
                (Err(error), _) => refusal = Some(error),
                (Ok(_), None) => unreachable!("an answer for partition {partition}, which was not asked"),
            }
        }
        if let Some(refusal) = refusal {
            return Err(refusal.into());
        }
        if !waiting.is_empty() {
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The broker knows a batch that it has already: sent twice, it is there once.
    fn may_repeat(&self, error: &ClientError) -> bool {
        error.is_disconnect() && self.session.is_some()
    }

    fn unsure(&self, error: ClientError, sent: &BTreeMap<i32, Sent>) -> Failure {
        if !error.is_disconnect() {
            return error.into();
        }
        let records: i32 = sent.values().map(|sent| sent.records).sum();
        Failure::Refused(format!("{error}; the last {records} records may have been taken or not"))
    }
}

fn payload(record: &NewRecord) -> u64 {
    let len = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
    let headers: usize = record.headers.iter().map(|(key, value)| key.len() + len(value)).sum();
    (len(&record.key) + len(&record.value) + headers) as u64
}

fn size_of(record: &NewRecord) -> usize {
    payload(record) as usize + RECORD_OVERHEAD + record.headers.len() * 10
}
