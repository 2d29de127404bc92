//! Each fault, put into the sound run, is found.

use super::super::Kind;
use super::super::history::{Event, History, Isolation, Place, Row, Txn};
use super::sound::{
    ABORTED, ALPHA_0, ALPHA_1, ALPHA_FEED_0, BETA_0, BETA_FEED_0, FIRST, READER, UNTOLD, polled, value,
};
use super::{finds, kinds};

fn remove(rows: &mut Vec<Row>, offset: i64) {
    let before = rows.len();
    rows.retain(|(other, _)| *other != offset);
    assert_eq!(rows.len() + 1, before, "nothing at offset {offset}");
}

fn log(history: &mut History, place: Place) -> &mut Vec<Row> {
    history.found.log.get_mut(&place).unwrap()
}

fn committed(history: &mut History, place: Place) -> &mut Vec<Row> {
    history.found.committed.get_mut(&place).unwrap()
}

fn feed(history: &mut History, place: Place) -> &mut Vec<Row> {
    history.found.feed.get_mut(&place).unwrap()
}

/// Where the first event is that fulfils `is`.
fn place_of(history: &History, is: impl Fn(&Event) -> bool) -> usize {
    history.events.iter().position(is).expect("there is such an event")
}

#[test]
fn an_acknowledged_record_that_is_gone() {
    finds(Kind::Lost, |history| {
        remove(committed(history, ALPHA_1), 2);
        remove(log(history, ALPHA_1), 2);
    });
}

#[test]
fn a_record_of_a_committed_transaction_that_is_not_shown() {
    finds(Kind::Lost, |history| remove(committed(history, BETA_0), 0));
}

#[test]
fn an_acknowledged_record_of_an_aborted_transaction_that_left_the_log() {
    finds(Kind::Lost, |history| remove(log(history, ALPHA_0), 2));
}

#[test]
fn a_record_that_stands_twice() {
    finds(Kind::Duplicate, |history| log(history, ALPHA_1).push((3, value(2, 0))));
    finds(Kind::Duplicate, |history| feed(history, ALPHA_FEED_0).push((2, value(1, 2))));
}

#[test]
fn an_offset_that_held_another_record() {
    let other = (2, value(0, 0));
    finds(Kind::InconsistentOffset, |history| {
        history.events.push(polled(READER + 2, ALPHA_0, other, Isolation::Uncommitted, None));
    });
    finds(Kind::InconsistentOffset, |history| {
        let at = place_of(history, |event| matches!(event, Event::Acked { value: acked, .. } if *acked == value(0, 1)));
        history.events[at] = Event::Acked { value: value(0, 1), offset: Some(2) };
    });
}

#[test]
fn records_of_a_producer_that_changed_places() {
    finds(Kind::Order, |history| {
        let rows = log(history, ALPHA_0);
        (rows[1].1, rows[2].1) = (rows[2].1, rows[1].1);
    });
}

#[test]
fn a_reader_that_goes_back_or_leaves_something_out() {
    let reader = READER + 1;
    finds(Kind::PollSkip, |history| {
        history.events.push(polled(reader, ALPHA_0, (0, value(0, 0)), Isolation::Committed, None));
    });
    finds(Kind::PollSkip, |history| {
        let is = |event: &Event| matches!(event, Event::Polled { reader: READER, row: (2, _), .. });
        let at = place_of(history, is);
        history.events[at] = polled(READER, ALPHA_0, (4, value(1, 2)), Isolation::Uncommitted, None);
    });
}

#[test]
fn an_aborted_record_that_is_read_as_committed() {
    let row = (2, value(1, 0));
    finds(Kind::AbortedRead, |history| {
        history.events.push(polled(READER + 2, ALPHA_0, row, Isolation::Committed, None));
    });
    finds(Kind::AbortedRead, |history| committed(history, ALPHA_0).insert(1, row));
    finds(Kind::AbortedRead, |history| feed(history, ALPHA_FEED_0).push((2, row.1)));
}

#[test]
fn a_refused_record_that_is_read() {
    finds(Kind::AbortedRead, |history| {
        let is = |event: &Event| matches!(event, Event::Acked { value: acked, .. } if *acked == value(1, 0));
        let at = place_of(history, is);
        history.events[at] = Event::Refused { value: value(1, 0) };
    });
}

#[test]
fn a_transaction_of_which_a_part_is_missing() {
    finds(Kind::Torn, |history| remove(committed(history, BETA_0), 2));
    finds(Kind::Torn, |history| remove(feed(history, BETA_FEED_0), 1));
}

#[test]
fn positions_that_did_not_move_with_their_records() {
    finds(Kind::Torn, |history| {
        history.found.positions.remove(&(1, ALPHA_0));
    });
    finds(Kind::Torn, |history| {
        history.found.positions.insert((1, ALPHA_0), 77);
    });
}

#[test]
fn a_record_that_is_shown_before_its_commit_is_asked_for() {
    finds(Kind::Dirty, |history| {
        let at = place_of(history, |event| matches!(event, Event::Committing { txn } if *txn == FIRST));
        let early = polled(READER + 2, ALPHA_0, (0, value(0, 0)), Isolation::Committed, None);
        history.events.insert(at, early);
    });
    finds(Kind::Dirty, |history| {
        let at = place_of(history, |event| matches!(event, Event::Committing { txn } if *txn == UNTOLD));
        let early = polled(READER + 2, ALPHA_FEED_0, (1, value(1, 2)), Isolation::Uncommitted, None);
        history.events.insert(at, early);
    });
}

