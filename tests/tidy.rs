//! The house rules that a compiler does not check. Each test names the rule; the message names file and line.

#[path = "tidy/source.rs"]
mod source;

use std::collections::BTreeSet;

use source::{Source, repository, rust_files};

/// Files that may be longer than `LINES_MAX`, with the reason.
const LONG_FILES: &[(&str, &str)] = &[];
const LINES_MAX: usize = 600;

/// The only file with unsafe code.
const UNSAFE: &str = "src/disk/mapping.rs";

/// Hosts that texts of the repository may name: standards, origins of data, this machine and made-up ones.
/// Mirrors and registries of whoever builds it stay out.
const HOSTS: &[&str] = &[
    "127.0.0.1",
    "localhost",
    "github.com",
    "apache.org",
    "w3.org",
    "example",
    "example.com",
    "rust-lang.org",
    "docs.rs",
];

/// Fails with all that is wrong, one line each.
fn check(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The floors of the house as `src/lib.rs` draws them, top to bottom; the names of one line share a floor.
fn floors() -> Vec<Vec<String>> {
    let lib = Source::read("src/lib.rs");
    let drawing = lib.text.lines().skip_while(|line| *line != "//! ```text").skip(1);
    let lines = drawing.take_while(|line| *line != "//! ```").filter_map(|line| line.strip_prefix("//! "));
    // A name is followed by a comma or by the blanks before its description.
    lines.map(|line| line.split("  ").next().unwrap_or(line).split(", ").map(str::to_owned).collect()).collect()
}

fn floor_of(floors: &[Vec<String>], name: &str) -> Option<usize> {
    floors.iter().position(|floor| floor.iter().any(|other| other == name))
}

#[test]
fn arrows_point_down() {
    let floors = floors();
    assert!(floors.len() > 8, "the drawing in src/lib.rs was not understood: {floors:?}");
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        let module = file.module();
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        let Some(from) = floor_of(&floors, &module) else {
            wrong.push(format!("{}: module {module} has no floor in src/lib.rs", file.path));
            continue;
        };
        for (line, target) in file.arrows() {
            let down = floor_of(&floors, &target).is_some_and(|to| to > from);
            if target != module && !down {
                wrong.push(format!("{}:{line}: {module} may not use crate::{target}", file.path));
            }
        }
    }
    check(wrong);
}

#[test]
fn every_file_says_what_it_answers() {
    let files = rust_files("src").into_iter().chain(rust_files("tests")).chain(rust_files("benches"));
    check(
        files
            .filter(|file| !file.text.starts_with("//! "))
            .map(|file| format!("{}: does not start with //!", file.path))
            .collect(),
    );
}

#[test]
fn unsafe_code_lives_in_one_file() {
    let mut wrong = Vec::new();
    for file in rust_files("src").into_iter().filter(|file| file.path != UNSAFE) {
        wrong.extend(file.places_of_word("unsafe").map(|line| format!("{}:{line}: unsafe", file.path)));
    }
    check(wrong);
}

#[test]
fn nothing_is_left_half_done() {
    let mut wrong = Vec::new();
    for file in rust_files("src") {
        for phrase in ["todo!", "dbg!", "unimplemented!", ".unwrap()"] {
            wrong.extend(file.places(phrase).map(|line| format!("{}:{line}: {phrase}", file.path)));
        }
    }
    check(wrong);
}

#[test]
fn files_stay_short() {
    let long = rust_files("src").into_iter().filter(|file| file.text.lines().count() > LINES_MAX);
    let excused = |path: &str| LONG_FILES.iter().any(|(other, _)| *other == path);
    check(
        long.filter(|file| !excused(&file.path)).map(|file| format!("{}: over {LINES_MAX} lines", file.path)).collect(),
    );
}

#[test]
fn every_golden_file_is_used() {
    let code = repository().into_iter().filter(|path| path.ends_with(".rs"));
    let tests: String = code.filter_map(|path| source::read_text(&path)).collect();
    let golden = repository().into_iter().filter(|path| path.starts_with("tests/golden/"));
    let unused = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        !tests.contains(name) && !tests.contains(&format!("\"{stem}\""))
    };
    check(golden.filter(unused).map(|path| format!("{path}: no test reads it")).collect());
}

#[test]
fn the_repository_names_no_machine_and_no_mirror() {
    // Written in two parts so that this file does not name them.
    let folders = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["/ho", "me/"].concat()];
    let settings = ["replace-", "index-url", "insteadOf"].map(|part| part.replace("replace-", "replace-with"));
    let mut wrong = Vec::new();
    for path in repository().into_iter().filter(|path| path != "tests/tidy.rs") {
        let Some(text) = source::read_text(&path) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            for phrase in folders.iter().chain(&settings).filter(|phrase| line.contains(phrase.as_str())) {
                wrong.push(format!("{path}:{number}: {phrase}"));
            }
            for host in source::hosts(line).filter(|host| !is_allowed(host)) {
                wrong.push(format!("{path}:{number}: host {host} is not in the list of tests/tidy.rs"));
            }
        }
    }
    check(wrong);
}

fn is_allowed(host: &str) -> bool {
    HOSTS.iter().any(|allowed| host == *allowed || host.strip_suffix(allowed).is_some_and(|rest| rest.ends_with('.')))
}

#[test]
fn modules_and_floors_are_the_same() {
    let lib = Source::read("src/lib.rs");
    let modules = lib.text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let modules: BTreeSet<String> = modules.map(str::to_owned).collect();
    assert_eq!(modules, floors().into_iter().flatten().collect::<BTreeSet<_>>());
}
