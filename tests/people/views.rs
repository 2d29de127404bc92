//! Views that leave records out, as a person reads, compares and asks about them.

use crate::terminal::{Terminal, settled};

/// Two polls: `a` stays, `b` changes, `c` goes, `d` comes, and `e` is deleted.
fn two_polls() -> Terminal {
    let terminal = Terminal::new();
    for (label, lines) in [("one", "a:1\nb:1\nc:1\ne:1\na:1\n"), ("two", "a:1\nb:2\nd:1\ne:\n")] {
        let args = ["produce", "polls", "-k", ":", "--null", "", "--seal", label];
        assert_eq!(terminal.feed(&args, lines.to_owned()).code, 0);
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
    assert_eq!(table, ["CHANGE KEY BEFORE AFTER", "changed b 1 2", "gone c 1 -", "new d - 1", "gone e 1 -"]);
    let lines = terminal.out(&["diff", "polls", "0", "1", "-o", "json"]);
    assert_eq!(lines.lines().next().unwrap(), r#"{"after":"2","before":"1","change":"changed","key":"b"}"#);
    assert_eq!(terminal.out(&["diff", "polls", "1", "1"]), "");
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
        let (code, errors) = terminal.refusal(&["explain", name]);
        assert_eq!(code, 1);
        assert!(errors.contains(reason), "{name}: {errors}");
    }
}
