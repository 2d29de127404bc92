//! The only place where errors of ours become Kafka's codes.
//!
//! What is retriable there makes clients wait or ask again; what is not makes them give up and show the message.

mod transaction;

use kafka_protocol::ResponseError;

pub use self::transaction::ToldTo;
use crate::batch::BatchError;
use crate::broker::{CommitError, DeleteError, ResolveError};
use crate::config::server::ServerValueError;
use crate::config::{AlterError, GroupConfigError, OverrideError};
use crate::model::group::GroupError;
use crate::model::group::consumer::Fault;
use crate::model::{
    AddPartitionsError, ConfigureError, CreateFeedError, DeleteFeedError, PartitionsError, SealError, SequenceError,
    SubscriptionError, TrimError,
};
use crate::store::{FileError, ReadError};
use crate::view::{ViewError, ViewReadError};

pub fn of_batch(error: &BatchError) -> ResponseError {
    match error {
        BatchError::Short { .. } | BatchError::Length { .. } | BatchError::Crc { .. } => ResponseError::CorruptMessage,
        BatchError::TooLarge { .. } | BatchError::DecompressedTooLarge { .. } => ResponseError::MessageTooLarge,
        BatchError::UnknownCodec { .. } | BatchError::ZstdTooEarly => ResponseError::UnsupportedCompressionType,
        BatchError::InvalidTimestamps { .. } => ResponseError::InvalidTimestamp,
        BatchError::NoBatch
        | BatchError::Magic { .. }
        | BatchError::Trailing { .. }
        | BatchError::Control
        | BatchError::Attributes { .. }
        | BatchError::Producer { .. }
        | BatchError::TransactionalWithoutProducer
        | BatchError::Count { .. }
        | BatchError::LastOffsetDelta { .. }
        | BatchError::Undecodable { .. }
        | BatchError::MalformedRecord { .. }
        | BatchError::TrailingRecords { .. }
        | BatchError::InvalidRecords { .. }
        | BatchError::Label { .. } => ResponseError::InvalidRecord,
    }
}

pub fn of_seal(error: &SealError) -> ResponseError {
    match error {
        SealError::UnknownFeed { .. } => ResponseError::UnknownTopicOrPartition,
        SealError::Count { .. }
        | SealError::Label { .. }
        | SealError::MetadataLength { .. }
        | SealError::MetadataTotal { .. }
        | SealError::Metadata { .. } => ResponseError::InvalidRecord,
        SealError::Sequence(error) => of_sequence(error),
    }
}

fn of_sequence(error: &SequenceError) -> ResponseError {
    match error {
        SequenceError::OlderEpoch { .. } => ResponseError::InvalidProducerEpoch,
        SequenceError::NewEpoch { .. } | SequenceError::Gap { .. } => ResponseError::OutOfOrderSequenceNumber,
        SequenceError::Forgotten { .. } => ResponseError::DuplicateSequenceNumber,
    }
}

pub fn of_resolve(error: &ResolveError) -> ResponseError {
    match error {
        ResolveError::UnknownFeed { .. } => ResponseError::UnknownTopicOrPartition,
        ResolveError::OfAlias { .. } => ResponseError::InvalidTopicException,
        ResolveError::View(error) => of_view(error),
    }
}

/// Clients that read know no LEADER_NOT_AVAILABLE, and ask for metadata again at this.
pub fn of_view_read(error: &ViewReadError) -> ResponseError {
    match error {
        ViewReadError::NoPartition { .. } => ResponseError::UnknownTopicOrPartition,
        ViewReadError::OutOfRange { .. } => ResponseError::OffsetOutOfRange,
        ViewReadError::View(error) => match of_view(error) {
            ResponseError::LeaderNotAvailable => ResponseError::NotLeaderOrFollower,
            code => code,
        },
    }
}

/// What is not there yet is worth waiting for; what will never be there is not.
fn of_view(error: &ViewError) -> ResponseError {
    match error {
        ViewError::NotSealedYet { .. }
        | ViewError::NotOverYet { .. }
        | ViewError::FloorNeeded { .. }
        | ViewError::NotOpenYet { .. }
        | ViewError::IndexNeeded
        | ViewError::NotIndexed { .. }
        | ViewError::BeingSelected { .. }
        | ViewError::LabelUnknown { .. } => ResponseError::LeaderNotAvailable,
        ViewError::NeverSealed { .. }
        | ViewError::CommitsDropped { .. }
        | ViewError::RecordsDeleted { .. }
        | ViewError::StreamGone { .. } => ResponseError::InvalidTopicException,
        ViewError::BadBatch { .. } | ViewError::Read(ReadError::File(FileError::Damaged { .. })) => {
            ResponseError::CorruptMessage
        }
        ViewError::Read(_) | ViewError::IndexFailed { .. } => ResponseError::KafkaStorageError,
    }
}

pub fn of_trim(error: &DeleteError) -> ResponseError {
    match error {
        DeleteError::Trim(
            TrimError::AboveEnd { .. } | TrimError::AboveCommits { .. } | TrimError::InTransaction { .. },
        ) => ResponseError::OffsetOutOfRange,
        DeleteError::Trim(TrimError::UnknownFeed { .. } | TrimError::UnknownPartition { .. }) => {
            ResponseError::UnknownTopicOrPartition
        }
        // Asked again when the seal is durable; a client does not get to see it.
        DeleteError::Trim(TrimError::Behind) => ResponseError::RequestTimedOut,
        DeleteError::File(_) | DeleteError::Failed(_) => ResponseError::KafkaStorageError,
    }
}

