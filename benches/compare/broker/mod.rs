//! A broker that runs for the measurement: in a process of its own, on a free port, on empty data, gone afterwards.

mod kafka;
mod streamstack;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Fault;
use crate::load;
use crate::options::{Contestant, Options};

/// A running broker. Stopped, and its data removed, when dropped.
pub struct Broker {
    pub address: String,
    pub pid: u32,
    stopper: Stopper,
    folder: tempfile::TempDir,
    settings: &'static [&'static str],
}

enum Stopper {
    Kafka(kafka::Server),
    StreamStack(streamstack::Server),
}

impl Broker {
    /// Starts it and waits until it answers.
    pub fn start(contestant: Contestant, options: &Options) -> Result<Broker, Fault> {
        Broker::start_with(contestant, options, &[])
    }

    /// The same with these settings, `name=value`.
    pub fn start_with(
        contestant: Contestant,
        options: &Options,
        settings: &'static [&'static str],
    ) -> Result<Broker, Fault> {
        std::fs::create_dir_all(&options.data)?;
        let folder = tempfile::Builder::new().prefix("compare-").tempdir_in(&options.data)?;
        let port = free_port()?;
        let stopper = start(contestant, options, folder.path(), port, settings)?;
        let pid = stopper.pid();
        let broker = Broker { address: format!("127.0.0.1:{port}"), pid, stopper, folder, settings };
        match load::ready(&broker.address) {
            Ok(_) => Ok(broker),
            Err(fault) => Err(format!("{}: {fault}\n{}", contestant.name(), log(broker.folder.path())).into()),
        }
    }

    /// Ends the process, at once or in order, and starts it again on the same data; gives how long the start took, from
    /// the new process to its first answer.
    pub fn restart(&mut self, how: Ending, contestant: Contestant, options: &Options) -> Result<Duration, Fault> {
        self.stopper.end(how)?;
        let begin = Instant::now();
        let port = self.address.rsplit(':').next().unwrap_or_default().parse()?;
        self.stopper = start(contestant, options, self.folder.path(), port, self.settings)?;
        self.pid = self.stopper.pid();
        load::ready(&self.address)?;
        Ok(begin.elapsed())
    }

    /// Bytes of the newest file in a folder of its data.
    pub fn newest_bytes(&self, folder: &str) -> Result<u64, Fault> {
        let files = std::fs::read_dir(data_folder(self.folder.path()).join(folder))?;
        let named = files.map(|file| Ok::<_, Fault>((file.as_ref().map_err(|e| e.to_string())?.file_name(), file?)));
        let files: Vec<_> = named.collect::<Result<_, _>>()?;
        let newest = files.iter().max_by_key(|(name, _)| name.clone()).ok_or("there is no file")?;
        Ok(newest.1.metadata()?.len())
    }

    /// Ends the process, then removes its data.
    pub fn stop(self) -> Result<(), Fault> {
        drop(self.stopper);
        Ok(self.folder.close()?)
    }
}

/// How a broker ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// SIGTERM, and it takes its time.
    Stop,
    /// SIGKILL.
    Kill,
}

impl Stopper {
    fn end(&mut self, how: Ending) -> Result<(), Fault> {
        match self {
            Stopper::Kafka(server) => server.end(how),
            Stopper::StreamStack(server) => server.end(how),
        }
    }

    fn pid(&self) -> u32 {
        match self {
            Stopper::Kafka(server) => server.pid,
            Stopper::StreamStack(server) => server.pid(),
        }
    }
}

fn start(
    contestant: Contestant,
    options: &Options,
    folder: &Path,
    port: u16,
    settings: &[&str],
) -> Result<Stopper, Fault> {
    let kafka = |own: &[&str]| {
        let settings: Vec<&str> = own.iter().chain(settings).copied().collect();
        kafka::Server::start(&options.kafka, folder, port, &settings).map(Stopper::Kafka)
    };
    let streamstack = |durability: &str| {
        let durability = format!("streamstack.durability={durability}");
        let settings: Vec<&str> = [durability.as_str()].iter().chain(settings).copied().collect();
        streamstack::Server::start(&options.streamstack, folder, port, &settings).map(Stopper::StreamStack)
    };
    match contestant {
        Contestant::Kafka => kafka(&[]),
        Contestant::KafkaFlush => kafka(&["log.flush.interval.messages=1"]),
        Contestant::Os => streamstack("os"),
        Contestant::Fsync => streamstack("fsync"),
    }
}

/// A port that was free a moment ago, with the next one free too (Kafka's controller takes it).
fn free_port() -> Result<u16, Fault> {
    loop {
        let first = TcpListener::bind("127.0.0.1:0")?;
        let port = first.local_addr()?.port();
        if port < u16::MAX && TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return Ok(port);
        }
    }
}

/// What a broker said, if it was kept.
fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join(streamstack::LOG_NAME)).unwrap_or_default()
}

/// Where a broker's data lies in its folder.
fn data_folder(folder: &Path) -> PathBuf {
    folder.join("data")
}
