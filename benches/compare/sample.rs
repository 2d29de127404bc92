//! One measurement: what moved in how long, each request's latency, and what the broker's process used for it.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::process;

/// Counts while a load runs.
pub struct Meter {
    pid: Option<u32>,
    cpu_before: f64,
    start: Instant,
    limit: Duration,
    requests: u64,
    bytes: u64,
    latencies: Vec<Duration>,
}

/// The figures of one measurement.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sample {
    pub requests_per_s: f64,
    pub mb_per_s: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Broker CPU seconds for a GB of record values (produce) or of batches (fetch).
    pub cpu_s_per_gb: f64,
    pub cpu_us_per_request: f64,
    pub resident_mb: f64,
}

impl Meter {
    pub fn start(pid: Option<u32>, seconds: f64) -> Meter {
        Meter {
            pid,
            cpu_before: pid.map_or(0.0, process::cpu_seconds),
            start: Instant::now(),
            limit: Duration::from_secs_f64(seconds),
            requests: 0,
            bytes: 0,
            latencies: Vec::new(),
        }
    }

    /// Counts beside this one; to be merged into it.
    pub fn part(&self) -> Meter {
        Meter { latencies: Vec::new(), requests: 0, bytes: 0, ..*self }
    }

    /// Takes in what a part counted.
    pub fn merge(&mut self, part: Meter) {
        self.requests += part.requests;
        self.bytes += part.bytes;
        self.latencies.extend(part.latencies);
    }

    /// When it will be over.
    pub fn end(&self) -> Instant {
        self.start + self.limit
    }

    pub fn is_over(&self) -> bool {
        self.start.elapsed() >= self.limit
    }

    pub fn count(&mut self, latency: Duration, bytes: usize) {
        self.requests += 1;
        self.bytes += bytes as u64;
        self.latencies.push(latency);
    }

    pub fn finish(mut self) -> Sample {
        let seconds = self.start.elapsed().as_secs_f64();
        let cpu = self.pid.map_or(0.0, process::cpu_seconds) - self.cpu_before;
        self.latencies.sort_unstable();
        Sample {
            requests_per_s: self.requests as f64 / seconds,
            mb_per_s: self.bytes as f64 / 1e6 / seconds,
            p50_ms: quantile_ms(&self.latencies, 0.50),
            p99_ms: quantile_ms(&self.latencies, 0.99),
            cpu_s_per_gb: cpu / (self.bytes as f64 / 1e9),
            cpu_us_per_request: cpu * 1e6 / self.requests as f64,
            resident_mb: self.pid.map_or(0.0, process::resident_mb),
        }
    }
}

impl Sample {
    /// The median of each figure.
    pub fn median(samples: &[Sample]) -> Sample {
        let of = |figure: fn(&Sample) -> f64| median(samples.iter().map(figure).collect());
        Sample {
            requests_per_s: of(|s| s.requests_per_s),
            mb_per_s: of(|s| s.mb_per_s),
            p50_ms: of(|s| s.p50_ms),
            p99_ms: of(|s| s.p99_ms),
            cpu_s_per_gb: of(|s| s.cpu_s_per_gb),
            cpu_us_per_request: of(|s| s.cpu_us_per_request),
            resident_mb: of(|s| s.resident_mb),
        }
    }
}

fn quantile_ms(sorted: &[Duration], share: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * share) as usize;
    sorted.get(at).map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}
