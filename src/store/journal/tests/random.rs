//! Random lists of operations against a list of groups.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Append {
        count: u32,
        bytes: usize,
    },
    Sync,
    Idle,
    /// Trim up to this part (of 100) of the entries.
    Trim(u64),
    Spare,
    /// The process ends; everything written stays.
    Restart,
    PowerLoss(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..5_u32, 0..1500_usize).prop_map(|(count, bytes)| Step::Append { count, bytes }),
        3 => Just(Step::Sync),
        1 => Just(Step::Idle),
        1 => (0..=100_u64).prop_map(Step::Trim),
        1 => Just(Step::Spare),
        1 => Just(Step::Restart),
        1 => any::<u64>().prop_map(Step::PowerLoss),
    ]
}

/// The journal as it should be.
#[derive(Default)]
struct Model {
    groups: Vec<Group>,
    synced: Lsn,
    from: Lsn,
}

struct Run {
    options: JournalOptions,
    disk: FaultyDisk,
    journal: Journal,
    model: Model,
    life: u8,
}

impl Run {
    fn take(&mut self, step: &Step) {
        match *step {
            Step::Append { count, bytes } => {
                let group = group(&self.journal, count, bytes, self.life);
                append(&mut self.journal, &group).unwrap();
                self.model.groups.push(group);
            }
            Step::Sync => self.journal.sync().unwrap(),
            Step::Idle => self.journal.mark_idle().unwrap(),
            Step::Trim(part) => {
                self.model.from = self.model.from.max(Lsn(self.journal.next().0 * part / 100));
                self.journal.trim(self.model.from).unwrap();
            }
            Step::Spare => drop(self.journal.prepare_spare().unwrap()),
            Step::Restart => self.reopen(self.disk.kill_image(), self.journal.next()),
            Step::PowerLoss(seed) => {
                let synced = self.journal.synced();
                self.reopen(self.disk.crash_image(CrashPolicy::Seeded(seed)), synced);
            }
        }
        self.model.synced = self.journal.synced();
    }

    /// At least the entries below `least` are there.
    fn reopen(&mut self, disk: FaultyDisk, least: Lsn) {
        let (journal, read) = open_with(&disk, self.options, self.model.from).unwrap();
        let from = self.model.from;
        let expected: Vec<Group> = self.model.groups.iter().filter(|group| group.end() > from).cloned().collect();
        assert_eq!(read, expected[..read.len().min(expected.len())]);
        assert!(journal.next() >= least.max(from));
        self.model.groups.retain(|group| group.end() <= journal.next());
        (self.disk, self.journal, self.life) = (disk, journal, self.life.wrapping_add(1));
    }
}

fn check(durability: Durability, steps: &[Step]) {
    let options = JournalOptions { durability, ..options(2048) };
    let disk = new_disk();
    let (journal, _) = open_with(&disk, options, Lsn(0)).unwrap();
    let mut run = Run { options, disk, journal, model: Model::default(), life: 0 };
    for step in steps {
        run.take(step);
    }
    run.reopen(run.disk.kill_image(), run.journal.next());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_reads_back(steps in prop::collection::vec(step(), 1..80), fsync in any::<bool>()) {
        check(if fsync { Durability::Fsync } else { Durability::Os }, &steps);
    }
}

/// In os mode a power loss may take back the name of a file that has frames already. Under the spare's old name it still has
/// them, and its generation: the next life of the file must have another, or they would count again after the next loss.
#[test]
fn a_file_whose_name_was_lost_does_not_bring_its_frames_back() {
    let append = |bytes| Step::Append { count: 1, bytes };
    let sizes = [0, 0, 1393, 0, 0, 0, 180, 1177, 639, 790];
    let more = [append(639), append(0), append(754), Step::Sync, append(0), append(639), append(1016), Step::Sync];
    let losses = [
        [append(638), append(791), append(638), Step::PowerLoss(1_431_496_975_697_644_425)].to_vec(),
        [Step::Trim(50), append(413), Step::PowerLoss(6_218_708_211_323_276_347)].to_vec(),
        [append(413), Step::PowerLoss(12_991_779_395_374_009_837)].to_vec(),
    ];
    let first = sizes.map(append).into_iter().chain([Step::Restart, Step::Sync]);
    let steps: Vec<Step> = first.chain(more).chain(losses.concat()).collect();
    check(Durability::Os, &steps);
}
