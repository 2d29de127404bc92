//! Reads Produce requests, versions 3 to 13. Names and records are slices of the frame; every length is held against the
//! bytes that are there, so that this decoder needs no guard before it.
//!
//! ```text
//! transactional id (nullable), acks i16, timeout ms i32, topics, tags
//! topic:      [to 12: name] [13: id uuid], partitions, tags
//! partition:  index i32, records (nullable bytes), tags
//! ```
//!
//! Tags, and lengths as varints, from version 9 on.

use bytes::Bytes;
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::guard::GuardError;
use super::reader::{Fault, Reader};

const VERSIONS: std::ops::RangeInclusive<i16> = 3..=13;
const FLEXIBLE_FROM: i16 = 9;
const IDS_FROM: i16 = 13;

/// Memory that the lists of topics and partitions may take; a topic of few bytes takes many in memory.
const LISTS_BYTES_MAX: usize = 16 << 20;

/// What a producer asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProduceRequest {
    pub transactional_id: Option<StrBytes>,
    /// 0: no answer at all; 1 and -1: when durable.
    pub acks: i16,
    pub timeout_ms: i32,
    pub topics: Vec<TopicData>,
}

/// Records for one topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicData {
    /// Empty from version 13 on.
    pub name: StrBytes,
    /// Nil before version 13.
    pub topic_id: Uuid,
    pub partitions: Vec<PartitionData>,
}

/// Records for one partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionData {
    pub index: i32,
    /// As sent, unchecked; empty for null too.
    pub records: Bytes,
}

impl ProduceRequest {
    /// Reads a request's body, all of it.
    pub fn decode(body: &Bytes, version: i16) -> Result<ProduceRequest, GuardError> {
        let mut decoder = Decoder {
            body,
            reader: Reader::new(body),
            version,
            flexible: version >= FLEXIBLE_FROM,
            field: "",
            room: LISTS_BYTES_MAX,
        };
        decoder.request().map_err(|fault| GuardError { at: decoder.reader.at(), field: decoder.field, fault })
    }
}

struct Decoder<'a> {
    body: &'a Bytes,
    reader: Reader<'a>,
    version: i16,
    flexible: bool,
    /// The field begun last, for the message.
    field: &'static str,
    /// Memory left for lists.
    room: usize,
}

