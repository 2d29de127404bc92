//! Consumer groups: committing positions, from joining to the assignment, and what groups cost that do nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Fault;
use crate::broker::Broker;
use crate::figure::{self, Figure};
use crate::load::{self, each, median};
use crate::options::{Contestant, Options};
use crate::process;
use crate::sample::{Meter, Sample};
use crate::wire::{self, Connection, Joined, Membership};

/// Nobody waits for more members, so that what is measured is work.
const AT_ONCE: &[&str] = &["group.initial.rebalance.delay.ms=0"];

const TOPIC: &str = "grouped";
const PARTITIONS: i32 = 6;
const SIZES: [usize; 3] = [1, 50, 200];
const NUM_IDLE: usize = 1_000;
const HEARTBEAT: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);

const COORDINATOR_NOT_YET: [i16; 3] = [14, 15, 16];
const REJOIN: [i16; 3] = [22, 25, 27];

pub fn run(options: &Options) -> Result<(), Fault> {
    let mut all: Vec<(Contestant, Vec<Figure>)> = Vec::new();
    for &contestant in &options.brokers {
        eprintln!("{}", contestant.name());
        let broker = Broker::start_with(contestant, options, AT_ONCE)?;
        load::prepare(&broker.address, TOPIC, PARTITIONS)?;
        let mut figures = Vec::new();
        commits(&broker, options, &mut figures)?;
        joins(&broker, options, &mut figures)?;
        idle(&broker, options.seconds().max(2.0 * HEARTBEAT.as_secs_f64()), &mut figures)?;
        broker.stop()?;
        all.push((contestant, figures));
    }
    figure::print(&all);
    Ok(())
}

/// Positions committed by clients that are no members: one at a time, and by 16 at once.
fn commits(broker: &Broker, options: &Options, figures: &mut Vec<Figure>) -> Result<(), Fault> {
    // Warms it up, and waits until the group has its coordinator.
    commit(broker, options.seconds() / 2.0, 16)?;
    let alone = median(options, || commit(broker, options.seconds(), 1))?;
    let many = median(options, || commit(broker, options.seconds(), 16))?;
    figures.push(Figure { what: "OffsetCommit, one at a time, p50, ms".into(), value: alone.p50_ms, rate: false });
    figures.push(Figure {
        what: "OffsetCommit, 16 at a time, a second".into(),
        value: many.requests_per_s,
        rate: true,
    });
    figures.push(Figure { what: "OffsetCommit, 16 at a time, p99, ms".into(), value: many.p99_ms, rate: false });
    figures.push(Figure { what: "OffsetCommit, cpu us each".into(), value: many.cpu_us_per_request, rate: false });
    Ok(())
}

fn commit(broker: &Broker, seconds: f64, connections: usize) -> Result<Sample, Fault> {
    let mut meter = Meter::start(Some(broker.pid), seconds);
    let parts = each(connections, |number| {
        let (mut part, group) = (meter.part(), format!("committing-{number}"));
        let mut connection = coordinator(&broker.address, &group)?;
        let mut offset = 0;
        while !part.is_over() {
            let request = wire::offset_commit(&group, TOPIC, offset as i32 % PARTITIONS, offset);
            let sent = Instant::now();
            let code = wire::committed(connection.ask(&request)?, TOPIC)?;
            if COORDINATOR_NOT_YET.contains(&code) {
                thread::sleep(Duration::from_millis(50));
                continue;
            }
            wire::accepted("OffsetCommit", code)?;
            part.count(sent.elapsed(), request.len());
            offset += 1;
        }
        Ok(part)
    })?;
    parts.into_iter().for_each(|part| meter.merge(part));
    Ok(meter.finish())
}

/// From the first JoinGroup until all members have their assignment in one generation.
fn joins(broker: &Broker, options: &Options, figures: &mut Vec<Figure>) -> Result<(), Fault> {
    for size in SIZES {
        let mut times = Vec::new();
        for round in 0..options.rounds() {
            times.push(join(broker, &format!("joining-{size}-{round}"), size)?);
        }
        times.sort_unstable_by(f64::total_cmp);
        let what = format!("{size} members joined and assigned, ms");
        figures.push(Figure { what, value: times[times.len() / 2], rate: false });
    }
    Ok(())
}

