//! Heartbeat (key 12): a member is alive, and learns whether it has to join again.

use std::sync::Arc;

use kafka_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::group::{owned, reply};
use super::{Reply, RequestContext};
use crate::broker::Broker;
use crate::model::group::{Answer, Heartbeat, Request};
use crate::wire::error;

/// Answers a Heartbeat.
pub fn handle(broker: &Arc<Broker>, context: &RequestContext<'_>, request: HeartbeatRequest) -> Reply {
    let beat = Heartbeat {
        member_id: request.member_id.as_str().to_owned(),
        instance_id: owned(&request.group_instance_id),
        generation: request.generation_id,
    };
    let asked = broker.ask_group(&request.group_id, Request::Heartbeat(beat));
    reply(context, asked, |answer| {
        let result = match answer {
            Ok(Answer::Heartbeat(result)) => result,
            Ok(other) => unreachable!("{other:?} answers no heartbeat"),
            Err(error) => Err(error),
        };
        let code = result.err().map_or(0, |refused| error::of_group(&refused).code());
        HeartbeatResponse::default().with_error_code(code)
    })
}
