//! An orderly stop leaves the journal at rest. No mark of it hides what a later life does, or the crash that ends that life.

use streamstack::disk::{CrashPolicy, FaultyDisk};
use streamstack::store::{Durability, Opened};

use crate::history::{Point, go_on, open, run_to_rest};

fn check(image: &FaultyDisk, end: &Point, told: &str) -> Opened {
    let opened = open(image, Durability::Fsync).unwrap_or_else(|error| panic!("{told}: {error}"));
    assert!(opened.state == end.state && opened.lsn == end.lsn, "{told}: comes back elsewhere");
    end.contents.check(&opened.store, &opened.state);
    opened
}

#[test]
fn a_start_after_an_orderly_stop_that_crashes_at_every_operation_is_an_unclean_one() {
    let (rested, mut num_crashes) = (FaultyDisk::new(), 0);
    let end = run_to_rest(&rested, 800, 40, true);
    let undisturbed = rested.kill_image();
    let before = undisturbed.num_ops();
    drop(check(&undisturbed, &end, "undisturbed"));
    for number in before + 1..=undisturbed.num_ops() + 1 {
        let loading = rested.kill_image();
        loading.crash_at(number);
        // It dies while it loads, or comes to serve and dies then.
        let _ = open(&loading, Durability::Fsync);
        for policy in [CrashPolicy::DropAll, CrashPolicy::KeepAll, CrashPolicy::Seeded(number)] {
            let told = format!("crash at operation {number} of the start, {policy:?}");
            let image = loading.crash_image(policy);
            let opened = check(&image, &end, &told);
            // What is written now comes after the mark, and is there after a crash without a word.
            let later = go_on(opened, end.contents.clone(), number, 6);
            drop(check(&image.kill_image(), &later, &format!("{told}, then killed under way")));
            drop(check(&image.crash_image(CrashPolicy::DropAll), &later, &format!("{told}, then a power loss")));
            num_crashes += 1;
        }
    }
    assert!(num_crashes >= 6, "{num_crashes}");
}