#[test]
fn a_record_that_is_shown_and_then_gone() {
    finds(Kind::Dirty, |history| {
        history.events.push(Event::Sent { value: value(2, 1), place: ALPHA_1, txn: None });
        history.events.push(polled(READER + 2, ALPHA_1, (3, value(2, 1)), Isolation::Uncommitted, None));
    });
}

#[test]
fn a_record_that_nobody_sent() {
    finds(Kind::Dirty, |history| {
        history.events.push(polled(READER + 2, ALPHA_1, (3, value(5, 5)), Isolation::Uncommitted, None));
    });
}

#[test]
fn feeds_that_hold_two_transactions_in_different_orders() {
    finds(Kind::Cycle, |history| {
        let rows = feed(history, BETA_FEED_0);
        (rows[0].1, rows[1].1) = (rows[1].1, rows[0].1);
    });
}

#[test]
fn a_transaction_that_reads_what_comes_after_it() {
    finds(Kind::Cycle, |history| {
        history.events.push(polled(3, BETA_0, (2, value(1, 3)), Isolation::Committed, Some(FIRST)));
    });
}

#[test]
fn an_aborted_reader_makes_no_cycle() {
    let kinds = kinds(|history| {
        history.events.push(polled(3, BETA_0, (2, value(1, 3)), Isolation::Committed, Some(ABORTED)));
    });
    assert_eq!(kinds, []);
}

#[test]
fn a_position_that_goes_back() {
    finds(Kind::PositionBack, |history| {
        history.events.push(Event::Position { group: 0, place: ALPHA_0, offset: Some(0) });
    });
    finds(Kind::PositionBack, |history| {
        history.events.push(Event::Position { group: 0, place: ALPHA_0, offset: None });
    });
    // It was seen, so it is committed; what came before it does not come back.
    finds(Kind::PositionBack, |history| {
        history.events.push(Event::Position { group: 1, place: ALPHA_0, offset: Some(1) });
        history.events.push(Event::Position { group: 1, place: ALPHA_0, offset: None });
    });
}

#[test]
fn a_position_of_an_aborted_transaction() {
    finds(Kind::PositionBack, |history| {
        history.events.push(Event::Position { group: 1, place: ALPHA_0, offset: Some(77) });
    });
}

#[test]
fn a_partition_with_two_owners() {
    finds(Kind::TwoOwners, |history| {
        history.events.push(Event::Owned { group: 7, place: ALPHA_0, member: 3, owned: true });
    });
}

#[test]
fn commits_that_leave_out_a_number_or_differ_from_the_feed() {
    finds(Kind::View, |history| history.found.commits.get_mut("alpha").unwrap()[2].number = 3);
    finds(Kind::View, |history| history.found.commits.get_mut("alpha").unwrap()[1].rows.clear());
    finds(Kind::View, |history| feed(history, ALPHA_FEED_0)[1].0 = 2);
    finds(Kind::View, |history| {
        let range = &mut history.found.ranges[0];
        range.rows.get_mut(&0).unwrap().push((1, value(1, 2)));
    });
}

#[test]
fn a_commit_of_two_transactions_and_a_transaction_of_two_commits() {
    finds(Kind::View, |history| {
        let commits = history.found.commits.get_mut("alpha").unwrap();
        let row = commits[2].rows.remove(&0).unwrap()[0];
        commits[0].rows.get_mut(&0).unwrap().push(row);
    });
    finds(Kind::View, |history| {
        let second = (2, value(1, 4));
        let txn: Option<Txn> = Some(UNTOLD);
        history.events.push(Event::Sent { value: second.1, place: ALPHA_0, txn });
        feed(history, ALPHA_FEED_0).push(second);
        committed(history, ALPHA_0).push((5, second.1));
        let mut commit = history.found.commits["alpha"][2].clone();
        (commit.number, commit.rows) = (3, [(0, vec![second])].into());
        history.found.commits.get_mut("alpha").unwrap().push(commit);
    });
}

#[test]
fn commits_that_do_not_name_each_other() {
    finds(Kind::View, |history| history.found.commits.get_mut("beta").unwrap()[1].siblings.clear());
}

#[test]
fn a_client_that_does_not_go_on() {
    finds(Kind::Liveness, |history| {
        history.process.progress.insert("producer 1".to_owned(), false);
    });
}

#[test]
fn a_process_that_complains_panics_or_grows() {
    finds(Kind::Process, |history| {
        history.process.log.push("2026-01-01T00:00:00Z ERROR streamstack: the disk failed".to_owned());
    });
    finds(Kind::Process, |history| {
        history.process.log.push("thread 'flusher' panicked at src/broker/flusher.rs:1:1:".to_owned());
    });
    finds(Kind::Process, |history| history.process.rss_peak_mb = 513);
}

#[test]
fn a_record_that_two_transactions_of_a_group_processed() {
    finds(Kind::Duplicate, |history| {
        let row = (0, value(0, 0));
        for txn in [FIRST, UNTOLD] {
            history.events.push(polled(READER + 3, ALPHA_0, row, Isolation::Committed, Some(txn)));
            history.events.push(Event::Staged { txn, group: 7, place: ALPHA_0, offset: 1 });
        }
    });
}

#[test]
fn a_record_that_a_group_left_out() {
    finds(Kind::Lost, |history| {
        history.found.positions.insert((7, ALPHA_0), 5);
    });
}
