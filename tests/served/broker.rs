//! A broker in this process, behind real sockets, on a disk that fails or waits when told and a clock that stands still.

use std::sync::Arc;

use streamstack::broker::Broker;
use streamstack::cli::runtime;
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{Disk, FaultyDisk, ManualClock, Op};
use streamstack::server::{Server, ServerError};
use tokio::runtime::Runtime;

use super::peer::Peer;
use super::watched_disk::{Gate, WatchedDisk};

pub const START_MS: i64 = 1_767_225_600_000;

pub struct Served {
    pub disk: FaultyDisk,
    pub clock: Arc<ManualClock>,
    /// Syncs wait while it is closed.
    pub syncs: Gate,
    /// Reads wait while it is closed.
    pub reads: Gate,
    overrides: Vec<String>,
    runtime: Runtime,
    server: Option<Server>,
}

impl Served {
    pub fn start() -> Served {
        Served::with(&[])
    }

    /// With configs `key=value` beside the defaults.
    pub fn with(overrides: &[&str]) -> Served {
        // Small, for all files lie in memory.
        let small = ["streamstack.journal.file.bytes=1048576"];
        let overrides = small.iter().chain(overrides).map(|text| (*text).to_owned()).collect();
        let (disk, clock) = (FaultyDisk::new(), Arc::new(ManualClock::new(START_MS)));
        let (syncs, reads, runtime) = (Gate::default(), Gate::default(), runtime().unwrap());
        let mut served = Served { disk, clock, syncs, reads, overrides, runtime, server: None };
        served.open();
        served
    }

    fn open(&mut self) {
        let (syncs, reads) = (self.syncs.clone(), self.reads.clone());
        let disk = WatchedDisk::new(Arc::new(self.disk.clone()), move |op| match op {
            Op::Sync => syncs.pass(),
            Op::Read => reads.pass(),
            _ => {}
        });
        self.server = Some(serve(&self.runtime, disk, self.clock.clone(), &self.overrides));
    }

    pub fn address(&self) -> String {
        self.server.as_ref().unwrap().addresses()[0].to_string()
    }

    pub fn connect(&self) -> Peer {
        Peer::connect(&self.address())
    }

    /// Stops in order and starts again.
    pub fn restart(&mut self) {
        self.stop().unwrap();
        self.open();
    }

    /// The process dies, what it wrote stays, and another one starts on it.
    pub fn kill(&mut self) {
        let image = self.disk.kill_image();
        // What the dying process still does reaches no disk that counts.
        let _ = self.stop();
        self.disk = image;
        self.open();
    }

    pub fn stop(&mut self) -> Result<(), ServerError> {
        self.server.take().map_or(Ok(()), |server| self.runtime.block_on(server.shut_down()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.syncs.open();
        self.reads.open();
        // A test that failed has said more already.
        let _ = self.stop();
    }
}

/// A server on a free port and any disk.
pub fn serve(runtime: &Runtime, disk: Arc<dyn Disk>, clock: Arc<ManualClock>, overrides: &[String]) -> Server {
    let mut overrides = overrides.to_vec();
    overrides.extend(["log.dirs=/data".to_owned(), "listeners=PLAINTEXT://127.0.0.1:0".to_owned()]);
    let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
    let listeners = config.settings.listeners.clone();
    runtime.block_on(async {
        let broker = Broker::open(disk, clock, config).unwrap();
        Server::start(broker, &listeners).await.unwrap()
    })
}
