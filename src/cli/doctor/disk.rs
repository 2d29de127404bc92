//! The disk below the broker's data.

use super::finding::Finding;
use crate::cli::client::LogDir;
use crate::cli::output::human_bytes;

const CHECK: &str = "disk";
/// Less of the disk than this is worth a word.
const FREE_SHARE_MIN: f64 = 0.1;
/// The broker refuses to write at a floor; so many times of it is time to act.
const FLOORS: u64 = 4;

/// `floor` is the free space at which the broker takes no more records, as its config says.
pub fn check(dirs: Option<Vec<LogDir>>, floor: Option<&str>) -> Vec<Finding> {
    let floor = floor.and_then(|floor| floor.parse().ok()).unwrap_or(0);
    match dirs {
        Some(dirs) if !dirs.is_empty() => dirs.iter().map(|dir| of_dir(dir, floor)).collect(),
        _ => vec![Finding::note(CHECK, "not told by this broker", "look at the free space of its data folder there")],
    }
}

fn of_dir(dir: &LogDir, floor: u64) -> Finding {
    let LogDir { path, disk_bytes, free_bytes, sizes } = dir;
    let held: u64 = sizes.iter().map(|(_, _, bytes)| bytes).sum();
    let held = format!("{path} holds {} of records", human_bytes(held));
    let Some(free) = *free_bytes else {
        return Finding::note(CHECK, held, "this broker does not tell the free space: look at it there");
    };
    let finding = match disk_bytes {
        Some(total) => format!("{held}; {} of {} are free", human_bytes(free), human_bytes(*total)),
        None => format!("{held}; {} are free", human_bytes(free)),
    };
    let share = disk_bytes.filter(|total| *total > 0).map_or(1.0, |total| free as f64 / total as f64);
    let remedy =
        format!("make room or set retention: below {} free the broker takes no more records", human_bytes(floor));
    if free < floor {
        Finding::problem(CHECK, finding, remedy)
    } else if free < floor.saturating_mul(FLOORS) || share < FREE_SHARE_MIN {
        Finding::warning(CHECK, finding, remedy)
    } else {
        Finding::good(CHECK, finding)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_disk_is_full_before_it_is_empty() {
        let level = |free, total| {
            let sizes = vec![("t".to_owned(), 0, 7)];
            let dir = LogDir { path: "/data".to_owned(), disk_bytes: Some(total), free_bytes: Some(free), sizes };
            check(Some(vec![dir]), Some("1000")).pop().unwrap().level
        };
        assert_eq!(level(50_000, 100_000), Level::Good);
        assert_eq!(level(9_000, 100_000), Level::Warning);
        assert_eq!(level(3_999, 4_000), Level::Warning);
        assert_eq!(level(999, 2_000), Level::Problem);
        assert_eq!(check(None, None)[0].level, Level::Note);
    }
}
