//! What requests of transactional producers have in common.

use kafka_protocol::messages::{ProducerId, TransactionalId};

use super::RequestContext;
use crate::model::{self, Identity};
use crate::wire::error::ToldTo;

/// Who asks.
pub fn identity(producer: ProducerId, epoch: i16) -> Identity {
    Identity { producer: model::ProducerId(producer.0), epoch }
}

/// To be kept: a slice of the request would keep all of it.
pub fn owned(id: &TransactionalId) -> String {
    id.as_str().to_owned()
}

impl RequestContext<'_> {
    /// To whom errors are told.
    pub fn told_to(&self) -> ToldTo {
        ToldTo { key: self.api.key, version: self.version }
    }
}
