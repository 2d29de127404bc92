//! Codes of transactions. Two of them came with a version of each request, and a client of an older one is told what it knows.

use kafka_protocol::ResponseError;

use crate::broker::StageError;
use crate::model::{AppendError, BindError, EndError, EnlistError, NameError};

const PRODUCE: i16 = 0;
const INIT_PRODUCER_ID: i16 = 22;
const ADD_PARTITIONS_TO_TXN: i16 = 24;
const ADD_OFFSETS_TO_TXN: i16 = 25;
const END_TXN: i16 = 26;
const TXN_OFFSET_COMMIT: i16 = 28;

/// In no version.
const NEVER: i16 = i16::MAX;

/// To which request an error is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldTo {
    pub key: i16,
    pub version: i16,
}

impl ToldTo {
    pub fn of_bind(self, error: &BindError) -> ResponseError {
        match error {
            BindError::Timeout { .. } => ResponseError::InvalidTransactionTimeout,
            BindError::Fenced { .. } => self.fenced(),
            BindError::TooMany => ResponseError::PolicyViolation,
        }
    }

    pub fn of_enlist(self, error: &EnlistError) -> ResponseError {
        match error {
            EnlistError::UnknownId { .. } | EnlistError::OtherProducer { .. } => {
                ResponseError::InvalidProducerIdMapping
            }
            EnlistError::Fenced { .. } => self.fenced(),
            EnlistError::NotEnlisted { .. }
            | EnlistError::PartitionNotEnlisted { .. }
            | EnlistError::SealNotEnlisted { .. } => self.abortable(),
            EnlistError::UnknownFeed { .. } | EnlistError::UnknownPartition { .. } => {
                ResponseError::UnknownTopicOrPartition
            }
            EnlistError::TooManyPartitions
            | EnlistError::TooManyGroups
            | EnlistError::TooMuchHeld { .. }
            | EnlistError::Subscription(_) => ResponseError::PolicyViolation,
        }
    }

    pub fn of_stage(self, error: &StageError) -> ResponseError {
        match error {
            StageError::Transaction(error) => self.of_enlist(error),
            // As Kafka tells it in transactions: whatever is wrong with the epoch or the group, the member has to join anew.
            StageError::Group(error) => match super::of_group(error) {
                ResponseError::GroupIdNotFound | ResponseError::StaleMemberEpoch => ResponseError::IllegalGeneration,
                code => code,
            },
        }
    }

    pub fn of_end(self, error: &EndError) -> ResponseError {
        match error {
            EndError::UnknownId { .. } | EndError::OtherProducer { .. } => ResponseError::InvalidProducerIdMapping,
            EndError::Fenced { .. } => self.fenced(),
            EndError::EndedOtherwise { .. } | EndError::NotOpen { .. } => ResponseError::InvalidTxnState,
        }
    }

    pub fn of_append(self, error: &AppendError) -> ResponseError {
        match error {
            AppendError::UnknownFeed { .. } | AppendError::UnknownPartition { .. } => {
                ResponseError::UnknownTopicOrPartition
            }
            // The right to the transactional id is what it lacks, as Kafka sees it.
            AppendError::ReadOnly { .. } => ResponseError::InvalidTopicException,
            AppendError::NoTransactionalId => ResponseError::TransactionalIdAuthorizationFailed,
            AppendError::OutsideTransaction { .. } => ResponseError::InvalidTxnState,
            AppendError::TooScattered { .. } => {
                self.since(11, ResponseError::TransactionAbortable, ResponseError::PolicyViolation)
            }
            AppendError::Transaction(error) => self.of_enlist(error),
            AppendError::Sequence(error) => super::of_sequence(error),
        }
    }

    pub fn of_name(self, error: &NameError) -> ResponseError {
        match error {
            NameError::Several { .. } => ResponseError::InvalidRecord,
            NameError::TooMuchNamed { .. } => ResponseError::PolicyViolation,
            NameError::Transaction(error) => self.of_enlist(error),
            NameError::Seal(error) => super::of_seal(error),
            NameError::Sequence(error) => super::of_sequence(error),
        }
    }

    /// Another producer has the transactional id since. Requests that bring something say it so in all versions.
    fn fenced(self) -> ResponseError {
        let since = match self.key {
            INIT_PRODUCER_ID => 4,
            ADD_PARTITIONS_TO_TXN | ADD_OFFSETS_TO_TXN | END_TXN => 2,
            _ => NEVER,
        };
        self.since(since, ResponseError::ProducerFenced, ResponseError::InvalidProducerEpoch)
    }

    /// The transaction is not as the producer thinks, and goes on when it has been aborted.
    fn abortable(self) -> ResponseError {
        let since = match self.key {
            PRODUCE => 11,
            TXN_OFFSET_COMMIT => 4,
            _ => NEVER,
        };
        self.since(since, ResponseError::TransactionAbortable, ResponseError::InvalidTxnState)
    }

    fn since(self, version: i16, code: ResponseError, before: ResponseError) -> ResponseError {
        if self.version >= version { code } else { before }
    }
}

#[cfg(test)]
mod tests;
