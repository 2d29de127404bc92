//! Many connections at a time, good and bad: what they cost, and how a good client fares beside them.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Fault;
use crate::broker::Broker;
use crate::load::{self, Aim, Shape};
use crate::options::{Contestant, Options};
use crate::process;
use crate::sample::Sample;
use crate::wire;

/// Bytes of a half frame that are sent; it claims 99 MiB.
const HALF_BYTES: usize = 256 << 10;

pub fn run(options: &Options, num_idle: usize) -> Result<(), Fault> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    let broker = Broker::start(Contestant::Fsync, options)?;
    let seconds = options.seconds();
    load::prepare(&broker.address, "good", 1)?;
    load::produce(&aim(&broker, "good", seconds), Shape::new(100, 1, 1))?;
    note("alone", &broker, good(&broker, seconds)?);

    let begin = Instant::now();
    let before = process::resident_mb(broker.pid);
    let idle = open(&broker, num_idle)?;
    println!("{num_idle} connections accepted in {:.1} s", begin.elapsed().as_secs_f64());
    note(&format!("{num_idle} idle connections"), &broker, good(&broker, seconds)?);
    println!("{:.1} KiB a connection", (process::resident_mb(broker.pid) - before) * 1024.0 / num_idle as f64);
    drop(idle);

    beside(&broker, seconds, "1000 busy connections", |broker, seconds| {
        let shape = Shape { connections: 1000, rate: Some(5000), ..Shape::new(100, 1, 1) };
        load::prepare(&broker.address, "busy", 1)?;
        Ok(load::produce(&aim(broker, "busy", seconds), shape)?.requests_per_s)
    })?;
    beside(&broker, seconds, "2000 at a byte a second", slow)?;

    let mut half = open(&broker, 2000)?;
    for stream in &mut half {
        stream.set_nonblocking(true)?;
        stream.write_all(&(99_i32 << 20).to_be_bytes())?;
        // What the broker does not read stays with the kernel; the rest is not sent.
        let _ = stream.write(&vec![0; HALF_BYTES]);
    }
    note("2000 half frames of 99 MiB", &broker, good(&broker, seconds)?);
    drop(half);

    let mut deaf = open(&broker, 200)?;
    let fetch = wire::fetch("good", 0, 50 << 20, 0).repeat(100);
    for stream in &mut deaf {
        stream.set_nonblocking(true)?;
        // As above: it asks on, and never reads.
        let _ = stream.write(&fetch);
    }
    note("200 that never read", &broker, good(&broker, seconds)?);
    drop(deaf);
    broker.stop()
}

fn open(broker: &Broker, num: usize) -> Result<Vec<TcpStream>, Fault> {
    (0..num).map(|_| Ok(TcpStream::connect(&broker.address)?)).collect()
}

/// The good client while `crowd` runs on another thread.
fn beside(
    broker: &Broker,
    seconds: f64,
    what: &str,
    crowd: impl FnOnce(&Broker, f64) -> Result<f64, Fault> + Send,
) -> Result<(), Fault> {
    std::thread::scope(|scope| {
        let running = scope.spawn(move || crowd(broker, seconds + 1.0).map_err(|fault| fault.to_string()));
        std::thread::sleep(Duration::from_millis(500));
        note(what, broker, good(broker, seconds)?);
        let rate = running.join().map_err(|_| "the crowd panicked")??;
        println!("   the crowd itself: {rate:.0} a second");
        Ok(())
    })
}

/// Connections that send a Metadata request byte by byte.
fn slow(broker: &Broker, seconds: f64) -> Result<f64, Fault> {
    let mut crowd = open(broker, 2000)?;
    let request = wire::metadata();
    let begin = Instant::now();
    for byte in request.chunks(1).cycle() {
        if begin.elapsed().as_secs_f64() > seconds {
            break;
        }
        for stream in &mut crowd {
            stream.write_all(byte)?;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(crowd.len() as f64)
}

fn good(broker: &Broker, seconds: f64) -> Result<Sample, Fault> {
    load::produce(&aim(broker, "good", seconds), Shape::new(100, 1, 1))
}

fn aim<'a>(broker: &'a Broker, topic: &'a str, seconds: f64) -> Aim<'a> {
    Aim { address: &broker.address, topic, pid: Some(broker.pid), seconds }
}

fn note(what: &str, broker: &Broker, sample: Sample) {
    println!(
        "{what:32} memory {:6.1} MB; a good client: {:6.0} requests/s, p50 {:.2} ms, p99 {:.2} ms",
        process::resident_mb(broker.pid),
        sample.requests_per_s,
        sample.p50_ms,
        sample.p99_ms
    );
}
