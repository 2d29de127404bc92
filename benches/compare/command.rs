//! One load on a broker that runs already.

use crate::Fault;
use crate::load::{self, Aim, Shape};
use crate::options::{Command, Target};
use crate::sample::Sample;

pub fn run(command: &Command) -> Result<(), Fault> {
    match command {
        Command::RawProduce { target, size, batch, depth, connections, rate } => {
            let shape = Shape {
                connections: *connections,
                partitions: target.partitions,
                rate: *rate,
                ..Shape::new(*size, *batch, *depth)
            };
            print("raw-produce", load::produce(&prepared(target)?, shape)?);
        }
        Command::RawFetch { target, max } => print("raw-fetch", load::fetch(&aim(target), *max)?),
        Command::RawTail { target, size } => print("raw-tail", load::tail(&prepared(target)?, *size)?),
        Command::Lives { .. }
        | Command::Feeds { .. }
        | Command::Groups
        | Command::Transactions
        | Command::Open { .. }
        | Command::Crowds { .. }
        | Command::Views { .. } => {}
        Command::Ready { addr } => println!("ready ms={:.1}", load::ready(addr)?.as_secs_f64() * 1e3),
        Command::Echo { size, seconds } => print("echo", load::echo(*size, *seconds)?),
    }
    Ok(())
}

fn aim(target: &Target) -> Aim<'_> {
    Aim { address: &target.addr, topic: &target.topic, pid: target.pid, seconds: target.seconds }
}

fn prepared(target: &Target) -> Result<Aim<'_>, Fault> {
    load::prepare(&target.addr, &target.topic, target.partitions)?;
    Ok(aim(target))
}

fn print(name: &str, sample: Sample) {
    println!(
        "{name} req_s={:.0} MB_s={:.1} p50_ms={:.3} p99_ms={:.3} cpu_s_per_GB={:.2} cpu_us_per_req={:.1} rss_MB={:.0}",
        sample.requests_per_s,
        sample.mb_per_s,
        sample.p50_ms,
        sample.p99_ms,
        sample.cpu_s_per_gb,
        sample.cpu_us_per_request,
        sample.resident_mb,
    );
}