pub fn of_create(error: &CreateFeedError) -> ResponseError {
    match error {
        CreateFeedError::Name { .. } | CreateFeedError::Collision { .. } => ResponseError::InvalidTopicException,
        CreateFeedError::Exists { .. } => ResponseError::TopicAlreadyExists,
        CreateFeedError::Partitions(error) => of_partitions(error),
        CreateFeedError::TooManyFeeds => ResponseError::PolicyViolation,
    }
}

fn of_partitions(error: &PartitionsError) -> ResponseError {
    match error {
        PartitionsError::Count { .. } => ResponseError::InvalidPartitions,
        PartitionsError::Total { .. } => ResponseError::PolicyViolation,
    }
}

pub fn of_delete(error: &DeleteFeedError) -> ResponseError {
    match error {
        DeleteFeedError::UnknownFeed { .. } => ResponseError::UnknownTopicOrPartition,
    }
}

pub fn of_add_partitions(error: &AddPartitionsError) -> ResponseError {
    match error {
        AddPartitionsError::UnknownFeed { .. } => ResponseError::UnknownTopicOrPartition,
        AddPartitionsError::NotMore { .. } => ResponseError::InvalidPartitions,
        AddPartitionsError::Partitions(error) => of_partitions(error),
    }
}

pub fn of_configure(error: &ConfigureError) -> ResponseError {
    match error {
        ConfigureError::UnknownFeed { .. } => ResponseError::UnknownTopicOrPartition,
        ConfigureError::NotEmpty { .. } => ResponseError::InvalidConfig,
        ConfigureError::TooManyGroups => ResponseError::PolicyViolation,
    }
}

pub fn of_group(error: &GroupError) -> ResponseError {
    match error {
        GroupError::NoName => ResponseError::InvalidGroupId,
        GroupError::UnknownGroup { .. } => ResponseError::GroupIdNotFound,
        GroupError::NotEmpty => ResponseError::NonEmptyGroup,
        GroupError::TooManyGroups { .. } => ResponseError::PolicyViolation,
        GroupError::UnknownMember { .. } => ResponseError::UnknownMemberId,
        GroupError::MemberIdRequired => ResponseError::MemberIdRequired,
        GroupError::Fenced { .. } => ResponseError::FencedInstanceId,
        GroupError::IllegalGeneration { .. } => ResponseError::IllegalGeneration,
        GroupError::RebalanceInProgress => ResponseError::RebalanceInProgress,
        GroupError::InconsistentProtocol | GroupError::NoSubscription => ResponseError::InconsistentGroupProtocol,
        GroupError::SessionTimeout { .. } => ResponseError::InvalidSessionTimeout,
        GroupError::Full { .. } => ResponseError::GroupMaxSizeReached,
        GroupError::TooLarge { .. } => ResponseError::MessageTooLarge,
        GroupError::NotConsumer { .. } | GroupError::NoUpgrade { .. } => ResponseError::GroupIdNotFound,
        GroupError::Consumer(fault) => of_fault(fault),
    }
}

fn of_fault(fault: &Fault) -> ResponseError {
    match fault {
        Fault::Invalid(_) => ResponseError::InvalidRequest,
        Fault::UnknownMember { .. } | Fault::UnknownInstance { .. } => ResponseError::UnknownMemberId,
        Fault::FencedEpoch { .. } => ResponseError::FencedMemberEpoch,
        Fault::FencedInstance { .. } => ResponseError::FencedInstanceId,
        Fault::UnreleasedInstance { .. } => ResponseError::UnreleasedInstanceId,
        Fault::UnsupportedAssignor { .. } => ResponseError::UnsupportedAssignor,
        Fault::InvalidRegex { .. } | Fault::TooManyPatterns { .. } => ResponseError::InvalidRegularExpression,
        // The Java consumer and librdkafka give up at it, and show the message.
        Fault::Full { .. } | Fault::TooLarge { .. } => ResponseError::GroupMaxSizeReached,
        Fault::StaleEpoch { .. } => ResponseError::StaleMemberEpoch,
        Fault::OldCommit => ResponseError::UnsupportedVersion,
        Fault::Generation { .. } => ResponseError::IllegalGeneration,
    }
}

pub fn of_commit(error: &CommitError) -> ResponseError {
    match error {
        CommitError::Group(error) => of_group(error),
        CommitError::Subscription(
            SubscriptionError::TooManySubscriptions | SubscriptionError::TooManyPositions { .. },
        ) => ResponseError::PolicyViolation,
        CommitError::Subscription(SubscriptionError::TooMuchMetadata { .. }) => ResponseError::OffsetMetadataTooLarge,
    }
}

fn of_group_config(error: &GroupConfigError) -> ResponseError {
    match error {
        GroupConfigError::Unknown { .. }
        | GroupConfigError::Invalid(_)
        | GroupConfigError::Refused(_)
        | GroupConfigError::TooLow { .. }
        | GroupConfigError::TooHigh { .. }
        | GroupConfigError::SessionTooShort => ResponseError::InvalidConfig,
    }
}

pub fn of_override(error: &OverrideError) -> ResponseError {
    match error {
        OverrideError::Unknown { .. } | OverrideError::Invalid(_) | OverrideError::Refused(_) => {
            ResponseError::InvalidConfig
        }
    }
}

pub fn of_alter(error: &AlterError) -> ResponseError {
    match error {
        AlterError::Topic(error) => of_override(error),
        AlterError::Group(error) => of_group_config(error),
        // Kafka's code for a config that needs a restart, and for a wrong value of a broker's config, unlike a topic's.
        AlterError::Broker(ServerValueError::Fixed { .. } | ServerValueError::Invalid(_)) => {
            ResponseError::InvalidRequest
        }
        AlterError::Broker(_) | AlterError::NotAList { .. } => ResponseError::InvalidConfig,
    }
}
