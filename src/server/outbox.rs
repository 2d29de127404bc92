//! Answers on their way out: in request order, each only once what it rests on is durable.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::net::TcpStream;

use crate::api::{Close, Reply};
use crate::broker::Broker;
use crate::metrics;

/// Slices handed to one write; the kernel takes 1024 at most.
const SLICES_MAX: usize = 256;

/// Replies not yet complete, and bytes not yet taken by the socket.
#[derive(Default)]
pub(super) struct Outbox {
    replies: VecDeque<Reply>,
    // A reply that is made later holds up the requests behind it, as in Kafka.
    making: bool,
    /// Of the replies that are ready and wait.
    ready_bytes: usize,
    bytes: VecDeque<Bytes>,
}

impl Outbox {
    pub fn push(&mut self, reply: Reply) {
        self.making |= matches!(reply, Reply::Later(_));
        self.ready_bytes += bytes_of(&reply);
        self.replies.push_back(reply);
    }

    /// Requests that are not answered yet.
    pub fn waiting(&self) -> usize {
        self.replies.len()
    }

    /// Bytes of the answers that are ready and wait for what they rest on, or for those before them.
    pub fn ready_bytes(&self) -> usize {
        self.ready_bytes
    }

    /// True while a reply is in the making that later requests have to wait for.
    pub fn is_making(&self) -> bool {
        self.making
    }

    /// Forgets a reply in the making and what waits behind it; those before it still leave.
    pub fn drop_making(&mut self) {
        if let Some(first) = self.replies.iter().position(|reply| matches!(reply, Reply::Later(_))) {
            self.replies.truncate(first);
            self.ready_bytes = self.replies.iter().map(bytes_of).sum();
        }
        self.making = false;
    }

    /// True when nothing is left to send.
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty() && self.bytes.is_empty()
    }

    /// True when the socket has yet to take bytes.
    pub fn has_bytes(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Completes when the oldest reply is complete, which then waits for the socket. For ever if there is none.
    pub async fn next_ready(&mut self, broker: &Broker) -> Result<(), Close> {
        let frames = poll_fn(|cx| self.poll_front(broker, cx)).await?;
        self.bytes.extend(frames);
        Ok(())
    }

    /// Moves every reply that is complete by now to the socket's queue.
    pub fn take_ready(&mut self, broker: &Broker) {
        while let Some(Reply::Ready { durable_at, .. }) = self.replies.front()
            && broker.is_durable(*durable_at)
            && let Some(Reply::Ready { frames, .. }) = self.replies.pop_front()
        {
            self.ready_bytes -= total_len(&frames);
            self.bytes.extend(frames);
        }
    }

    /// Gives the socket what it takes without waiting. False: it has to be asked again when writable.
    pub fn write(&mut self, stream: &TcpStream) -> io::Result<bool> {
        while !self.bytes.is_empty() {
            let slices: Vec<IoSlice<'_>> = self.bytes.iter().take(SLICES_MAX).map(|b| IoSlice::new(b)).collect();
            match stream.try_write_vectored(&slices) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    metrics::all().bytes_out.add(written as u64);
                    self.drop_written(written);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn poll_front(&mut self, broker: &Broker, cx: &mut Context<'_>) -> Poll<Result<Vec<Bytes>, Close>> {
        let frames = match self.replies.front_mut() {
            None => return Poll::Pending,
            Some(Reply::Ready { frames, durable_at }) => {
                let durable = std::pin::pin!(broker.durable(*durable_at));
                std::task::ready!(durable.poll(cx)).map_err(|error| Close::new(error.to_string()))?;
                self.ready_bytes -= total_len(frames);
                std::mem::take(frames)
            }
            Some(Reply::Later(making)) => {
                let frames = std::task::ready!(making.as_mut().poll(cx))?;
                self.making = false;
                frames
            }
            Some(Reply::None) => Vec::new(),
            Some(Reply::Close(close)) => return Poll::Ready(Err(close.clone())),
        };
        self.replies.pop_front();
        Poll::Ready(Ok(frames))
    }

    fn drop_written(&mut self, mut written: usize) {
        while let Some(front) = self.bytes.front_mut() {
            if written < front.len() {
                front.advance(written);
                return;
            }
            written -= front.len();
            self.bytes.pop_front();
        }
    }
}

fn bytes_of(reply: &Reply) -> usize {
    match reply {
        Reply::Ready { frames, .. } => total_len(frames),
        _ => 0,
    }
}

fn total_len(frames: &[Bytes]) -> usize {
    frames.iter().map(Bytes::len).sum()
}
