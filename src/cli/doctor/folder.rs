//! A data folder and the disk below it, without a broker's help.

use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::fs::statfs;

use super::finding::Finding;
use crate::cli::output::human_bytes;
use crate::disk::{Clock, Disk, OpenMode, OsClock, OsDisk};
use crate::store::Meta;

/// Written and synced for a moment, to time the disk.
const PROBE: &str = ".streamstack-doctor.tmp";
const PROBE_BYTES: usize = 4096;
const NUM_SYNCS: u64 = 32;
/// A sync that takes longer makes itself felt in every acknowledgement.
const SLOW_SYNC: Duration = Duration::from_millis(20);
/// A sync that takes less does not reach a disk that keeps its word.
const LYING_SYNC: Duration = Duration::from_micros(10);

/// All that is found, each told as it comes.
pub fn check(folder: &Path, mut tell: impl FnMut(Finding)) {
    match OsDisk.list(folder) {
        Ok(names) => contents(folder, &names).into_iter().for_each(&mut tell),
        Err(error) => {
            let finding = format!("{} cannot be looked at: {error}", folder.display());
            return tell(Finding::problem("folder", finding, "name the folder as in log.dirs, and run as its owner"));
        }
    }
    tell(space(folder));
    tell(file_system(folder));
    tell(sync_time(folder));
}

fn contents(folder: &Path, names: &[String]) -> Vec<Finding> {
    const CHECK: &str = "folder";
    let path = folder.display();
    match Meta::read(&OsDisk, folder) {
        Ok(Some(meta)) => {
            let finding = format!("{path} holds the data of node {} of cluster {}", meta.node_id, meta.cluster_id);
            vec![Finding::good(CHECK, finding)]
        }
        Ok(None) if names.is_empty() => {
            vec![Finding::good(CHECK, format!("{path} is empty: a new broker may take it"))]
        }
        Ok(None) => vec![Finding::problem(
            CHECK,
            format!("{path} holds files that are no StreamStack broker's"),
            "give the broker a folder of its own",
        )],
        Err(error) => vec![Finding::problem(CHECK, error.to_string(), "see `streamstack inspect`")],
    }
}

fn space(folder: &Path) -> Finding {
    const CHECK: &str = "space";
    const FEW_BYTES: u64 = 1 << 30;
    match OsDisk.free_bytes(folder) {
        Ok(free) if free < FEW_BYTES => Finding::warning(
            CHECK,
            format!("{} are free", human_bytes(free)),
            "make room before the broker runs out of it",
        ),
        Ok(free) => Finding::good(CHECK, format!("{} are free", human_bytes(free))),
        Err(error) => Finding::problem(CHECK, format!("the free space cannot be told: {error}"), "see to the disk"),
    }
}

/// Kinds of file systems that do not keep what was synced, or not as a disk does.
fn file_system(folder: &Path) -> Finding {
    const CHECK: &str = "file system";
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    const NFS: u64 = 0x6969;
    const CIFS: u64 = 0xff53_4d42;
    const FUSE: u64 = 0x6573_5546;
    const OVERLAY: u64 = 0x794c_7630;
    let kind = match statfs(folder) {
        Ok(found) => found.f_type as u64,
        Err(error) => {
            return Finding::problem(CHECK, format!("its kind cannot be told: {error}"), "see to the disk");
        }
    };
    match kind {
        TMPFS | RAMFS => Finding::problem(
            CHECK,
            "the folder lies in memory: all is gone when the machine stops",
            "put the data on a disk, unless it may get lost",
        ),
        NFS | CIFS | FUSE => Finding::warning(
            CHECK,
            "the folder lies on a network or FUSE file system, which may not keep what was synced",
            "put the data on a local disk",
        ),
        OVERLAY => Finding::warning(
            CHECK,
            "the folder lies in a container's own layer, and goes with the container",
            "mount a volume for the data",
        ),
        other => Finding::good(CHECK, format!("a local one (kind {other:#x})")),
    }
}

fn sync_time(folder: &Path) -> Finding {
    const CHECK: &str = "sync";
    let probe = folder.join(PROBE);
    let timed = time_syncs(&probe);
    let removed = OsDisk.remove_file(&probe);
    let time = match timed.and_then(|time| removed.map(|()| time)) {
        Ok(time) => time,
        Err(error) => {
            let finding = format!("{} cannot be written: {error}", probe.display());
            return Finding::problem(CHECK, finding, "run as the folder's owner, and see to the disk");
        }
    };
    let finding = format!("{PROBE_BYTES} bytes are on the disk after {} us (median of {NUM_SYNCS})", time.as_micros());
    match time {
        _ if time > SLOW_SYNC => Finding::warning(
            CHECK,
            finding,
            "each acknowledgement waits for that: use a faster disk, or more records a batch",
        ),
        _ if time < LYING_SYNC => Finding::warning(
            CHECK,
            finding,
            "no disk is that fast: a cache answers for it, so make sure that it survives power loss",
        ),
        _ => Finding::good(CHECK, finding),
    }
}

fn time_syncs(probe: &Path) -> io::Result<Duration> {
    let (file, clock) = (OsDisk.open(probe, OpenMode::Create)?, OsClock::new());
    let mut times = Vec::new();
    for number in 0..NUM_SYNCS {
        let begun = clock.elapsed();
        file.write_all_at(&[0xaa; PROBE_BYTES], number * PROBE_BYTES as u64)?;
        file.sync_data()?;
        times.push(clock.elapsed() - begun);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn found(folder: &Path) -> Vec<Finding> {
        let mut found = Vec::new();
        check(folder, |finding| found.push(finding));
        found
    }

    #[test]
    fn a_folder_is_looked_at_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let checks = found(folder.path());
        assert_eq!(checks.iter().map(|f| f.check).collect::<Vec<_>>(), ["folder", "space", "file system", "sync"]);
        assert!(checks[0].finding.ends_with("is empty: a new broker may take it"), "{checks:?}");
        assert_eq!(OsDisk.list(folder.path()).unwrap(), Vec::<String>::new());
        Meta::new("c".to_owned(), 1).write(&OsDisk, folder.path()).unwrap();
        assert!(found(folder.path())[0].finding.ends_with("holds the data of node 1 of cluster c"));
    }

    #[test]
    fn folders_that_are_no_data_folders_are_problems() {
        let folder = tempfile::tempdir().unwrap();
        OsDisk.open(&folder.path().join("notes"), OpenMode::Create).unwrap();
        assert_eq!(found(folder.path())[0].level, Level::Problem);
        let missing = found(&folder.path().join("missing"));
        assert_eq!((missing.len(), missing[0].level), (1, Level::Problem));
    }
}
