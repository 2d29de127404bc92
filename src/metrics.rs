//! Counters and gauges of the running broker; names are given here and nowhere else.
//!
//! `metrics::all().bytes_in.add(n)`: one set for the process, because a process is one broker. Nothing
//! blocks or orders anything: a reading is a fair picture, not a consistent one.

use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The metrics of this process.
pub fn all() -> &'static Metrics {
    static ALL: LazyLock<Metrics> = LazyLock::new(Metrics::default);
    &ALL
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Relaxed);
    }

    pub fn increment(&self) {
        self.add(1);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub fn set(&self, value: i64) {
        self.0.store(value, Relaxed);
    }

    pub fn add(&self, count: i64) {
        self.0.fetch_add(count, Relaxed);
    }

    pub fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }

    /// Adds `count` until the guard is dropped, on whatever way out.
    pub fn hold(&self, count: i64) -> Held<'_> {
        self.add(count);
        Held { gauge: self, count }
    }
}

/// See [`Gauge::hold`].
#[must_use = "dropping it takes the count back"]
pub struct Held<'a> {
    gauge: &'a Gauge,
    count: i64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.gauge.add(-self.count);
    }
}

/// How many values there were of each size, by powers of two: bucket n holds values below 2^n.
#[derive(Debug)]
pub struct Distribution {
    buckets: [AtomicU64; Distribution::NUM_BUCKETS],
    sum: AtomicU64,
    max: AtomicU64,
}

impl Distribution {
    /// The last bucket holds everything from 2^38 on.
    const NUM_BUCKETS: usize = 40;

    pub fn record(&self, value: u64) {
        let bucket = (64 - value.leading_zeros()) as usize;
        self.buckets[bucket.min(Distribution::NUM_BUCKETS - 1)].fetch_add(1, Relaxed);
        self.sum.fetch_add(value, Relaxed);
        self.max.fetch_max(value, Relaxed);
    }

    /// Records a time in microseconds.
    pub fn record_time(&self, time: Duration) {
        self.record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Relaxed)).sum()
    }

    pub fn sum(&self) -> u64 {
        self.sum.load(Relaxed)
    }

    pub fn max(&self) -> u64 {
        self.max.load(Relaxed)
    }

    /// A bound that at least `part` (0 to 1) of the values are below; at most twice the true one.
    pub fn below(&self, part: f64) -> u64 {
        let wanted = (self.count() as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count.load(Relaxed);
            if seen >= wanted {
                return (1 << bucket).min(self.max().saturating_add(1));
            }
        }
        self.max()
    }
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution {
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
        }
    }
}

/// A counter for each API key; keys out of range share the last one.
#[derive(Debug)]
pub struct PerApi([Counter; PerApi::NUM_KEYS]);

impl PerApi {
    const NUM_KEYS: usize = 128;

    pub fn of(&self, api_key: i16) -> &Counter {
        let key = usize::try_from(api_key).unwrap_or(PerApi::NUM_KEYS);
        &self.0[key.min(PerApi::NUM_KEYS - 1)]
    }
}

impl Default for PerApi {
    fn default() -> PerApi {
        PerApi(std::array::from_fn(|_| Counter::default()))
    }
}

