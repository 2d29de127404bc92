//! A seeded walk: clients that start, crash, hang, leave and commit, answers that get lost, a broker that crashes. Always,
//! a partition has one owner in a generation, and no position is taken from whoever is not its last owner; and whenever
//! the faults stop, the group comes to rest with everybody in it.

mod client;
mod world;

use client::Process;
use world::World;

use crate::disk::SplitMix;

const SEEDS: u64 = 24;
const ROUNDS: u64 = 12;
const STEPS_IN_ROUND: u64 = 400;

/// Processes at a time, and the static instances among them.
const PROCESSES_MAX: usize = 7;
const INSTANCES: u64 = 3;

#[test]
fn faults_never_make_two_owners_and_groups_come_to_rest() {
    let (mut steps, mut seen) = (0, world::Seen::default());
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for _ in 0..ROUNDS {
            for _ in 0..STEPS_IN_ROUND {
                step(&mut world);
                steps += 1;
            }
            world.come_to_rest();
        }
        seen.add(&world.seen);
    }
    assert!(steps >= 100_000, "{steps} steps");
    // What never happens proves nothing.
    assert!(seen.commits_taken > 200 && seen.commits_refused > 200, "{seen:?}");
    assert!(seen.restarts > 200 && seen.generations > 1_000 && seen.replaced > 100, "{seen:?}");
}

fn step(world: &mut World) {
    let process = world.random_process();
    match world.random.below(100) {
        0..=34 => world.act(process),
        35..=59 => world.deliver(process),
        60..=74 => world.flush(),
        75..=84 => {
            let ms = pause(&mut world.random);
            world.pass(ms);
        }
        85..=88 => world.commit(process),
        89..=91 => start(world),
        92 => world.lose_connection(process),
        93..=94 => world.kill(process),
        95 => world.leave(process),
        96 => world.change(process),
        97 if world.random.chance(1, 3) => world.crash(),
        _ => world.heartbeat(process),
    }
}

/// Mostly short; at times longer than a session or a rebalance.
fn pause(random: &mut SplitMix) -> i64 {
    let longest = *[100, 1_000, 4_000, 40_000].get(random.below(4) as usize).unwrap_or(&100);
    random.below(longest) as i64
}

fn start(world: &mut World) {
    if world.processes.len() < PROCESSES_MAX {
        let instance = world.random.chance(1, 3).then(|| format!("instance{}", world.random.below(INSTANCES)));
        let (asks_twice, skips) = (world.random.chance(2, 3), world.random.chance(1, 2));
        let process = Process::new(world.next_serial(), instance, asks_twice, skips);
        world.processes.push(process);
    }
}
