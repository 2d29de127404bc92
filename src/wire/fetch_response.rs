//! Writes Fetch responses, versions 4 to 18, without copying a record: the answer is a list of slices for a vectored
//! write, in which the records are the slices that were read.
//!
//! ```text
//! throttle ms i32, [7+: error i16, session id i32], topics, tags
//! topic:      [to 12: name] [13+: id uuid], partitions, tags
//! partition:  index i32, error i16, high watermark i64, last stable offset i64, [5+: log start i64], aborted
//!             transactions, [11+: preferred replica i32], records, tags
//! aborted:    producer id i64, first offset i64, tags
//! ```
//!
//! Tags, and lengths as varints, from version 12 on.

use bytes::Bytes;
use uuid::Uuid;

use super::response::ResponseHead;
use super::writer::Writer;

/// Sessions are declined, so every answer is a full one.
const NO_SESSION: i32 = 0;
const NO_PREFERRED_REPLICA: i32 = -1;

/// The answer to a Fetch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchResponse {
    pub throttle_time_ms: i32,
    /// Of the whole request; version 7 and later can say it.
    pub error_code: i16,
    /// In the order of the request.
    pub topics: Vec<TopicResponse>,
}

/// The answers for one topic, which the client knows by its name up to version 12, then by its id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicResponse {
    pub name: String,
    pub topic_id: Uuid,
    pub partitions: Vec<PartitionResponse>,
}

/// The answer for one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionResponse {
    pub index: i32,
    pub error_code: i16,
    pub high_watermark: i64,
    pub last_stable_offset: i64,
    pub log_start_offset: i64,
    /// For readers of committed records only, else none.
    pub aborted: Option<Vec<AbortedTransaction>>,
    /// Record batches, one after another. Empty is never sent as null: librdkafka takes null for damage.
    pub records: Vec<Bytes>,
}

/// Records of the producer from this offset on, up to its abort marker, are to be passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    pub producer_id: i64,
    pub first_offset: i64,
}

impl Default for PartitionResponse {
    /// No records, offsets unknown.
    fn default() -> PartitionResponse {
        PartitionResponse {
            index: 0,
            error_code: 0,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            aborted: None,
            records: Vec::new(),
        }
    }
}

impl PartitionResponse {
    /// Bytes of all the records.
    pub fn records_len(&self) -> usize {
        self.records.iter().map(Bytes::len).sum()
    }
}

impl FetchResponse {
    /// The whole frame, its length first, to be sent slice by slice.
    pub fn encode(self, version: i16, correlation_id: i32) -> Vec<Bytes> {
        let head = ResponseHead { correlation_id, version, tagged: version >= 12 };
        let mut encoder = Encoder { version, out: Writer::begin(head, self.head_len()), pieces: Vec::new() };
        encoder.response(self);
        encoder.finish()
    }

    /// About how many bytes all but the records take.
    fn head_len(&self) -> usize {
        let topic = |topic: &TopicResponse| 32 + topic.name.len() + 64 * topic.partitions.len();
        64 + self.topics.iter().map(topic).sum::<usize>()
    }
}

struct Encoder {
    version: i16,
    /// Everything but the records.
    out: Writer,
    /// Records, and how many bytes of `out` go before them.
    pieces: Vec<(usize, Bytes)>,
}

impl Encoder {
    fn response(&mut self, response: FetchResponse) {
        self.out.i32(response.throttle_time_ms);
        if self.version >= 7 {
            self.out.i16(response.error_code);
            self.out.i32(NO_SESSION);
        }
        self.out.length(Some(response.topics.len()));
        for topic in response.topics {
            self.topic(topic);
        }
        self.out.no_tags();
    }

    fn topic(&mut self, topic: TopicResponse) {
        if self.version <= 12 {
            self.out.string(&topic.name);
        } else {
            self.out.uuid(&topic.topic_id);
        }
        self.out.length(Some(topic.partitions.len()));
        for partition in topic.partitions {
            self.partition(partition);
        }
        self.out.no_tags();
    }

    fn partition(&mut self, partition: PartitionResponse) {
        self.out.i32(partition.index);
        self.out.i16(partition.error_code);
        self.out.i64(partition.high_watermark);
        self.out.i64(partition.last_stable_offset);
        if self.version >= 5 {
            self.out.i64(partition.log_start_offset);
        }
        self.aborted(partition.aborted.as_deref());
        if self.version >= 11 {
            self.out.i32(NO_PREFERRED_REPLICA);
        }
        self.out.length(Some(partition.records_len()));
        self.records(partition.records);
        self.out.no_tags();
    }

    fn aborted(&mut self, aborted: Option<&[AbortedTransaction]>) {
        self.out.length(aborted.map(<[_]>::len));
        for transaction in aborted.unwrap_or_default() {
            self.out.i64(transaction.producer_id);
            self.out.i64(transaction.first_offset);
            self.out.no_tags();
        }
    }

    fn records(&mut self, records: Vec<Bytes>) {
        let at = self.out.len();
        self.pieces.extend(records.into_iter().filter(|r| !r.is_empty()).map(|records| (at, records)));
    }