/// Declares the struct and its rendering together, so that no metric is left out of the text.
macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $field:ident: $kind:ident = $name:literal,)+) => {
        /// Everything that is counted.
        #[derive(Debug, Default)]
        pub struct Metrics {
            $($(#[doc = $doc])+ pub $field: $kind,)+
        }

        impl Metrics {
            /// All metrics in Prometheus' text format; `api_name` names the API keys.
            pub fn render(&self, api_name: &dyn Fn(i16) -> Option<&'static str>) -> String {
                let mut text = String::new();
                $(
                    let _ = write!(text, concat!("# HELP ", $name, "{}\n"), concat!($($doc),+));
                    self.$field.render($name, api_name, &mut text);
                )+
                text
            }
        }
    };
}

metrics! {
    /// Connections that are open.
    connections: Gauge = "streamstack_connections",
    /// Connections that were taken.
    connections_taken: Counter = "streamstack_connections_taken_total",
    /// Connections closed at once because there were too many.
    connections_refused: Counter = "streamstack_connections_refused_total",
    /// Connections closed for a request that could not be decoded.
    connections_broken: Counter = "streamstack_connections_broken_total",
    /// Connections that ended in a panic; each ends only itself.
    connections_panicked: Counter = "streamstack_connections_panicked_total",
    /// Times that a connection could not be accepted, for want of file handles say.
    accept_errors: Counter = "streamstack_accept_errors_total",
    /// Bytes read from clients.
    bytes_in: Counter = "streamstack_bytes_in_total",
    /// Bytes written to clients.
    bytes_out: Counter = "streamstack_bytes_out_total",
    /// Requests by API.
    requests: PerApi = "streamstack_requests_total",
    /// Bytes of requests in work.
    request_bytes: Gauge = "streamstack_request_bytes",
    /// Replies that wait for durability or for an earlier reply of their connection.
    replies_waiting: Gauge = "streamstack_replies_waiting",
    /// Fetches that wait for records.
    fetches_waiting: Gauge = "streamstack_fetches_waiting",
    /// Reads that were made aside, since they might have waited for the disk.
    reads_aside: Counter = "streamstack_reads_aside_total",
    /// Reads of a partition refused because what is stored cannot be read or is damaged.
    read_errors: Counter = "streamstack_read_errors_total",
    /// Record batches appended.
    batches_appended: Counter = "streamstack_batches_appended_total",
    /// Records appended.
    records_appended: Counter = "streamstack_records_appended_total",
    /// Produce requests refused for want of disk space.
    produce_refused_space: Counter = "streamstack_produce_refused_space_total",
    /// Streams sealed into commits.
    streams_sealed: Counter = "streamstack_streams_sealed_total",
    /// Entries that wait for the next group.
    group_entries_waiting: Gauge = "streamstack_group_entries_waiting",
    /// Bytes that wait for the next group.
    group_bytes_waiting: Gauge = "streamstack_group_bytes_waiting",
    /// Entries in a group, one write and one sync of the journal.
    group_entries: Distribution = "streamstack_group_entries",
    /// Bytes in a group.
    group_bytes: Distribution = "streamstack_group_bytes",
    /// Microseconds to write a group to the journal and the segments.
    group_write_us: Distribution = "streamstack_group_write_us",
    /// Microseconds of a journal sync.
    sync_us: Distribution = "streamstack_sync_us",
    /// Microseconds of a checkpoint.
    checkpoint_us: Distribution = "streamstack_checkpoint_us",
    /// Times that the disk failed under the journal. Nothing is acknowledged after the first, and the process stops.
    journal_failures: Counter = "streamstack_journal_failures_total",
    /// Checkpoints that failed; the journal grows until one succeeds.
    checkpoint_failures: Counter = "streamstack_checkpoint_failures_total",
    /// Bytes of journal since the last checkpoint.
    journal_bytes: Gauge = "streamstack_journal_bytes",
    /// Bytes that may still be written to the data folder's disk.
    disk_free_bytes: Gauge = "streamstack_disk_free_bytes",
    /// Consumer groups that have members, or are about to.
    groups: Gauge = "streamstack_groups",
    /// Members of all consumer groups.
    group_members: Gauge = "streamstack_group_members",
    /// Requests to consumer groups that wait for other members.
    group_requests_waiting: Gauge = "streamstack_group_requests_waiting",
    /// Rebalances of consumer groups that were begun.
    group_rebalances: Counter = "streamstack_group_rebalances_total",
    /// Feeds that exist.
    feeds: Gauge = "streamstack_feeds",
}

/// One metric's lines.
trait Render {
    fn render(&self, name: &str, api_name: &dyn Fn(i16) -> Option<&'static str>, text: &mut String);
}

impl Render for Counter {
    fn render(&self, name: &str, _: &dyn Fn(i16) -> Option<&'static str>, text: &mut String) {
        let _ = write!(text, "# TYPE {name} counter\n{name} {}\n", self.get());
    }
}

impl Render for Gauge {
    fn render(&self, name: &str, _: &dyn Fn(i16) -> Option<&'static str>, text: &mut String) {
        let _ = write!(text, "# TYPE {name} gauge\n{name} {}\n", self.get());
    }
}

impl Render for PerApi {
    fn render(&self, name: &str, api_name: &dyn Fn(i16) -> Option<&'static str>, text: &mut String) {
        let _ = writeln!(text, "# TYPE {name} counter");
        for (key, counter) in (0i16..).zip(&self.0).filter(|(_, counter)| counter.get() > 0) {
            let api = api_name(key).map_or_else(|| key.to_string(), str::to_owned);
            let _ = writeln!(text, "{name}{{api=\"{api}\"}} {}", counter.get());
        }
    }
}

impl Render for Distribution {
    fn render(&self, name: &str, _: &dyn Fn(i16) -> Option<&'static str>, text: &mut String) {
        let _ = writeln!(text, "# TYPE {name} histogram");
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            let count = count.load(Relaxed);
            seen += count;
            if count > 0 && bucket < Distribution::NUM_BUCKETS - 1 {
                let _ = writeln!(text, "{name}_bucket{{le=\"{}\"}} {seen}", (1u64 << bucket) - 1);
            }
        }
        let _ = write!(text, "{name}_bucket{{le=\"+Inf\"}} {seen}\n{name}_sum {}\n{name}_count {seen}\n", self.sum());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_bounds_its_values() {
        let distribution = Distribution::default();
        assert_eq!(distribution.below(0.5), 1);
        for value in [0, 1, 3, 3, 900, u64::MAX] {
            distribution.record(value);
        }
        assert_eq!((distribution.count(), distribution.max()), (6, u64::MAX));
        assert_eq!(distribution.below(0.5), 4);
        assert_eq!(distribution.below(0.8), 1024);
    }

    #[test]
    fn a_held_gauge_goes_back() {
        let gauge = Gauge::default();
        let held = gauge.hold(3);
        assert_eq!(gauge.get(), 3);
        drop(held);
        assert_eq!(gauge.get(), 0);
    }

    #[test]
    fn the_text_has_every_metric() {
        let metrics = Metrics::default();
        metrics.bytes_in.add(7);
        metrics.requests.of(0).increment();
        metrics.requests.of(-5).increment();
        metrics.sync_us.record_time(Duration::from_micros(200));
        let text = metrics.render(&|key| (key == 0).then_some("Produce"));
        for line in [
            "# HELP streamstack_bytes_in_total Bytes read from clients.",
            "# TYPE streamstack_bytes_in_total counter",
            "streamstack_bytes_in_total 7",
            "streamstack_requests_total{api=\"Produce\"} 1",
            "streamstack_requests_total{api=\"127\"} 1",
            "streamstack_sync_us_bucket{le=\"255\"} 1",
            "streamstack_sync_us_count 1",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
