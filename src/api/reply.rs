//! What a handler is given beside the request, and what it gives back.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::protocol::{Encodable, StrBytes};

use super::Api;
use crate::broker::{Broker, Gated};
use crate::disk::waiting;
use crate::model::Lsn;
use crate::wire::frame::FrameError;
use crate::wire::header::HeaderError;
use crate::wire::response::{self, ResponseHead};

/// A client's connection.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    pub peer: SocketAddr,
    /// The address that the client reached.
    pub local: SocketAddr,
    pub listener: String,
}

/// A request's head, and where it came from.
pub struct RequestContext<'a> {
    pub api: &'static Api,
    pub version: i16,
    pub correlation_id: i32,
    pub client_id: Option<StrBytes>,
    pub connection: &'a ConnectionInfo,
}

/// The answer to a request.
pub enum Reply {
    /// Encoded; it may leave once everything below `durable_at` is durable.
    Ready {
        frames: Vec<Bytes>,
        durable_at: Lsn,
    },
    /// Made later, as a fetch is that waits for records. What it rests on is durable.
    Later(Pin<Box<dyn Future<Output = Result<Vec<Bytes>, Close>> + Send>>),
    /// The client wants none.
    None,
    Close(Close),
}

/// Why a connection is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close(String);

impl<'a> RequestContext<'a> {
    /// The same, to be read and answered in the layout of another version.
    pub fn as_version(&self, version: i16) -> RequestContext<'a> {
        let RequestContext { api, correlation_id, ref client_id, connection, .. } = *self;
        RequestContext { api, version, correlation_id, client_id: client_id.clone(), connection }
    }

    /// The answer, if it rests on nothing that is not durable yet.
    pub fn ready(&self, body: &impl Encodable) -> Reply {
        self.ready_at(body, Lsn(0))
    }

    /// The answer, once everything below `durable_at` is durable.
    pub fn ready_at(&self, body: &impl Encodable, durable_at: Lsn) -> Reply {
        match self.answerer().encode(body) {
            Ok(frames) => Reply::Ready { frames, durable_at },
            Err(close) => Reply::Close(close),
        }
    }

    /// The answer, made here and now unless it is known to take `long` or would have to wait for the disk: then on a thread
    /// that may wait. What it rests on is durable.
    pub fn looked_up<B>(&self, broker: Arc<Broker>, long: bool, make: impl Fn() -> B + Send + 'static) -> Reply
    where
        B: Encodable + Send + 'static,
    {
        match if long { None } else { waiting::without(&make) } {
            Some(body) => self.ready(&body),
            None => self.made_aside(broker, make),
        }
    }

    /// The answer, made on a thread that may wait for the disk. What it rests on is durable.
    pub fn made_aside<B>(&self, broker: Arc<Broker>, make: impl FnOnce() -> B + Send + 'static) -> Reply
    where
        B: Encodable + Send + 'static,
    {
        let answerer = self.answerer();
        Reply::later(async move { broker.read_aside(move || answerer.encode(&make())).await })
    }

    /// The answer to a change that first takes a `look` at what is stored: here and now, unless the look would have to wait
    /// for the disk. Then all of it is done on a thread that may wait.
    pub fn changed<L, B>(
        &self,
        broker: &Arc<Broker>,
        look: impl Fn() -> L + Send + 'static,
        change: impl FnOnce(L) -> Gated<B> + Send + 'static,
    ) -> Reply
    where
        B: Encodable + Send + 'static,
    {
        if let Some(seen) = waiting::without(&look) {
            let Gated { value, durable_at } = change(seen);
            return self.ready_at(&value, durable_at);
        }
        self.decided_aside(broker, move || change(look()))
    }

    /// The answer, made on a thread that may take its time, once everything below its lsn is durable.
    pub fn decided_aside<B>(&self, broker: &Arc<Broker>, make: impl FnOnce() -> Gated<B> + Send + 'static) -> Reply
    where
        B: Encodable + Send + 'static,
    {
        let (broker, answerer) = (broker.clone(), self.answerer());
        Reply::later(async move {
            let Gated { value, durable_at } = broker.read_aside(make).await;
            broker.durable(durable_at).await.map_err(|error| Close::new(error.to_string()))?;
            answerer.encode(&value)
        })
    }

    /// For an answer that is made later.
    pub fn answerer(&self) -> Answerer {
        let RequestContext { api, version, correlation_id, .. } = *self;
        Answerer { api, version, correlation_id }
    }

    /// Closes the connection, saying at which request.
    pub fn close(&self, why: impl fmt::Display) -> Close {
        self.answerer().close(why)
    }
}

/// What of a request's head its answer needs.
#[derive(Clone, Copy)]
pub struct Answerer {
    api: &'static Api,
    version: i16,
    correlation_id: i32,
}

impl Answerer {
    /// The answer's frames.
    pub fn encode(&self, body: &impl Encodable) -> Result<Vec<Bytes>, Close> {
        let Answerer { api, version, correlation_id } = *self;
        let head = ResponseHead { correlation_id, version, tagged: api.response_is_tagged(version) };
        response::encode(head, body).map(|frame| vec![frame]).map_err(|error| {
            tracing::error!(api = api.name, %error, "an answer could not be encoded");
            self.close(error)
        })
    }

    fn close(&self, why: impl fmt::Display) -> Close {
        Close(format!("{} version {}, correlation id {}: {why}", self.api.name, self.version, self.correlation_id))
    }
}

impl Reply {
    pub fn later(making: impl Future<Output = Result<Vec<Bytes>, Close>> + Send + 'static) -> Reply {
        Reply::Later(Box::pin(making))
    }
}

impl Close {
    pub fn new(why: impl Into<String>) -> Close {
        Close(why.into())
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<io::Error> for Close {
    fn from(error: io::Error) -> Close {
        Close(error.to_string())
    }
}

impl From<FrameError> for Close {
    fn from(error: FrameError) -> Close {
        Close(error.to_string())
    }
}

impl From<HeaderError> for Close {
    fn from(error: HeaderError) -> Close {
        Close(error.to_string())
    }
}
