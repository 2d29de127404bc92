//! What the journal does when nothing goes wrong.

use super::*;

#[test]
fn groups_come_back_in_order_over_many_files() {
    let disk = FaultyDisk::new();
    let (mut journal, none) = open(&disk, 2048, 0).unwrap();
    assert_eq!(none, []);
    let mut written = Vec::new();
    for size in [0, 1, 300, 700, 36, 1200, 5, 4000, 900] {
        let group = group(&journal, 1 + size as u32 % 3, size);
        append(&mut journal, &group).unwrap();
        written.push(group);
    }
    journal.sync().unwrap();
    drop(journal);
    let (journal, read) = open(&disk, 2048, 0).unwrap();
    assert_eq!(read, written);
    assert_eq!(journal.recovery().num_groups, 9);
    assert_eq!(journal.recovery().dropped, None);
    let (_, read) = open(&disk, 2048, written[3].first.0 + 1).unwrap();
    assert_eq!(read, written[3..], "a group is handed out whole when part of it is needed");
}
