//! A seeded walk: clients of both protocols come, go, hang, lose connections and are killed, the broker crashes, and
//! the group goes to and fro between the two protocols. Always, a partition has one owner, and a position is
//! taken from its last owner alone; and whenever the faults stop, everybody comes to read its part.

mod classic;
mod modern;
mod world;

use std::collections::BTreeMap;

use world::World;

const SEEDS: u64 = 24;
const ROUNDS: u64 = 12;
const STEPS_IN_ROUND: u64 = 400;

/// Clients at a time, and the instances among them.
const CLIENTS_MAX: usize = 7;
const INSTANCES: u64 = 3;

#[test]
fn groups_that_migrate_never_have_two_owners_and_come_to_rest() {
    let (mut steps, mut seen) = (0, BTreeMap::<&str, u64>::new());
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for _ in 0..ROUNDS {
            for _ in 0..STEPS_IN_ROUND {
                step(&mut world);
                steps += 1;
            }
            world.come_to_rest();
        }
        world.seen.into_iter().for_each(|(what, times)| *seen.entry(what).or_default() += times);
    }
    assert!(steps >= 100_000, "{steps} steps");
    // What never happens proves nothing.
    for (what, least) in [
        ("upgraded", 150),
        ("downgraded", 150),
        ("crash", 500),
        ("commit", 500),
        ("refused commit", 100),
        ("fenced", 50),
        ("settled classic", 20),
        ("settled mixed", 20),
    ] {
        let times = seen.get(what).copied().unwrap_or_default();
        assert!(times >= least, "{what} happened {times} times: {seen:?}");
    }
}

#[test]
fn the_same_seed_walks_the_same_way() {
    let trace = |seed| {
        let mut world = World::new(seed);
        (0..1_000).for_each(|_| step(&mut world));
        world.seen
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}

fn step(world: &mut World) {
    let client = world.random_client();
    match world.random.below(100) {
        0..=29 => world.act(client),
        30..=49 => world.deliver(client),
        50..=61 => world.flush(),
        62..=72 => world.beat(client),
        73..=80 => {
            let longest = [100, 1_000, 4_000, 50_000][world.random.below(4) as usize];
            let ms = world.random.below(longest) as i64;
            world.pass(ms);
        }
        81..=86 => world.commit(client),
        87..=90 => world.start(CLIENTS_MAX, INSTANCES),
        91 => world.lose_connection(client),
        92..=93 => world.kill(client),
        94..=96 => world.leave(client),
        97..=98 => world.change(client),
        _ => world.crash(),
    }
    world.check();
}
