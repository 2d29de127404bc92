//! Views that leave records out, as a person reads, compares and asks about them.

use crate::terminal::{Terminal, settled};

/// Two polls: `a` stays, `b` changes, `c` goes, `d` comes, and `e` is deleted.
fn two_polls() -> Terminal {
    let terminal = Terminal::new();
    for (label, lines) in [("one", "a:1\nb:1\nc:1\ne:1\na:1\n"), ("two", "a:1\nb:2\nd:1\ne:\n")] {
        let args = ["produce", "polls", "-k", ":", "--null", "", "--seal", label];
        assert_eq!(terminal.feed(&args, lines).code, 0);
    }
    terminal
}

#[test]
fn a_mode_goes_with_every_part() {
    let terminal = two_polls();
    let read = |args: &[&str]| terminal.out(&[&["read", "polls", "-k", "="], args].concat());
    assert_eq!(read(&["--mode", "dedup"]), "a=1\nb=1\nc=1\ne=1\nb=2\nd=1\ne=\n");
    assert_eq!(read(&["--commit", "0", "--mode", "latest"]), "b=1\nc=1\ne=1\na=1\n");
    assert_eq!(read(&["--commits", "0-1", "--mode", "live"]), "c=1\na=1\nb=2\nd=1\n");
    assert_eq!(read(&["--since", "1", "--mode", "changed"]), "a=1\nb=2\nd=1\ne=\n");
    let (code, errors) = terminal.refusal(&["read", "polls", "--mode", "live"]);
    assert_eq!(code, 1);
    assert!(errors.contains("live is for names whose end is fixed"), "{errors}");
    let (code, errors) = terminal.refusal(&["read", "polls..feed", "--mode", "dedup"]);
    assert_eq!(code, 2);
    assert!(errors.contains("is a view already"), "{errors}");
}

#[test]
fn a_difference_names_new_changed_and_vanished_keys() {
    let terminal = two_polls();
    let table = settled(&terminal.out(&["diff", "polls", "0", "1"]));
    let rows = ["changed b 1 2", "gone c 1 -", "new d - 1", "gone e 1 -"];
    assert_eq!(table[0], "CHANGE KEY BEFORE AFTER");
    assert_eq!(table[1..5], rows);
    assert_eq!(table[5], "1 key new, 1 changed, 2 gone, 1 the same");
    let lines = terminal.out(&["diff", "polls", "0", "1", "-o", "json"]);
    assert_eq!(lines.lines().next().unwrap(), r#"{"change":"changed","key":"b","before":"1","after":"2"}"#);
    assert_eq!(terminal.out(&["diff", "polls", "1", "1"]), "0 keys new, 0 changed, 0 gone, 3 the same\n");
    let (code, errors) = terminal.refusal(&["diff", "polls", "1", "2"]);
    assert_eq!(code, 1);
    assert!(errors.contains("commit 2 is not sealed yet"), "{errors}");
}

#[test]
fn an_explanation_tells_sizes_and_reasons() {
    let terminal = two_polls();
    let told = settled(&terminal.out(&["explain", "polls..commits-0-1..dedup"]));
    assert!(told.contains(&"commits 2 commits: 0 to 1".to_owned()), "{told:?}");
    assert!(told.contains(&"read yes".to_owned()), "{told:?}");
    assert!(told.contains(&"offsets by partition 0: 0 to 9".to_owned()), "{told:?}");
    for (name, reason) in [
        ("polls..commits-0-9", "commit 9 is not sealed yet"),
        ("polls..newest", "no view is called"),
        ("polls", "is a topic, not a view"),
        ("nothing..feed", "nothing"),
    ] {
        let ran = terminal.run(&["explain", name]);
        assert_eq!(ran.code, 1);
        assert!(ran.errors.contains(reason), "{name}: {}", ran.errors);
    }
}
