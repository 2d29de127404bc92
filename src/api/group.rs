//! Requests to a group: asked now, answered when the group knows.

use bytes::Bytes;
use kafka_protocol::protocol::{Encodable, StrBytes};

use super::{Close, Reply, RequestContext};
use crate::broker::Asked;
use crate::disk::entropy;
use crate::model::Lsn;
use crate::model::group::{Answer, Client, GroupError};

/// Sends what `encode` makes of the answer, at once if the group knows it already.
pub fn reply<B: Encodable>(
    context: &RequestContext<'_>,
    asked: Result<Asked, GroupError>,
    encode: impl FnOnce(Result<Answer, GroupError>) -> B + Send + 'static,
) -> Reply {
    let mut asked = match asked {
        Ok(asked) => asked,
        Err(error) => return context.ready_at(&encode(Err(error)), Lsn(0)),
    };
    if let Some(answer) = asked.now() {
        return context.ready_at(&encode(Ok(answer.value)), answer.durable_at);
    }
    let answerer = context.answerer();
    Reply::later(async move {
        let answer = asked.answer().await.map_err(|error| Close::new(error.to_string()))?;
        answerer.encode(&encode(Ok(answer)))
    })
}

/// Who asks, as Kafka tells it to operators.
pub fn client(context: &RequestContext<'_>) -> Client {
    Client {
        id: context.client_id.as_deref().unwrap_or_default().to_owned(),
        host: format!("/{}", context.connection.peer.ip().to_canonical()),
    }
}

/// A text to be kept: a slice of the request would keep all of it.
pub fn owned(text: &Option<StrBytes>) -> Option<String> {
    text.as_ref().map(|text| text.as_str().to_owned())
}

/// Bytes to be kept, likewise.
pub fn copied(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// A text for an answer.
pub fn text(text: impl Into<String>) -> StrBytes {
    StrBytes::from_string(text.into())
}

/// For the id of a member that brings none.
pub fn unique() -> String {
    entropy::uuid().expect("the kernel gives random bytes once it has started").to_string()
}