impl Decoder<'_> {
    fn request(&mut self) -> Result<ProduceRequest, Fault> {
        if !VERSIONS.contains(&self.version) {
            return Err(Fault::Version(self.version));
        }
        self.field = "TransactionalId";
        let transactional_id = self.string()?;
        self.field = "Acks";
        let acks = self.reader.i16()?;
        self.field = "TimeoutMs";
        let timeout_ms = self.reader.i32()?;
        self.field = "TopicData";
        let topics = self.list(self.topic_len_min(), Self::topic)?;
        self.tags()?;
        self.field = "(end)";
        match self.reader.left() {
            0 => Ok(ProduceRequest { transactional_id, acks, timeout_ms, topics }),
            left => Err(Fault::Trailing(left)),
        }
    }

    fn topic(&mut self) -> Result<TopicData, Fault> {
        let mut topic = TopicData::default();
        if self.version >= IDS_FROM {
            self.field = "TopicId";
            let id = self.reader.take(16)?;
            topic.topic_id = Uuid::from_slice(id).expect("sixteen bytes were taken");
        } else {
            self.field = "Name";
            topic.name = self.string()?.ok_or(Fault::Null)?;
        }
        self.field = "PartitionData";
        topic.partitions = self.list(self.partition_len_min(), Self::partition)?;
        self.tags()?;
        Ok(topic)
    }

    fn partition(&mut self) -> Result<PartitionData, Fault> {
        self.field = "Index";
        let index = self.reader.i32()?;
        self.field = "Records";
        let records = match self.long_length()? {
            Some(len) => self.slice(len as usize)?,
            None => Bytes::new(),
        };
        self.tags()?;
        Ok(PartitionData { index, records })
    }

    /// An array of elements that take at least `len_min` bytes each.
    fn list<T>(&mut self, len_min: usize, element: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let count = self.long_length()?.ok_or(Fault::Null)?;
        let left = self.reader.left();
        if (count as usize).saturating_mul(len_min) > left {
            return Err(Fault::Count { count, left });
        }
        let needed = (count as usize).saturating_mul(size_of::<T>());
        self.room = self.room.checked_sub(needed).ok_or(Fault::Costly { needed, max: LISTS_BYTES_MAX })?;
        let mut list = Vec::with_capacity(count as usize);
        for _ in 0..count {
            list.push(element(self)?);
        }
        Ok(list)
    }

    fn topic_len_min(&self) -> usize {
        match self.version {
            IDS_FROM.. => 18,
            FLEXIBLE_FROM.. => 3,
            _ => 6,
        }
    }

    fn partition_len_min(&self) -> usize {
        if self.flexible { 6 } else { 8 }
    }

    fn string(&mut self) -> Result<Option<StrBytes>, Fault> {
        let len = if self.flexible { self.reader.compact_length()? } else { self.reader.short_length()? };
        let Some(len) = len else { return Ok(None) };
        StrBytes::try_from(self.slice(len as usize)?).map(Some).map_err(|_| Fault::NotUtf8)
    }

    fn long_length(&mut self) -> Result<Option<u32>, Fault> {
        if self.flexible { self.reader.compact_length() } else { self.reader.long_length() }
    }

    fn slice(&mut self, len: usize) -> Result<Bytes, Fault> {
        let start = self.reader.at();
        self.reader.take(len)?;
        Ok(self.body.slice(start..start + len))
    }

    /// No tag has a meaning in any version yet.
    fn tags(&mut self) -> Result<(), Fault> {
        if self.flexible { self.reader.tags(|_, _| Ok(false)).map(drop) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use kafka_protocol::messages::{ProduceRequest as Encoded, produce_request};
    use kafka_protocol::protocol::{Encodable, Message};
    use proptest::prelude::*;

    use super::*;

    fn partition(index: i32, records: &'static str) -> PartitionData {
        PartitionData { index, records: Bytes::from_static(records.as_bytes()) }
    }

    fn request(version: i16) -> ProduceRequest {
        let topic = |name: &'static str, partitions| match version {
            IDS_FROM.. => TopicData { topic_id: Uuid::from_u128(7), partitions, ..TopicData::default() },
            _ => TopicData { name: StrBytes::from_static_str(name), partitions, ..TopicData::default() },
        };
        ProduceRequest {
            transactional_id: Some(StrBytes::from_static_str("loader")),
            acks: -1,
            timeout_ms: 30_000,
            topics: vec![topic("orders", vec![partition(0, "a batch"), partition(3, "")]), topic("empty", Vec::new())],
        }
    }

    fn encoded(ours: &ProduceRequest, version: i16) -> Bytes {
        let partition = |p: &PartitionData| {
            produce_request::PartitionProduceData::default().with_index(p.index).with_records(Some(p.records.clone()))
        };
        let topic = |t: &TopicData| {
            produce_request::TopicProduceData::default()
                .with_name(t.name.clone().into())
                .with_topic_id(t.topic_id)
                .with_partition_data(t.partitions.iter().map(partition).collect())
        };
        let request = Encoded::default()
            .with_transactional_id(ours.transactional_id.clone().map(Into::into))
            .with_acks(ours.acks)
            .with_timeout_ms(ours.timeout_ms)
            .with_topic_data(ours.topics.iter().map(topic).collect());
        let mut out = BytesMut::new();
        request.encode(&mut out, version).unwrap();
        out.freeze()
    }

    #[test]
    fn every_version_of_the_client_is_decoded() {
        assert_eq!((Encoded::VERSIONS.min, Encoded::VERSIONS.max), (*VERSIONS.start(), *VERSIONS.end()));
        for version in VERSIONS {
            for ours in [request(version), ProduceRequest::default()] {
                let decoded = ProduceRequest::decode(&encoded(&ours, version), version);
                assert_eq!(decoded, Ok(ours), "version {version}");
            }
        }
    }

    #[test]
    fn records_are_slices_of_the_frame() {
        let body = encoded(&request(9), 9);
        let decoded = ProduceRequest::decode(&body, 9).unwrap();
        assert!(body.as_ptr_range().contains(&decoded.topics[0].partitions[0].records.as_ptr()));
    }

    #[test]
    fn every_cut_is_refused_and_so_is_every_byte_more() {
        for version in VERSIONS {
            let body = encoded(&request(version), version);
            for len in 0..body.len() {
                assert!(ProduceRequest::decode(&body.slice(..len), version).is_err(), "version {version}, {len} bytes");
            }
            let longer = Bytes::from([&body[..], &[0]].concat());
            let refusal = ProduceRequest::decode(&longer, version).unwrap_err();
            assert_eq!(refusal.fault, Fault::Trailing(1), "version {version}");
        }
    }

    #[test]
    fn counts_are_not_believed() {
        let head = [0xff, 0xff, 0, 1, 0, 0, 0, 9];
        let fault = |rest: &[u8]| ProduceRequest::decode(&Bytes::from([&head, rest].concat()), 3).unwrap_err().fault;
        assert_eq!(fault(&i32::MAX.to_be_bytes()), Fault::Count { count: i32::MAX as u32, left: 0 });
        assert_eq!(fault(&(-1i32).to_be_bytes()), Fault::Null);
        assert_eq!(fault(&(-2i32).to_be_bytes()), Fault::NegativeLength(-2));
        // Topics of six zero bytes: an empty name and no partition.
        let count = 1_000_000_i32;
        let topics = [&count.to_be_bytes()[..], &vec![0; 6 * count as usize]].concat();
        assert!(matches!(fault(&topics), Fault::Costly { .. }));
        assert_eq!(ProduceRequest::decode(&Bytes::new(), 2).unwrap_err().fault, Fault::Version(2));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn garbage_never_panics(version in 0..15i16, bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = ProduceRequest::decode(&Bytes::from(bytes), version);
        }

        #[test]
        fn a_changed_byte_never_panics(version in VERSIONS, at in any::<prop::sample::Index>(), byte: u8) {
            let mut body = encoded(&request(version), version).to_vec();
            let at = at.index(body.len());
            body[at] = byte;
            let _ = ProduceRequest::decode(&Bytes::from(body), version);
        }
    }
}
