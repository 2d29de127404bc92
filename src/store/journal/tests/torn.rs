//! Torn tails: whatever became of the last groups' bytes, what was synced before them is there, and the rest is a prefix.

use super::*;
use crate::disk::SplitMix;

const FILE_BYTES: u64 = 1 << 20;
/// Groups behind the last sync.
const TORN: usize = 3;

/// A journal of an earlier life in a file that is written over, and a new one whose last groups were not synced. Gives
/// where the unsynced bytes begin and end.
fn journal() -> (FaultyDisk, Vec<Group>, PathBuf, usize, usize) {
    let disk = new_disk();
    let (mut journal, _) = open(&disk, FILE_BYTES, 0).unwrap();
    let mut written = append_many(&mut journal, 20, 70, 0);
    journal.sync().unwrap();
    let path = journal_files(&disk).pop().unwrap();
    let start = used(&disk, &path);
    written.extend(append_many(&mut journal, TORN, 90, 3));
    let end = used(&disk, &path);
    (disk, written, path, start, end)
}

/// One past the last byte that is no zero.
fn used(disk: &FaultyDisk, path: &Path) -> usize {
    read_bytes(disk, path).iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1)
}

/// What may stand where the bytes did not arrive.
fn fills(len: usize, disk: &FaultyDisk, path: &Path, random: &mut SplitMix) -> [Vec<u8>; 3] {
    // Frames of an earlier life, as a recycled file has them.
    let old = read_bytes(disk, path)[64..64 + len].to_vec();
    [vec![0; len], (0..len).map(|_| random.draw() as u8).collect(), old]
}

#[test]
fn a_tail_torn_at_any_byte_and_filled_with_anything_is_cut_and_nothing_synced_goes_with_it() {
    let (disk, written, path, start, end) = journal();
    let (num_synced, mut random) = (written.len() - TORN, SplitMix::new(9));
    assert!(end > start + 300, "{start} {end}");
    let (mut num_cut, mut num_told) = (0, 0);
    for at in start..end {
        for fill in fills(end - at, &disk, &path, &mut random) {
            let disk = copy(&disk);
            write_bytes(&disk, &path, at as u64, &fill);
            let (journal, read) = open(&disk, FILE_BYTES, 0).unwrap_or_else(|error| panic!("byte {at}: {error}"));
            assert!(read.len() >= num_synced && read == written[..read.len()], "byte {at}: {} groups", read.len());
            // Bytes that happen to be the right ones are no tear.
            num_cut += usize::from(read.len() < written.len());
            // A frame of which nothing but zeros is left leaves nothing to tell.
            if let Some(dropped) = &journal.recovery().dropped {
                num_told += 1;
                assert!(dropped.file == path && dropped.byte <= at as u64, "byte {at}: {dropped:?}");
            }
        }
    }
    assert!(num_cut > 800 && num_told > 700, "{num_cut} cut, {num_told} told");
}

#[test]
fn a_sector_of_the_tail_that_did_not_arrive_takes_what_follows_and_nothing_before() {
    let (disk, written, path, start, end) = journal();
    let num_synced = written.len() - TORN;
    for sector in start / 512..=end / 512 {
        for zeros in [true, false] {
            let (from, to) = ((sector * 512).max(start), ((sector + 1) * 512).min(end));
            let disk = copy(&disk);
            write_bytes(&disk, &path, from as u64, &vec![if zeros { 0 } else { 0xa5 }; to.saturating_sub(from)]);
            let (_, read) = open(&disk, FILE_BYTES, 0).unwrap();
            assert!(read.len() >= num_synced && read == written[..read.len()], "sector {sector}");
        }
    }
}
