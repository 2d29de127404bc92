//! SyncGroup (key 14): a member asks for its assignment; the leader brings everybody's.

use std::sync::Arc;

use kafka_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::group::{copied, owned, reply, text};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::group::{Answer, GroupError, Request, Sync, Synced};
use crate::wire::error;

/// First version that must tell the protocol and its type.
const PROTOCOL_SINCE: i16 = 5;

/// Answers a SyncGroup.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: SyncGroupRequest) -> Reply {
    let tells_protocol = request.protocol_type.is_some() && request.protocol_name.is_some();
    if context.version >= PROTOCOL_SINCE && !tells_protocol {
        return context.ready(&told(Err(GroupError::InconsistentProtocol)));
    }
    let asked = broker.ask_group(&request.group_id, Request::Sync(sync(&request)));
    reply(context, asked, |answer| match answer {
        Ok(Answer::Sync(result)) => told(result),
        Ok(other) => unreachable!("{other:?} answers no sync"),
        Err(error) => told(Err(error)),
    })
}

fn sync(request: &SyncGroupRequest) -> Sync {
    let assignments = request.assignments.iter();
    Sync {
        member_id: request.member_id.as_str().to_owned(),
        instance_id: owned(&request.group_instance_id),
        generation: request.generation_id,
        protocol_type: owned(&request.protocol_type),
        protocol: owned(&request.protocol_name),
        assignments: assignments.map(|one| (one.member_id.as_str().to_owned(), copied(&one.assignment))).collect(),
    }
}

fn told(result: Result<Synced, GroupError>) -> SyncGroupResponse {
    let response = SyncGroupResponse::default();
    match result {
        Ok(synced) => response
            .with_protocol_type(synced.protocol_type.map(text))
            .with_protocol_name(synced.protocol.map(text))
            .with_assignment(synced.assignment),
        Err(refused) => {
            response.with_error_code(error::of_group(&refused).code()).with_protocol_type(None).with_protocol_name(None)
        }
    }
}
