//! In which order a store may do things to its disk: no mark ahead of what it speaks of.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use streamstack::disk::{Op, Traced};

const FEEDS: &str = "/data/feeds";
const MANIFESTS: &str = "/data/manifest";
const JOURNAL: &str = "/data/journal";

/// What of the disk would not survive a power loss, as the trace goes on.
#[derive(Default)]
struct Unsynced {
    /// Files of feeds with bytes that were not synced.
    bytes: BTreeSet<PathBuf>,
    /// Files and folders of feeds whose names were not.
    names: BTreeSet<PathBuf>,
    /// The newest manifest's name was not.
    manifest: bool,
}

/// How often each rule was put to the test.
#[derive(Default)]
pub struct Seen {
    pub manifests: u32,
    pub journal_files_gone: u32,
}

/// When a manifest gets its name, all that it speaks of is durable; when a journal file goes, the manifest that replaces it
/// is.
pub fn check(trace: &[Traced], told: &str) -> Seen {
    let (mut unsynced, mut seen) = (Unsynced::default(), Seen::default());
    for Traced { op, path, number, .. } in trace {
        let in_folder = |folder: &str| path.parent() == Some(Path::new(folder));
        let is_journal = path.extension().is_some_and(|extension| extension == "journal");
        if *op == Op::Rename && in_folder(MANIFESTS) {
            assert!(unsynced.bytes.is_empty(), "{told}, operation {number}: {:?} before {path:?}", unsynced.bytes);
            assert!(unsynced.names.is_empty(), "{told}, operation {number}: {:?} before {path:?}", unsynced.names);
            unsynced.manifest = true;
            seen.manifests += 1;
        }
        // Removed, or renamed to wait for its next use.
        if in_folder(JOURNAL) && ((*op == Op::Unlink && is_journal) || (*op == Op::Rename && !is_journal)) {
            assert!(!unsynced.manifest, "{told}, operation {number}: {path:?} before the manifest's name");
            seen.journal_files_gone += 1;
        }
        unsynced.follow(*op, path);
    }
    seen
}

impl Unsynced {
    fn follow(&mut self, op: Op, path: &Path) {
        // Indexes are made anew when they are not there.
        let counts = path.starts_with(FEEDS) && path != Path::new(FEEDS) && !path.to_string_lossy().contains(".index.");
        let is_segment_index =
            path.extension().is_some_and(|e| e == "index") && path.to_string_lossy().contains("/0000");
        match op {
            Op::Write | Op::Truncate if counts && !is_segment_index => drop(self.bytes.insert(path.to_owned())),
            Op::Create if counts && !is_segment_index => drop(self.names.insert(path.to_owned())),
            Op::Sync => drop(self.bytes.remove(path)),
            Op::SyncDir => {
                self.names.retain(|name| name.parent() != Some(path));
                self.manifest &= path != Path::new(MANIFESTS);
            }
            Op::Unlink => {
                self.bytes.retain(|file| !file.starts_with(path));
                self.names.retain(|name| !name.starts_with(path));
            }
            _ => {}
        }
    }
}
