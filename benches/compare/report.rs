//! The results as a table for people or as JSON for programs.

use serde_json::{Value, json};

use crate::Fault;
use crate::contest::Standing;
use crate::options::Contestant;
use crate::sample::Sample;

pub fn print(standings: &[Standing], as_json: bool) -> Result<(), Fault> {
    if as_json {
        println!("{}", serde_json::to_string_pretty(&json(standings))?);
    } else {
        print_table(standings);
    }
    Ok(())
}

fn print_table(standings: &[Standing]) {
    println!(
        "{:26} {:18} {:>10} {:>8} {:>9} {:>9} {:>8} {:>7} | against kafka: {:>5} {:>6} {:>6} {:>6}",
        "workload",
        "broker",
        "requests/s",
        "MB/s",
        "p50 ms",
        "p99 ms",
        "cpu s/GB",
        "rss MB",
        "req/s",
        "p50",
        "p99",
        "cpu"
    );
    let num_workloads = standings.first().map_or(0, |standing| standing.workloads.len());
    for index in 0..num_workloads {
        let kafka = sample_of(standings, Contestant::Kafka, index);
        for standing in standings {
            print_line(standing, index, kafka);
        }
    }
    println!();
    for standing in standings {
        let mut starts = standing.start_ms.clone();
        starts.sort_unstable_by(f64::total_cmp);
        println!("{:18} first answer after {:.0} ms", standing.contestant.name(), starts[starts.len() / 2]);
    }
}

fn print_line(standing: &Standing, index: usize, kafka: Option<Sample>) {
    let (workload, samples) = &standing.workloads[index];
    let sample = Sample::median(samples);
    let ratios = match kafka {
        Some(kafka) if standing.contestant != Contestant::Kafka => format!(
            "{:>5} {:>6} {:>6} {:>6}",
            ratio(sample.requests_per_s, kafka.requests_per_s),
            ratio(sample.p50_ms, kafka.p50_ms),
            ratio(sample.p99_ms, kafka.p99_ms),
            ratio(sample.cpu_s_per_gb, kafka.cpu_s_per_gb),
        ),
        _ => String::new(),
    };
    println!(
        "{:26} {:18} {:>10.0} {:>8.1} {:>9.3} {:>9.3} {:>8.2} {:>7.0} |                {ratios}",
        workload.name,
        standing.contestant.name(),
        sample.requests_per_s,
        sample.mb_per_s,
        sample.p50_ms,
        sample.p99_ms,
        sample.cpu_s_per_gb,
        sample.resident_mb,
    );
}

fn sample_of(standings: &[Standing], contestant: Contestant, index: usize) -> Option<Sample> {
    let standing = standings.iter().find(|standing| standing.contestant == contestant)?;
    Some(Sample::median(&standing.workloads[index].1))
}

fn ratio(ours: f64, theirs: f64) -> String {
    format!("{:.2}", ours / theirs)
}

fn json(standings: &[Standing]) -> Value {
    standings
        .iter()
        .map(|standing| {
            let workloads: Vec<Value> = standing
                .workloads
                .iter()
                .map(|(workload, samples)| {
                    json!({ "workload": workload.name, "median": Sample::median(samples), "rounds": samples })
                })
                .collect();
            json!({ "broker": standing.contestant.name(), "start_ms": standing.start_ms, "workloads": workloads })
        })
        .collect()
}
