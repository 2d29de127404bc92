//! What outlives a restart.

use super::super::super::{GroupError, Join};
use super::super::ClassicGroup;
use super::rig::*;
use crate::model::Timestamp;
use crate::model::codec::CodecError;

#[test]
fn a_restart_causes_no_rebalance() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let before = rig.group.describe();
    rig.restart();
    assert_eq!(rig.group.describe(), before);
    assert_eq!(rig.state(), "Stable");
    for id in &ids {
        rig.beat(id, 1).unwrap();
        let ticket = rig.sync(sync(id, 1));
        assert_eq!(rig.synced(ticket).unwrap().assignment, *id);
    }
    let follower = rig.join(rejoin(&ids[1]));
    assert_eq!(rig.joined(follower).unwrap().leader, ids[0]);
    assert_eq!(rig.state(), "Stable");
}

#[test]
fn sessions_start_anew_at_a_restart() {
    let (mut rig, _) = Rig::stable(&["a"]);
    rig.pass(SESSION_MS - 1);
    rig.restart();
    rig.pass(SESSION_MS - 1);
    assert_eq!(rig.group.num_members(), 1);
    rig.pass(1);
    assert_eq!((rig.group.num_members(), rig.state()), (0, "Empty"));
}

/// A client that is the instance `one`.
fn one(unique: &str) -> Join {
    Join { instance_id: Some("one".into()), unique: unique.into(), ..join("one") }
}

/// A group whose one member is that instance, in generation 1.
fn of_one() -> Rig {
    let mut rig = Rig::new();
    let ticket = rig.join(one("1"));
    rig.pass(0);
    let id = rig.joined(ticket).unwrap().member_id;
    rig.complete(&[id], 1);
    rig
}

#[test]
fn a_static_member_that_came_back_is_known_by_its_new_id_after_a_restart() {
    let mut rig = of_one();
    rig.join(one("2"));
    rig.restart();
    assert_eq!(rig.beat_as("one-2", Some("one"), 1), Ok(()));
    let fenced = GroupError::Fenced { instance: "one".into(), member: "one-1".into(), current: "one-2".into() };
    assert_eq!(rig.beat_as("one-1", Some("one"), 1), Err(fenced));
    let ticket = rig.sync(sync("one-2", 1));
    assert_eq!(rig.synced(ticket).unwrap().assignment.as_ref(), b"one-1");
}

#[test]
fn one_that_came_back_during_a_rebalance_is_known_by_its_new_id_after_a_restart() {
    let mut rig = of_one();
    rig.join(join("newcomer"));
    rig.join(Join { protocols: protocols(&[("range", "changed")]), ..one("2") });
    rig.restart();
    assert_eq!(rig.group.describe().members[0].metadata.as_ref(), b"one", "what the generation was made of");
    assert_eq!(rig.beat_as("one-2", Some("one"), 1), Ok(()));
}

#[test]
fn a_generation_that_a_crash_took_back_is_not_told_again() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let tickets = [rig.join(rejoin(&ids[0])), rig.join(rejoin(&ids[1]))];
    tickets.into_iter().for_each(|ticket| assert_eq!(rig.joined(ticket).unwrap().generation, 2));
    rig.restart();
    assert_eq!(rig.beat(&ids[0], 2), Err(GroupError::IllegalGeneration { given: 2, current: 1 }));
    let tickets = [rig.join(rejoin(&ids[0])), rig.join(rejoin(&ids[1]))];
    assert_eq!(rig.joined(tickets[0]).unwrap().generation, 3);
}

#[test]
fn one_that_left_before_a_restart_is_out_again_after_its_session() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    rig.leave(&ids[1], None).unwrap();
    rig.restart();
    rig.beat(&ids[0], 1).unwrap();
    rig.pass(SESSION_MS - 1);
    rig.beat(&ids[0], 1).unwrap();
    rig.pass(1);
    assert_eq!(rig.beat(&ids[0], 1), Err(GroupError::RebalanceInProgress));
}

#[test]
fn members_whose_rows_are_the_same_are_not_kept_again() {
    let (mut rig, ids) = Rig::stable(&["a", "b"]);
    let before = rig.members.clone();
    let tickets = [rig.join(rejoin(&ids[0])), rig.join(rejoin(&ids[1]))];
    tickets.into_iter().for_each(|ticket| drop(rig.joined(ticket).unwrap()));
    // Would change nothing, and must not be needed.
    rig.members.clear();
    rig.complete(&ids, 2);
    assert!(rig.members.is_empty());
    rig.members = before;
    rig.restart();
    rig.beat(&ids[0], 2).unwrap();
}

#[test]
fn what_is_kept_reads_as_ever() {
    let (rig, ids) = Rig::stable(&["a"]);
    let member = &rig.members[&ids[0]];
    assert_eq!(
        rig.head.as_ref(),
        b"\x01\0\0\0\x01\0\0\0\x01\x01\0\0\0\x08consumer\x01\0\0\0\x05range\x01\0\0\0\x03a-1"
    );
    assert_eq!(
        member.as_ref(),
        b"\x01\0\0\0\0\x01a\0\0\0\x0a/127.0.0.1\0\0\0\0\0\0\x27\x10\0\0\0\0\0\0\x75\x30\
          \0\0\0\x01\0\0\0\x05range\0\0\0\x01a\0\0\0\x03a-1"
    );
}

#[test]
fn damage_in_what_was_kept_is_told_by_its_byte() {
    let (rig, _) = Rig::stable(&["a"]);
    let restore = |head: &[u8]| {
        let restored =
            ClassicGroup::restore(SETTINGS, &bytes::Bytes::copy_from_slice(head), &rig.members, Timestamp(0));
        restored.map(|group| group.num_members())
    };
    assert_eq!(restore(&rig.head), Ok(1));
    assert_eq!(restore(b"\x02"), Err(CodecError::Version { at: 0, what: "a group", version: 2 }));
    for len in 0..rig.head.len() {
        assert!(matches!(restore(&rig.head[..len]), Err(CodecError::Short { .. })), "{len} bytes");
    }
    assert_eq!(restore(&[&rig.head[..], &[0]].concat()), Err(CodecError::Excess { at: rig.head.len(), left: 1 }));
}
