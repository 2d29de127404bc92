//! Mutated input for whatever reads bytes of others: requests, batches, the files of a data folder, properties, topic names.
//!
//! Sound input is changed by a seed and read; a refusal is fine, a panic is not, and names the seed. Each target gets
//! `FUZZ_SECONDS` (3); `FUZZ_SEED` tries one seed alone. Seeds that once failed are kept in `tests/golden/fuzz/seeds.txt`.
#![allow(clippy::disallowed_methods, reason = "the run is bounded by time")]

mod folder;
mod mutate;
#[path = "../hostile_frames/sample.rs"]
#[allow(dead_code, reason = "the other half serves hostile_frames.rs")]
mod sample;
mod texts;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use streamstack::disk::SplitMix;

const SECONDS: u64 = 3;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// `target seed`, a line each.
fn kept_seeds(target: &str) -> Vec<u64> {
    let kept = include_str!("../golden/fuzz/seeds.txt").lines().filter(|line| !line.starts_with('#'));
    let pairs = kept.filter_map(|line| line.split_once(' ')).filter(|(name, _)| *name == target);
    pairs.map(|(_, seed)| seed.parse().expect("a seed")).collect()
}

/// Tries seeds until the time is over.
fn fuzz(target: &str, try_one: impl Fn(&mut SplitMix)) {
    let attempt = |seed: u64| {
        let outcome = catch_unwind(AssertUnwindSafe(|| try_one(&mut SplitMix::new(seed))));
        assert!(outcome.is_ok(), "{target} panics at seed {seed}: try it alone with FUZZ_SEED={seed}, and keep it");
    };
    if let Some(seed) = number("FUZZ_SEED") {
        return attempt(seed);
    }
    kept_seeds(target).into_iter().for_each(attempt);
    let time = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(SECONDS));
    let began = Instant::now();
    let seeds = (1..).take_while(|_| began.elapsed() < time).inspect(|seed| attempt(*seed)).count();
    println!("{target}: {seeds} seeds");
    assert!(seeds > 10, "{target}: only {seeds} seeds in {time:?}");
}
