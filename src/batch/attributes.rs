//! The attribute bits of a batch.

/// 16 bits: compression (0-2), timestamp type (3), transactional (4), control (5), delete horizon (6); the rest is unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes(pub i16);

impl Attributes {
    const COMPRESSION: i16 = 0x07;
    const LOG_APPEND_TIME: i16 = 0x08;
    const TRANSACTIONAL: i16 = 0x10;
    const CONTROL: i16 = 0x20;
    const DELETE_HORIZON: i16 = 0x40;
    const KNOWN: i16 = 0x7f;

    /// The codec; the number itself when there is no such codec.
    pub fn compression(self) -> Result<Compression, u8> {
        Compression::from_id((self.0 & Self::COMPRESSION) as u8)
    }

    /// Who set the timestamps.
    pub fn timestamp_type(self) -> TimestampType {
        if self.0 & Self::LOG_APPEND_TIME == 0 { TimestampType::Create } else { TimestampType::LogAppend }
    }

    /// Part of a transaction.
    pub fn is_transactional(self) -> bool {
        self.0 & Self::TRANSACTIONAL != 0
    }

    /// Written by a broker about the log, not for applications.
    pub fn is_control(self) -> bool {
        self.0 & Self::CONTROL != 0
    }

    /// The base timestamp is the time from which on tombstones may be dropped.
    pub fn has_delete_horizon(self) -> bool {
        self.0 & Self::DELETE_HORIZON != 0
    }

    /// Bits that no version of Kafka has given a meaning.
    pub fn unknown(self) -> i16 {
        self.0 & !Self::KNOWN
    }

    pub(super) fn with_compression(self, compression: Compression) -> Attributes {
        Attributes(self.0 & !Self::COMPRESSION | i16::from(compression.id()))
    }

    pub(super) fn with_timestamp_type(self, timestamp_type: TimestampType) -> Attributes {
        match timestamp_type {
            TimestampType::Create => Attributes(self.0 & !Self::LOG_APPEND_TIME),
            TimestampType::LogAppend => Attributes(self.0 | Self::LOG_APPEND_TIME),
        }
    }

    pub(super) fn with_transactional(self) -> Attributes {
        Attributes(self.0 | Self::TRANSACTIONAL)
    }

    pub(super) fn with_control(self) -> Attributes {
        Attributes(self.0 | Self::CONTROL)
    }
}

/// How the records of a batch are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    #[default]
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

impl Compression {
    /// All codecs there are.
    pub const ALL: [Compression; 5] =
        [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd];

    /// The codec's number in the attributes.
    pub fn id(self) -> u8 {
        match self {
            Compression::None => 0,
            Compression::Gzip => 1,
            Compression::Snappy => 2,
            Compression::Lz4 => 3,
            Compression::Zstd => 4,
        }
    }

    /// Kafka's name of the codec.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Snappy => "snappy",
            Compression::Lz4 => "lz4",
            Compression::Zstd => "zstd",
        }
    }

    fn from_id(id: u8) -> Result<Compression, u8> {
        Compression::ALL.get(usize::from(id)).copied().ok_or(id)
    }
}

/// Who sets the timestamps of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimestampType {
    /// The producer.
    #[default]
    Create,
    /// The broker, when it appends: every record of a batch then has the batch's max timestamp.
    LogAppend,
}
