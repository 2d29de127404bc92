//! Signals, pauses and clocks.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::broker::Start;
use super::ledger::{Ended, Ledger, TOPIC};
use super::tools::{self, Strace};

/// The longer of the pauses, in seconds; `PAUSE_SECONDS` makes it the minute of a machine that is moved.
const PAUSE_SECONDS: u64 = 8;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

#[test]
fn sigterm_under_load_answers_what_it_took_and_ends_well_and_soon() {
    for round in 0..5 {
        let folder = folder();
        let mut broker = Start::at(folder.path()).serving();
        let mut ledger = Ledger::open(&mut broker.connect());
        let address = broker.address.clone();
        thread::scope(|scope| {
            let writing = scope.spawn(|| ledger.write(&address, usize::MAX));
            thread::sleep(Duration::from_millis(100 + round * 50));
            let asked = Instant::now();
            tools::signal(broker.pid(), Signal::TERM);
            assert_eq!(broker.wait().code(), Some(0), "{}", broker.log());
            assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
            assert!(matches!(writing.join().unwrap(), Ended::Cut));
        });
        let broker = Start::at(folder.path()).serving();
        ledger.heals(&broker.address);
    }
}

#[test]
fn a_second_sigterm_ends_at_once_and_loses_nothing_acknowledged() {
    if !tools::strace() {
        return;
    }
    let folder = folder();
    let mut broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    ledger.write(&broker.address, 50);
    let address = broker.address.clone();
    thread::scope(|scope| {
        let strace = Strace::attach(broker.pid(), &["fdatasync:delay_enter=4000000"]);
        let writing = scope.spawn(|| ledger.write(&address, usize::MAX));
        thread::sleep(Duration::from_millis(300));
        tools::signal(broker.pid(), Signal::TERM);
        while !broker.log().contains("stops at once") {
            thread::sleep(Duration::from_millis(10));
        }
        // The same signal delivered twice.
        tools::signal(broker.pid(), Signal::TERM);
        tools::signal(broker.pid(), Signal::INT);
        thread::sleep(Duration::from_millis(1_100));
        assert!(!broker.has_ended(), "{}", broker.log());
        let asked = Instant::now();
        tools::signal(broker.pid(), Signal::TERM);
        // Its syscall under way is still held up by the tracer; let go, it may end.
        broker.assert_told(&["stopping"]);
        drop(strace);
        let status = broker.wait();
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
        assert_eq!(status.code(), Some(1), "{}", broker.log());
        assert!(matches!(writing.join().unwrap(), Ended::Cut));
    });
    let broker = Start::at(folder.path()).serving();
    ledger.heals(&broker.address);
}

#[test]
fn a_process_that_was_stopped_goes_on_with_its_connections() {
    let folder = folder();
    let broker = Start::at(folder.path()).serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    let on = AtomicBool::new(true);
    let long = std::env::var("PAUSE_SECONDS").map_or(PAUSE_SECONDS, |text| text.parse().expect("a number of seconds"));
    thread::scope(|scope| {
        let writing = scope.spawn(|| ledger.write_while(&broker.address, &on));
        for seconds in [3, long] {
            thread::sleep(Duration::from_millis(200));
            tools::signal(broker.pid(), Signal::STOP);
            thread::sleep(Duration::from_secs(seconds));
            tools::signal(broker.pid(), Signal::CONT);
        }
        thread::sleep(Duration::from_millis(500));
        on.store(false, Ordering::Release);
        assert!(matches!(writing.join().unwrap(), Ended::Told), "the connection outlives the pause");
    });
    assert!(ledger.slowest > Duration::from_secs(2), "nobody waited: {:?}", ledger.slowest);
    ledger.heals(&broker.address);
}

#[test]
fn a_clock_that_jumps_a_day_turns_no_seal_time_back_and_loses_nothing() {
    let Some(library) = tools::faketime() else { return };
    let folder = folder();
    let clock = folder.path().join("clock");
    fs::write(&clock, "+0").unwrap();
    let start = || {
        Start::at(folder.path())
            .env("LD_PRELOAD", library)
            .env("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap())
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    };
    let broker = start().serving();
    let mut ledger = Ledger::open(&mut broker.connect());
    for jump in ["+1d", "-1d", "+0", "-30d", "+2d"] {
        fs::write(&clock, jump).unwrap();
        let wanted = ledger.num_acks() + 100;
        assert!(matches!(ledger.write(&broker.address, wanted), Ended::Told), "{jump}");
        // Seals by age still come, a fifth of a second after their first record.
        let sealed = || broker.connect().bounds(&format!("{TOPIC}..feed")).unwrap()[0].end;
        let began = Instant::now();
        while sealed() < wanted as i64 {
            assert!(began.elapsed() < Duration::from_secs(20), "{jump}: nothing is sealed");
            thread::sleep(Duration::from_millis(20));
        }
    }
    broker.kill();
    fs::write(&clock, "-3d").unwrap();
    let broker = start().serving();
    ledger.heals(&broker.address);
    let manifests = broker.connect().read_to_end(&format!("{TOPIC}..commits")).unwrap();
    assert!(manifests.len() >= 5, "{}", manifests.len());
    assert!(manifests.is_sorted_by_key(|manifest| manifest.timestamp), "a seal time went back");
}
