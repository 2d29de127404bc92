//! One connection: frames in, answers out, in one task.
//!
//! Requests are read on while produces wait for the disk, so that five in flight share one sync.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use super::Shared;
use super::outbox::Outbox;
use super::room::{FREE_BYTES, HELD_MAX, Held, Room};
use crate::api::{self, Close, ConnectionInfo};
use crate::broker::Broker;
use crate::metrics;
use crate::wire::frame;

/// Requests of one connection that may wait for their answers.
const IN_FLIGHT_MAX: usize = 256;

/// Bytes asked of the socket at once, at least.
const READ_LEN: usize = 64 << 10;

/// How long a fetch may go on waiting for records when its client has closed its side.
const ENDED_WAIT_MAX: Duration = Duration::from_secs(1);

/// The same, of a connection that has not sent anything yet: most stay idle for a while.
const FIRST_READ_LEN: usize = 4 << 10;

/// A frame's buffer is made for all of it if it is no longer than this; a longer one's grows as its bytes arrive.
const WHOLE_LEN: usize = 1 << 20;

/// Answers that may be ready and wait for those before them.
const READY_BYTES_MAX: usize = 4 << 20;

/// Serves one connection to its end.
pub(super) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    listener: String,
    shared: Arc<Shared>,
    stopped: watch::Receiver<bool>,
) {
    let Ok(connection) = Connection::new(stream, peer, listener, &shared) else {
        // The client is gone already.
        return;
    };
    let _held = metrics::all().connections.hold(1);
    match connection.run(stopped).await {
        Ok(()) => tracing::debug!(%peer, "connection ended"),
        Err(close) => {
            metrics::all().connections_broken.increment();
            if let Some(held_back) = shared.quiet.admit(shared.started.elapsed()) {
                tracing::warn!(%peer, reason = %close, held_back, "connection closed");
            }
        }
    }
}

/// Far enough away.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

struct Connection {
    stream: TcpStream,
    info: ConnectionInfo,
    broker: Arc<Broker>,
    inbox: BytesMut,
    /// Length of the last frame: the next one is likely to be as long.
    last_len: usize,
    room: Arc<Room>,
    inflow: Inflow,
    outbox: Outbox,
    ended: bool,
    progress: Instant,
    frame_max: usize,
    idle_max: Duration,
}

/// The frame on its way in.
enum Inflow {
    /// It is small, or not begun.
    Free,
    /// It waits for room, and is not read on.
    Asking(Pin<Box<dyn Future<Output = Held> + Send>>),
    Held(Held),
}

/// Why a connection goes on.
enum Event {
    Room(Held),
    Crowded,
    Ready,
    Readable,
    Writable,
    Timer,
    Stop,
}