    /// Puts the records between the bytes that surround them.
    fn finish(self) -> Vec<Bytes> {
        let elsewhere = self.pieces.iter().map(|(_, records)| records.len()).sum();
        let mut heads = self.out.finish(elsewhere);
        let mut parts = Vec::with_capacity(2 * self.pieces.len() + 1);
        let mut sent = 0;
        for (at, records) in self.pieces {
            if at > sent {
                parts.push(heads.split_to(at - sent));
                sent = at;
            }
            parts.push(records);
        }
        if !heads.is_empty() {
            parts.push(heads);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::FetchResponse as Decoded;
    use kafka_protocol::messages::{BrokerId, ResponseHeader, fetch_response};
    use kafka_protocol::protocol::{Decodable, Message};

    use super::*;

    fn partition(index: i32, records: &[&'static str], aborted: Option<&[(i64, i64)]>) -> PartitionResponse {
        let transaction = |&(producer_id, first_offset): &(i64, i64)| AbortedTransaction { producer_id, first_offset };
        PartitionResponse {
            index,
            error_code: index as i16,
            high_watermark: 30,
            last_stable_offset: 20,
            log_start_offset: 10,
            aborted: aborted.map(|list| list.iter().map(transaction).collect()),
            records: records.iter().map(|r| Bytes::from_static(r.as_bytes())).collect(),
        }
    }

    fn response() -> FetchResponse {
        let partitions = vec![
            partition(0, &["first batch", "", "second batch"], None),
            partition(1, &[], Some(&[])),
            partition(2, &["third"], Some(&[(7, 11), (8, 12)])),
        ];
        let topic = |name: &str, partitions| TopicResponse {
            name: name.to_owned(),
            topic_id: Uuid::from_u128(name.len() as u128),
            partitions,
        };
        let topics = vec![topic("orders", partitions), topic("orders..feed", vec![PartitionResponse::default()])];
        FetchResponse { throttle_time_ms: 5, error_code: 70, topics }
    }

    /// What the crate's client makes of the frame.
    fn decode(frame: &[Bytes], version: i16) -> Decoded {
        let mut bytes = Bytes::from(frame.concat());
        let length = bytes.split_to(4);
        assert_eq!(i32::from_be_bytes(length[..].try_into().unwrap()) as usize, bytes.len());
        let header = ResponseHeader::decode(&mut bytes, i16::from(version >= 12)).unwrap();
        assert_eq!(header.correlation_id, 42);
        let decoded = Decoded::decode(&mut bytes, version).unwrap();
        assert!(bytes.is_empty(), "{} bytes too many", bytes.len());
        decoded
    }

    fn expected_partition(ours: &PartitionResponse, version: i16) -> fetch_response::PartitionData {
        let transaction = |t: &AbortedTransaction| {
            fetch_response::AbortedTransaction::default()
                .with_producer_id(t.producer_id.into())
                .with_first_offset(t.first_offset)
        };
        fetch_response::PartitionData::default()
            .with_partition_index(ours.index)
            .with_error_code(ours.error_code)
            .with_high_watermark(ours.high_watermark)
            .with_last_stable_offset(ours.last_stable_offset)
            .with_log_start_offset(if version >= 5 { ours.log_start_offset } else { -1 })
            .with_aborted_transactions(ours.aborted.as_ref().map(|list| list.iter().map(transaction).collect()))
            .with_preferred_read_replica(BrokerId(-1))
            .with_records(Some(ours.records.concat().into()))
    }

    fn expected(ours: &FetchResponse, version: i16) -> Decoded {
        let topic = |topic: &TopicResponse| {
            let data = topic.partitions.iter().map(|p| expected_partition(p, version)).collect();
            let expected = fetch_response::FetchableTopicResponse::default().with_partitions(data);
            match version {
                ..=12 => expected.with_topic(kafka_protocol::protocol::StrBytes::from(topic.name.clone()).into()),
                _ => expected.with_topic_id(topic.topic_id),
            }
        };
        Decoded::default()
            .with_throttle_time_ms(ours.throttle_time_ms)
            .with_error_code(if version >= 7 { ours.error_code } else { 0 })
            .with_responses(ours.topics.iter().map(topic).collect())
    }

    #[test]
    fn every_version_is_what_the_client_decodes() {
        assert_eq!((Decoded::VERSIONS.min, Decoded::VERSIONS.max), (4, 18));
        for version in 4..=18 {
            for ours in [response(), FetchResponse::default()] {
                let frame = ours.clone().encode(version, 42);
                assert_eq!(decode(&frame, version), expected(&ours, version), "version {version}");
            }
        }
    }

    #[test]
    fn records_are_sent_from_where_they_lie() {
        let ours = response();
        let frame = ours.clone().encode(12, 42);
        let stored = ours.topics.iter().flat_map(|t| &t.partitions).flat_map(|p| &p.records);
        for records in stored.filter(|r| !r.is_empty()) {
            assert!(frame.iter().any(|part| part.as_ptr() == records.as_ptr() && part.len() == records.len()));
        }
        assert!(frame.iter().all(|part| !part.is_empty()));
    }
}
