//! `tests/faults.md` is kept: every row that this project answers for stands in it, with tests that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Rows of each family, numbered from 1.
const FAMILIES: &[(char, usize)] = &[('D', 26), ('T', 17), ('P', 17), ('F', 13), ('N', 14), ('G', 15), ('X', 7)];
/// Rows of families that are not answered for as a whole.
const ROWS: &[&str] = &["S17", "S18"];
/// Faults reported of other brokers.
const REPORTS: &[u32] = &[
    3, 4, 6, 7, 9, 10, 11, 14, 15, 16, 17, 19, 20, 21, 23, 24, 25, 26, 28, 29, 30, 32, 35, 36, 41, 42, 46, 47, 48, 50,
    51, 53, 55, 56, 57, 58, 59, 60, 61, 62, 64, 65, 66, 67, 69, 70, 72, 73, 74, 76, 77, 78, 79,
];
/// What a row may wait for instead of having a test.
const NOT_YET: &[&str] = &["groups", "transactions", "security", "compaction", "quotas", "a test"];

/// A line of a table: `| id | promise | tests |`.
struct Row {
    id: String,
    promise: String,
    shown_by: String,
}

fn rows() -> Vec<Row> {
    let map = read("tests/faults.md").expect("tests/faults.md");
    let lines = map.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = lines.map(|line| line.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let rows = cells.filter(|cells| cells[0] != "id").map(|cells| {
        let [id, promise, shown_by] = &cells[..] else { panic!("not three cells: {cells:?}") };
        Row { id: id.clone(), promise: promise.clone(), shown_by: shown_by.clone() }
    });
    rows.collect()
}

fn wanted() -> Vec<String> {
    let numbered = FAMILIES.iter().flat_map(|(family, num)| (1..=*num).map(move |n| format!("{family}{n}")));
    let single = ROWS.iter().map(|id| (*id).to_owned());
    numbered.chain(single).chain(REPORTS.iter().map(|n| format!("B{n:02}"))).collect()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Why the row is not shown by a test that exists; nothing when it is.
fn fault_of(row: &Row) -> Option<String> {
    if row.promise.is_empty() {
        return Some("promises nothing".to_owned());
    }
    if let Some(reason) = row.shown_by.strip_prefix("not yet: ") {
        let known = NOT_YET.iter().any(|known| reason.starts_with(known));
        return (!known).then(|| format!("waits for {reason:?}, which is not one of {NOT_YET:?}"));
    }
    let tests: Vec<&str> = quoted(&row.shown_by).collect();
    if tests.is_empty() {
        return Some("names no test and nothing that it waits for".to_owned());
    }
    let missing: Vec<&str> = tests.into_iter().filter(|test| !exists(test)).collect();
    (!missing.is_empty()).then(|| format!("names tests that do not exist: {missing:?}"))
}

/// `path::name`, where the file has a test function of that name.
fn exists(test: &str) -> bool {
    let Some((path, name)) = test.rsplit_once("::") else { return false };
    let Some(text) = read(path) else { return false };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_fn = |line: &str| {
        line.split_once("fn ").is_some_and(|(_, rest)| rest.strip_prefix(name).is_some_and(|r| r.starts_with('(')))
    };
    let places = lines.iter().enumerate().filter(|(_, line)| is_fn(line)).map(|(at, _)| at);
    // The attribute may stand some lines above, with others between.
    places.into_iter().any(|at| {
        lines[at.saturating_sub(4)..at].iter().any(|line| line.ends_with("test]") || line.contains("::test("))
    })
}

#[test]
fn every_row_has_a_test_or_says_what_it_waits_for() {
    let faults: Vec<String> =
        rows().iter().filter_map(|row| fault_of(row).map(|fault| format!("{}: {fault}", row.id))).collect();
    assert!(faults.is_empty(), "tests/faults.md\n{}\n", faults.join("\n"));
}

#[test]
fn every_row_stands_once_in_the_map() {
    let found: Vec<String> = rows().into_iter().map(|row| row.id).collect();
    let distinct: BTreeSet<String> = found.iter().cloned().collect();
    assert_eq!(found.len(), distinct.len(), "a row stands twice");
    let wanted: BTreeSet<String> = wanted().into_iter().collect();
    let missing: Vec<&String> = wanted.difference(&distinct).collect();
    let unknown: Vec<&String> = distinct.difference(&wanted).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing: {missing:?}, not in the list: {unknown:?}");
}

#[test]
fn a_test_that_does_not_exist_is_noticed() {
    let here = "tests/faults_map.rs";
    assert!(exists(&format!("{here}::a_test_that_does_not_exist_is_noticed")));
    assert!(!exists(&format!("{here}::exists")), "a function without the attribute");
    assert!(!exists(&format!("{here}::a_test_that_does_not")) && !exists("tests/none.rs::x"));
}