impl Connection {
    fn new(stream: TcpStream, peer: SocketAddr, listener: String, shared: &Shared) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        let broker = shared.broker.clone();
        let info = ConnectionInfo { peer, local: stream.local_addr()?, listener };
        let settings = broker.settings().typed();
        let (frame_max, idle_max) = (settings.request_bytes_max, settings.connection_idle_max.unwrap_or(FOR_EVER));
        Ok(Connection {
            stream,
            info,
            broker,
            inbox: BytesMut::new(),
            last_len: 0,
            room: shared.room.clone(),
            inflow: Inflow::Free,
            outbox: Outbox::default(),
            ended: false,
            progress: Instant::now(),
            frame_max,
            idle_max,
        })
    }

    async fn run(mut self, mut stopped: watch::Receiver<bool>) -> Result<(), Close> {
        let timer = tokio::time::sleep(self.idle_max);
        tokio::pin!(timer);
        let mut stopping = *stopped.borrow();
        loop {
            if let Err(error) = self.send() {
                return self.gone(&error);
            }
            // Answers that left made room for requests that have come already; no event will tell of them again.
            while !stopping && self.take_requests().await? > 0 {
                if let Err(error) = self.send() {
                    return self.gone(&error);
                }
            }
            if (self.ended || stopping) && self.outbox.is_empty() {
                return Ok(());
            }
            self.ask_for_room()?;
            if self.inbox.is_empty() {
                // Idle connections hold no buffer.
                self.inbox = BytesMut::new();
            }
            match self.next_event(&mut timer, &mut stopped, stopping).await? {
                Event::Room(held) => self.inflow = Inflow::Held(held),
                Event::Crowded => self.make_way()?,
                Event::Ready | Event::Writable => self.progress = Instant::now(),
                Event::Readable => {
                    if let Err(error) = self.read() {
                        return self.gone(&error);
                    }
                    if self.ended {
                        timer.as_mut().reset(Instant::now() + ENDED_WAIT_MAX);
                    }
                }
                Event::Timer if self.ended && self.outbox.is_making() => self.forget_long_poll(),
                Event::Timer if self.is_idle(&mut timer) => return Ok(()),
                Event::Timer => {}
                Event::Stop => {
                    stopping = true;
                    // A fetch that waits for records would hold up the shutdown; its client asks again elsewhere.
                    self.outbox.drop_making();
                }
            }
        }
    }

    /// The client sends no more, and most such clients are gone: nobody waits for records that may come some time.
    fn forget_long_poll(&mut self) {
        self.outbox.drop_making();
        // What stands behind it would be answered in its place.
        self.inbox.clear();
    }

    /// Clients that reset their connection instead of closing it are everyday guests.
    fn gone(&self, error: &io::Error) -> Result<(), Close> {
        tracing::debug!(peer = %self.info.peer, %error, "the client is gone");
        Ok(())
    }

    async fn next_event(
        &mut self,
        timer: &mut std::pin::Pin<&mut Sleep>,
        stopped: &mut watch::Receiver<bool>,
        stopping: bool,
    ) -> Result<Event, Close> {
        let may_read = !self.ended && !stopping && self.has_room();
        let has_bytes = self.outbox.has_bytes();
        let (asking, held) = match &mut self.inflow {
            Inflow::Free => (None, false),
            Inflow::Asking(asking) => (Some(asking), false),
            Inflow::Held(_) => (None, true),
        };
        let asks = asking.is_some();
        let may_read = may_read && !asks;
        tokio::select! {
            biased;
            ready = self.outbox.next_ready(&self.broker) => ready.map(|()| Event::Ready),
            writable = self.stream.writable(), if has_bytes => Ok(writable.map(|()| Event::Writable)?),
            readable = self.stream.readable(), if may_read => Ok(readable.map(|()| Event::Readable)?),
            held = async { asking.expect("the branch is off without it").await }, if asks => Ok(Event::Room(held)),
            () = self.room.crowded(), if held => Ok(Event::Crowded),
            () = timer => Ok(Event::Timer),
            _ = stopped.changed(), if !stopping => Ok(Event::Stop),
        }
    }

    /// Handles the frames that have come whole, as long as answers may queue up; tells how many.
    async fn take_requests(&mut self) -> Result<usize, Close> {
        let mut taken = 0;
        while self.may_take() {
            let Some(frame) = frame::split(&mut self.inbox, self.frame_max)? else { break };
            if self.broker.is_congested() {
                // The disk is behind: bringing more would only fill memory.
                self.broker.relieved().await.map_err(|error| Close::new(error.to_string()))?;
            }
            self.last_len = frame.len();
            self.inflow = Inflow::Free;
            let reply = api::handle(&self.broker, &self.info, frame);
            self.outbox.push(reply);
            taken += 1;
        }
        // Once for all the requests that came together: they go to the disk in one write.
        self.broker.kick();
        Ok(taken)
    }

    /// A client that does not read its answers brings no more requests in.
    fn may_take(&self) -> bool {
        let few = self.outbox.waiting() < IN_FLIGHT_MAX && self.outbox.ready_bytes() < READY_BYTES_MAX;
        few && !self.outbox.is_making() && !self.outbox.has_bytes()
    }

    /// While requests wait, the socket is still read, to see its end; but not for ever.
    fn has_room(&self) -> bool {
        self.may_take() || self.inbox.len() < READ_LEN
    }

    fn send(&mut self) -> io::Result<()> {
        self.outbox.take_ready(&self.broker);
        self.outbox.write(&self.stream)?;
        Ok(())
    }

    /// A large frame is read on only with room for it: see [`Room`].
    fn ask_for_room(&mut self) -> Result<(), Close> {
        if !matches!(self.inflow, Inflow::Free) {
            return Ok(());
        }
        let Some(len) = frame::unfinished(&self.inbox, self.frame_max)?.filter(|len| *len > FREE_BYTES) else {
            return Ok(());
        };
        self.inflow = match self.room.try_take(len) {
            Some(held) => Inflow::Held(held),
            None => Inflow::Asking(Box::pin(self.room.clone().take(len))),
        };
        Ok(())
    }

    /// Others wait for the room that this frame holds.
    fn make_way(&self) -> Result<(), Close> {
        match &self.inflow {
            Inflow::Held(held) if held.is_overdue() => Err(Close::new(format!(
                "a frame did not come whole within {} s while others waited for its room \
                 (queued.max.request.bytes); send smaller requests or faster",
                HELD_MAX.as_secs()
            ))),
            _ => Ok(()),
        }
    }

    /// How many bytes to make place for: the rest of the frame that has begun, or a frame like the last one.
    fn wanted(&self) -> usize {
        match frame::unfinished(&self.inbox, self.frame_max) {
            Ok(Some(len)) => (frame::LENGTH_LEN + len - self.inbox.len()).min(WHOLE_LEN.max(self.inbox.len())),
            _ if self.last_len > READ_LEN => (frame::LENGTH_LEN + self.last_len).min(WHOLE_LEN),
            _ if self.last_len == 0 => FIRST_READ_LEN,
            _ => READ_LEN,
        }
    }

    fn read(&mut self) -> io::Result<()> {
        self.inbox.reserve(self.wanted());
        match self.stream.try_read_buf(&mut self.inbox) {
            Ok(0) => self.ended = true,
            Ok(read) => {
                self.progress = Instant::now();
                metrics::all().bytes_in.add(read as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn is_idle(&self, timer: &mut std::pin::Pin<&mut Sleep>) -> bool {
        let until = self.progress + self.idle_max;
        if Instant::now() >= until && !self.outbox.is_making() {
            tracing::info!(peer = %self.info.peer, "connection closed: nothing came or went for connections.max.idle.ms");
            return true;
        }
        timer.as_mut().reset(until.max(Instant::now() + Duration::from_secs(1)));
        false
    }
}
