//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Compare StreamStack with the real Apache Kafka, or put one load on any broker.
#[derive(Parser)]
#[command(name = "compare", subcommand_negates_reqs = true)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// One short round: shows that everything runs, not how fast.
    #[arg(long)]
    pub quick: bool,
    /// Rounds (A B A B ...); the figures are the medians.
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    /// Only the workloads whose name contains this.
    #[arg(long)]
    pub only: Option<String>,
    /// Who takes part.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Contestant::Kafka, Contestant::Os, Contestant::Fsync])]
    pub brokers: Vec<Contestant>,
    /// Seconds for each workload (default 4, quick 1).
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Results as JSON instead of the table.
    #[arg(long)]
    pub json: bool,
    /// Where the brokers keep their data meanwhile: on a real disk, not in memory.
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    pub data: PathBuf,
    /// The StreamStack to measure, for instance one built before a change.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_streamstack"))]
    pub streamstack: PathBuf,
    /// The folder with kafka-server.sh and setup.sh.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/compat/kafka"))]
    pub kafka: PathBuf,
    /// Leaves the machine's memory as it is, instead of touching all of it first.
    #[arg(long)]
    pub cold_memory: bool,
    /// Given by `cargo bench`; says nothing here.
    #[arg(long, hide = true)]
    pub bench: bool,
}

impl Options {
    pub fn rounds(&self) -> usize {
        if self.quick { 1 } else { self.rounds.max(1) }
    }

    pub fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 1.0 } else { 4.0 })
    }
}

/// A broker with a way of running it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Contestant {
    /// Apache Kafka as it comes: no sync before the answer.
    Kafka,
    /// Apache Kafka with log.flush.interval.messages=1: a sync for every append.
    KafkaFlush,
    /// StreamStack with streamstack.durability=os: no sync before the answer.
    Os,
    /// StreamStack with streamstack.durability=fsync: synced before the answer.
    Fsync,
}

impl Contestant {
    pub fn name(self) -> &'static str {
        match self {
            Contestant::Kafka => "kafka",
            Contestant::KafkaFlush => "kafka, flushing",
            Contestant::Os => "streamstack os",
            Contestant::Fsync => "streamstack fsync",
        }
    }
}

/// One load on a broker that runs already; prints one line of key=value.
#[derive(Subcommand)]
pub enum Command {
    /// Produces the same batch again and again.
    RawProduce {
        #[command(flatten)]
        target: Target,
        /// Bytes of a record's value.
        #[arg(long, default_value_t = 100)]
        size: usize,
        /// Records in a request.
        #[arg(long, default_value_t = 100)]
        batch: usize,
        /// Requests in flight.
        #[arg(long, default_value_t = 5)]
        depth: usize,
        #[arg(long, default_value_t = 1)]
        connections: usize,
        /// Requests a second, over all connections; as fast as they are answered when not given.
        #[arg(long)]
        rate: Option<u32>,
    },
    /// Fetches a partition from the start, again and again.
    RawFetch {
        #[command(flatten)]
        target: Target,
        /// Bytes asked for at once.
        #[arg(long, default_value_t = 1 << 20)]
        max: i32,
    },
    /// End to end: one fetch waits at the end of the log while one record is produced.
    RawTail {
        #[command(flatten)]
        target: Target,
        /// Bytes of the record's value.
        #[arg(long, default_value_t = 100)]
        size: usize,
    },
    /// Starts, stops and kills of a broker with many topics and with much data: how long, and how much memory.
    Lives {
        /// Topics to make.
        #[arg(long, default_value_t = 5000)]
        topics: usize,
        /// MB to produce before a kill.
        #[arg(long, default_value_t = 2000)]
        megabytes: u64,
    },
    /// What only StreamStack has: the feed read beside the plain topic, a long history of commits, many idle feeds, seals.
    Feeds {
        /// Commits of the long history.
        #[arg(long, default_value_t = 100_000)]
        commits: usize,
        /// Idle feeds.
        #[arg(long, default_value_t = 10_000)]
        feeds: usize,
    },
    /// Consumer groups: committing positions, joining, and groups that do nothing.
    Groups,
    /// Transactions, one after another by 1, 4 and 16 producers.
    Transactions,
    /// Transactions that stay open: for a day of polls, over a thousand partitions, and a hundred thousand at a time.
    Open {
        /// Streams that are open at once; for StreamStack alone.
        #[arg(long, default_value_t = 100_000)]
        streams: usize,
        /// Polls of the day.
        #[arg(long, default_value_t = 480)]
        polls: usize,
        /// What stands for the time from one poll to the next.
        #[arg(long, default_value_t = 50)]
        pause_ms: u64,
    },
    /// Views in a mode: how fast they are read, beside the plain topic and a client that reads all of it and filters; how soon
    /// the first record comes; how fast the index is built, and what keeping it up takes from producing. With Kafka among the
    /// brokers, `..latest` beside its compacted topic.
    Views {
        /// The histories of so many records alone.
        #[arg(long)]
        records: Option<u64>,
        /// No history of more records.
        #[arg(long, default_value_t = 10_000_000)]
        largest: u64,
    },
    /// Many connections, good and bad ones: the broker's memory, and how a good client fares beside them.
    Crowds {
        /// Idle connections.
        #[arg(long, default_value_t = 10_000)]
        idle: usize,
    },
    /// Waits for the first Metadata answer that names a broker.
    Ready {
        #[arg(long, default_value = "127.0.0.1:9092")]
        addr: String,
    },
    /// A plain TCP round trip on the loopback, no broker: the floor of every latency here.
    Echo {
        /// Bytes each way.
        #[arg(long, default_value_t = 64)]
        size: usize,
        /// Seconds.
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
    },
}

/// Which broker, which topic, how long.
#[derive(Args)]
pub struct Target {
    #[arg(long, default_value = "127.0.0.1:9092")]
    pub addr: String,
    /// Made when missing.
    #[arg(long, default_value = "compare")]
    pub topic: String,
    #[arg(long, default_value_t = 1)]
    pub partitions: i32,
    #[arg(long, default_value_t = 4.0)]
    pub seconds: f64,
    /// The broker's process, for its CPU seconds.
    #[arg(long)]
    pub pid: Option<u32>,
}
