//! A panic ends its connection or the broker, and leaves nobody waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use streamstack::cli::runtime;
use streamstack::disk::{FaultyDisk, ManualClock, Op};
use streamstack::metrics;

use super::broker::{START_MS, serve};
use super::peer::Peer;
use super::requests::*;
use super::watched_disk::{Gate, WatchedDisk};

const KAFKA_STORAGE_ERROR: i16 = 56;

/// Serves on a disk that panics in the nth operation of a kind once it is armed, and holds the first until it may go on.
fn check(op: Op, durability: &str, check: impl Fn(&dyn Fn() -> Peer, &Trap)) {
    let trap = Trap::default();
    let sprung = trap.clone();
    let disk = WatchedDisk::new(Arc::new(FaultyDisk::new()), move |happening| {
        if happening != op || sprung.left.load(Ordering::Acquire) == 0 {
            return;
        }
        sprung.reached.open();
        sprung.held.pass();
        if sprung.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            panic!("a panic of the test, in {op:?}");
        }
    });
    let runtime = runtime().unwrap();
    let overrides = vec![format!("streamstack.durability={durability}")];
    let server = serve(&runtime, disk, Arc::new(ManualClock::new(START_MS)), &overrides);
    let address = server.addresses()[0].to_string();
    Peer::connect(&address).create_topic("orders", 1, &[]);
    Peer::connect(&address).produced("orders", 0, batch(&["before"]));
    check(&|| Peer::connect(&address), &trap);
    // It ends, well or not: nothing hangs.
    let _ = runtime.block_on(server.shut_down());
}

#[derive(Clone, Default)]
struct Trap {
    left: Arc<AtomicU32>,
    reached: Gate,
    held: Gate,
}

impl Trap {
    fn arm(&self, nth: u32) {
        self.reached.close();
        self.left.store(nth, Ordering::Release);
    }
}

#[test]
fn a_panic_in_a_read_ends_its_connection_alone_and_is_counted() {
    check(Op::Read, "fsync", |connect, trap| {
        let mut bystander = connect();
        let before = metrics::all().connections_panicked.get();
        trap.arm(1);
        let mut victim = connect();
        victim.send(FETCH, &fetch("orders", 0, 0, 0, 1 << 20));
        assert!(victim.is_closed());
        assert_eq!(bystander.values("orders", 0), ["before"]);
        bystander.produced("orders", 0, batch(&["after"]));
        assert_eq!(connect().values("orders", 0), ["before", "after"]);
        // It is counted right after its connection is closed.
        let counted = || metrics::all().connections_panicked.get() > before;
        assert!((0..500).any(|_| counted() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }));
    });
}

#[test]
fn a_panic_in_a_write_stops_the_broker_and_leaves_nobody_waiting() {
    // The first group is written by one; two others join the second. The panic is in this or that write of either.
    let cases = [(Op::Write, "os", 4), (Op::Write, "fsync", 4), (Op::Sync, "fsync", 2)];
    for (op, durability, nth) in cases.into_iter().flat_map(|(op, mode, max)| (1..=max).map(move |nth| (op, mode, nth)))
    {
        check(op, durability, |connect, trap| {
            let mut peers = [connect(), connect(), connect()];
            trap.held.close();
            trap.arm(nth);
            for (peer, n) in peers.iter_mut().zip(0..) {
                peer.send(PRODUCE, &produce("orders", vec![(0, batch(&[&n.to_string()]))]));
                trap.reached.pass();
                // Answered once all requests before it were decided on. In os mode the held write holds an async worker.
                if durability == "fsync" {
                    connect().list_offsets("orders", 0, -1);
                }
            }
            trap.held.open();
            let ended: Vec<bool> = peers.iter_mut().map(|peer| peer.is_closed()).collect();
            assert!(ended.iter().any(|ended| *ended), "{op:?} {nth}, {durability}: {ended:?}");
            let later = produce("orders", vec![(0, batch(&["later"]))]);
            // The first one may be what finds the panic out, and is then closed as well.
            let answer = connect().try_ask(PRODUCE, &later).unwrap_or_else(|| connect().ask(PRODUCE, &later));
            let code = answer.responses[0].partition_responses[0].error_code;
            assert_eq!(code, KAFKA_STORAGE_ERROR, "{op:?} {nth}, {durability}: {answer:?}");
            assert_eq!(connect().values("orders", 0)[0], "before", "{op:?} {nth}, {durability}");
        });
    }
}
