//! Writes Produce responses, versions 3 to 13.
//!
//! ```text
//! topics, throttle ms i32, tags
//! topic:         [to 12: name] [13: id uuid], partitions, tags
//! partition:     index i32, error i16, base offset i64, log append time i64, [5+: log start i64],
//!                [8+: record errors, error message (nullable)], tags
//! record error:  index in the batch i32, message (nullable), tags
//! ```
//!
//! Tags, and lengths as varints, from version 9 on.

use bytes::Bytes;
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::response::ResponseHead;
use super::writer::Writer;

const FLEXIBLE_FROM: i16 = 9;
const IDS_FROM: i16 = 13;
/// What a message is cut to. A string of the old encoding has room for 32,767 bytes.
const MESSAGE_BYTES_MAX: usize = 1024;

/// The answer to a Produce.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProduceResponse {
    /// In the order of the request.
    pub topics: Vec<TopicResponse>,
    pub throttle_time_ms: i32,
}

/// The answers for one topic, by its name up to version 12, then by its id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicResponse {
    pub name: StrBytes,
    pub topic_id: Uuid,
    pub partitions: Vec<PartitionResponse>,
}

/// The answer for one partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionResponse {
    pub index: i32,
    pub error_code: i16,
    /// Offset of the batch's first record.
    pub base_offset: i64,
    /// -1 unless the topic has LogAppendTime.
    pub log_append_time_ms: i64,
    pub log_start_offset: i64,
    pub record_errors: Vec<RecordError>,
    pub error_message: Option<String>,
}

/// What is wrong with one record of a batch that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Its place in the batch, from 0.
    pub index: i32,
    pub message: String,
}

impl Default for PartitionResponse {
    /// Nothing appended, offsets unknown.
    fn default() -> PartitionResponse {
        PartitionResponse {
            index: 0,
            error_code: 0,
            base_offset: -1,
            log_append_time_ms: -1,
            log_start_offset: -1,
            record_errors: Vec::new(),
            error_message: None,
        }
    }
}

impl ProduceResponse {
    /// The whole frame, its length first.
    pub fn encode(&self, version: i16, correlation_id: i32) -> Bytes {
        let head = ResponseHead { correlation_id, version, tagged: version >= FLEXIBLE_FROM };
        let mut out = Writer::begin(head, self.len_hint());
        out.length(Some(self.topics.len()));
        for topic in &self.topics {
            topic.encode(version, &mut out);
        }
        out.i32(self.throttle_time_ms);
        out.no_tags();
        out.finish(0)
    }

    /// About how many bytes it takes when all went well.
    fn len_hint(&self) -> usize {
        let topic = |topic: &TopicResponse| 32 + topic.name.len() + 48 * topic.partitions.len();
        32 + self.topics.iter().map(topic).sum::<usize>()
    }
}

impl TopicResponse {
    fn encode(&self, version: i16, out: &mut Writer) {
        if version >= IDS_FROM {
            out.uuid(&self.topic_id);
        } else {
            out.string(&self.name);
        }
        out.length(Some(self.partitions.len()));
        for partition in &self.partitions {
            partition.encode(version, out);
        }
        out.no_tags();
    }
}

impl PartitionResponse {
    fn encode(&self, version: i16, out: &mut Writer) {
        out.i32(self.index);
        out.i16(self.error_code);
        out.i64(self.base_offset);
        out.i64(self.log_append_time_ms);
        if version >= 5 {
            out.i64(self.log_start_offset);
        }
        if version >= 8 {
            out.length(Some(self.record_errors.len()));
            for error in &self.record_errors {
                out.i32(error.index);
                out.string(cut(&error.message));
                out.no_tags();
            }
            out.nullable_string(self.error_message.as_deref().map(cut));
        }
        out.no_tags();
    }
}

/// The message, or its beginning.
fn cut(message: &str) -> &str {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message;
    }
    let fits = message.char_indices().map(|(at, _)| at).take_while(|at| *at <= MESSAGE_BYTES_MAX);
    &message[..fits.last().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::{ProduceResponse as Decoded, ResponseHeader, produce_response};
    use kafka_protocol::protocol::{Decodable, Message};

    use super::*;

    fn response() -> ProduceResponse {
        let taken = PartitionResponse {
            index: 1,
            base_offset: 1 << 40,
            log_append_time_ms: 5,
            log_start_offset: 3,
            ..PartitionResponse::default()
        };
        let refused = PartitionResponse {
            index: 2,
            error_code: 87,
            record_errors: vec![RecordError { index: 4, message: "no key".to_owned() }],
            error_message: Some("one or more records have been rejected".to_owned()),
            ..PartitionResponse::default()
        };
        let name = StrBytes::from_static_str;
        let topics = vec![
            TopicResponse { name: name("orders"), topic_id: Uuid::from_u128(9), partitions: vec![taken, refused] },
            TopicResponse { name: name("none"), ..TopicResponse::default() },
        ];
        ProduceResponse { topics, throttle_time_ms: 6 }
    }

    fn expected_partition(ours: &PartitionResponse, version: i16) -> produce_response::PartitionProduceResponse {
        let error = |e: &RecordError| {
            produce_response::BatchIndexAndErrorMessage::default()
                .with_batch_index(e.index)
                .with_batch_index_error_message(Some(e.message.clone().into()))
        };
        let expected = produce_response::PartitionProduceResponse::default()
            .with_index(ours.index)
            .with_error_code(ours.error_code)
            .with_base_offset(ours.base_offset)
            .with_log_append_time_ms(ours.log_append_time_ms)
            .with_log_start_offset(if version >= 5 { ours.log_start_offset } else { -1 });
        if version < 8 {
            return expected;
        }
        expected
            .with_record_errors(ours.record_errors.iter().map(error).collect())
            .with_error_message(ours.error_message.clone().map(Into::into))
    }

    fn expected(ours: &ProduceResponse, version: i16) -> Decoded {
        let topic = |topic: &TopicResponse| {
            let partitions = topic.partitions.iter().map(|p| expected_partition(p, version)).collect();
            let expected = produce_response::TopicProduceResponse::default().with_partition_responses(partitions);
            match version {
                IDS_FROM.. => expected.with_topic_id(topic.topic_id),
                _ => expected.with_name(topic.name.clone().into()),
            }
        };
        Decoded::default()
            .with_throttle_time_ms(ours.throttle_time_ms)
            .with_responses(ours.topics.iter().map(topic).collect())
    }

    #[test]
    fn every_version_is_what_the_client_decodes() {
        assert_eq!((Decoded::VERSIONS.min, Decoded::VERSIONS.max), (3, 13));
        for version in 3..=13 {
            let ours = response();
            let mut bytes = ours.encode(version, 42);
            let length = bytes.split_to(4);
            assert_eq!(i32::from_be_bytes(length[..].try_into().unwrap()) as usize, bytes.len());
            let header = ResponseHeader::decode(&mut bytes, i16::from(version >= FLEXIBLE_FROM)).unwrap();
            assert_eq!(header.correlation_id, 42);
            assert_eq!(Decoded::decode(&mut bytes, version).unwrap(), expected(&ours, version), "version {version}");
            assert!(bytes.is_empty());
        }
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let long = "é".repeat(1000);
        assert_eq!(cut(&long), "é".repeat(512));
        assert_eq!(cut(&format!("x{long}")).len(), 1023);
        assert_eq!(cut("short"), "short");
    }
}