fn join(broker: &Broker, group: &str, size: usize) -> Result<f64, Fault> {
    drop(coordinator(&broker.address, group)?);
    let stopped = AtomicBool::new(false);
    let begin = Instant::now();
    let ends = each(size, |_| {
        let ended = follow(&broker.address, group, size, &stopped);
        if ended.is_err() {
            stopped.store(true, Ordering::Release);
        }
        ended
    })?;
    let last = ends.into_iter().max().ok_or("a group has a member")?;
    Ok((last - begin).as_secs_f64() * 1e3)
}

/// Joins until a generation has all members; gives when this one was assigned in it.
fn follow(address: &str, group: &str, size: usize, stopped: &AtomicBool) -> Result<Instant, Fault> {
    let mut connection = Connection::open(address)?;
    let mut member = String::new();
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE && !stopped.load(Ordering::Acquire) {
        let Some(joined) = enter(&mut connection, group, &mut member)? else { continue };
        if joined.num_assigned == size as u32 {
            return Ok(Instant::now());
        }
        loop {
            let code = wire::code(connection.ask(&wire::heartbeat(group, joined.generation, &member))?)?;
            if REJOIN.contains(&code) {
                break;
            }
            wire::accepted("Heartbeat", code)?;
            thread::sleep(Duration::from_millis(5));
        }
    }
    Err(format!("{group}: no generation of all {size} members after {} s", begin.elapsed().as_secs()).into())
}

struct Entered {
    generation: i32,
    /// As the leader told all members.
    num_assigned: u32,
}

/// JoinGroup and SyncGroup; none: the group goes on to another generation meanwhile.
fn enter(connection: &mut Connection, group: &str, member: &mut String) -> Result<Option<Entered>, Fault> {
    let Joined { code, generation, leads, member: given, members } =
        wire::joined(connection.ask(&wire::join_group(group, member))?)?;
    if REJOIN.contains(&code) || COORDINATOR_NOT_YET.contains(&code) {
        return Ok(None);
    }
    wire::accepted("JoinGroup", code)?;
    *member = given;
    let assignment = (members.len() as u32).to_be_bytes();
    let assigned: &[String] = if leads { &members } else { &[] };
    let of = Membership { group, generation, member };
    let (code, own) = wire::synced(connection.ask(&wire::sync_group(&of, assigned, &assignment))?)?;
    if REJOIN.contains(&code) {
        return Ok(None);
    }
    wire::accepted("SyncGroup", code)?;
    let own = own.try_into().map_err(|own: Vec<u8>| format!("{group}: an assignment of {} bytes", own.len()))?;
    Ok(Some(Entered { generation, num_assigned: u32::from_be_bytes(own) }))
}

/// Groups of one member each that only sends its heartbeats.
fn idle(broker: &Broker, seconds: f64, figures: &mut Vec<Figure>) -> Result<(), Fault> {
    let before = process::resident_mb(broker.pid);
    let mut connection = Connection::open(&broker.address)?;
    let mut heartbeats = Vec::new();
    for number in 0..NUM_IDLE {
        let (group, mut member) = (format!("idle-{number}"), String::new());
        let entered = enter(&mut connection, &group, &mut member)?.ok_or("a group of one was rebalanced")?;
        heartbeats.push(wire::heartbeat(&group, entered.generation, &member));
    }
    let grown = process::resident_mb(broker.pid) - before;
    let (begin, cpu) = (Instant::now(), process::cpu_seconds(broker.pid));
    let pause = HEARTBEAT / NUM_IDLE as u32;
    let mut due = begin;
    for heartbeat in heartbeats.iter().cycle() {
        if begin.elapsed().as_secs_f64() > seconds {
            break;
        }
        thread::sleep(due.saturating_duration_since(Instant::now()));
        wire::accepted("Heartbeat", wire::code(connection.ask(heartbeat)?)?)?;
        due += pause;
    }
    let share = (process::cpu_seconds(broker.pid) - cpu) / begin.elapsed().as_secs_f64() * 100.0;
    figures.push(Figure { what: format!("{NUM_IDLE} idle groups, MB more"), value: grown, rate: false });
    figures.push(Figure { what: format!("{NUM_IDLE} idle groups, % of a core"), value: share, rate: false });
    Ok(())
}

/// A connection, once the group has its coordinator: Kafka makes a topic for that first.
fn coordinator(address: &str, group: &str) -> Result<Connection, Fault> {
    let mut connection = Connection::open(address)?;
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let code = wire::found_coordinator(connection.ask(&wire::find_coordinator(group))?)?;
        if !COORDINATOR_NOT_YET.contains(&code) {
            wire::accepted("FindCoordinator", code)?;
            return Ok(connection);
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{group}: no coordinator after {} s", PATIENCE.as_secs()).into())
}
