//! What can go wrong between a command and a broker: which broker, what was asked, what to do.

use std::io;

use kafka_protocol::error::ResponseError;
use thiserror::Error;

/// Why a request to a broker did not succeed.
#[derive(Debug, Error)]
pub enum ClientError {
    #[error("no broker at {address}: {source}; start one with `streamstack serve`, or name its address")]
    Unreachable { address: String, source: io::Error },
    #[error("{address} broke off during {api}: {source}; see the broker's log")]
    Lost { address: String, api: &'static str, source: io::Error },
    #[error("{address} speaks no version of {api} that this program speaks: {theirs}, here {ours}")]
    NoCommonVersion { address: String, api: &'static str, theirs: String, ours: String },
    #[error("{address} answered {api} with something else: {reason}")]
    Garbled { address: String, api: &'static str, reason: String },
    #[error("{address} refuses to {what}: {code} ({}){message}{remedy}", .code.code())]
    Refused { address: String, what: String, code: ResponseError, message: String, remedy: &'static str },
    #[error("{address} sent no record of {topic}-{partition} at offset {offset}, though it ends at {end}")]
    Stalled { address: String, topic: String, partition: i32, offset: i64, end: i64 },
}

impl ClientError {
    pub(super) fn refused(address: &str, what: String, code: i16, message: Option<&str>) -> ClientError {
        let code = ResponseError::try_from_code(code).unwrap_or(ResponseError::Unknown(code));
        let message = message.map(|text| format!(": {text}")).unwrap_or_default();
        ClientError::Refused { address: address.to_owned(), what, code, message, remedy: remedy(code) }
    }

    /// The same request may succeed a little later.
    pub fn is_retriable(&self) -> bool {
        matches!(self, ClientError::Refused { code, .. } if code.is_retriable())
    }

    /// The broker's code, when it answered with one.
    pub fn code(&self) -> Option<ResponseError> {
        match self {
            ClientError::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// What the broker says about it, when it says anything.
    pub fn reason(&self) -> Option<&str> {
        match self {
            ClientError::Refused { message, .. } => message.strip_prefix(": "),
            _ => None,
        }
    }

    /// The connection is of no use any more; what was asked may have been done or not.
    pub fn is_disconnect(&self) -> bool {
        matches!(self, ClientError::Unreachable { .. } | ClientError::Lost { .. })
    }
}

fn remedy(code: ResponseError) -> &'static str {
    match code {
        ResponseError::UnknownTopicOrPartition => "; check the name, or create the topic first",
        ResponseError::LeaderNotAvailable => "; a bounded view can be read once it is sealed: ask again later",
        ResponseError::OffsetOutOfRange => "; read from the earliest offset",
        ResponseError::MessageTooLarge => "; send smaller batches, or raise max.message.bytes of the topic",
        ResponseError::UnknownMemberId | ResponseError::NonEmptyGroup => {
            "; the group has members: stop its consumers first"
        }
        ResponseError::GroupIdNotFound => "; `streamstack subscription list` shows which there are",
        ResponseError::GroupSubscribedToTopic => "; members of the group read that topic: stop them first",
        ResponseError::KafkaStorageError => "; see the broker's log",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_who_refused_what_why_and_what_to_do() {
        let error = ClientError::refused("127.0.0.1:9092", "read orders..commit-7".to_owned(), 5, Some("not sealed"));
        assert_eq!(
            error.to_string(),
            "127.0.0.1:9092 refuses to read orders..commit-7: LeaderNotAvailable (5): not sealed; \
             a bounded view can be read once it is sealed: ask again later"
        );
        assert!(error.is_retriable());
    }

    #[test]
    fn an_unknown_code_is_kept_and_not_retried() {
        let error = ClientError::refused("b:1", "read t".to_owned(), 4711, None);
        assert_eq!(error.code(), Some(ResponseError::Unknown(4711)));
        assert!(!error.is_retriable());
    }
}
