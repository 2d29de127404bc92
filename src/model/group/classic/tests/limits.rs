//! What is bounded, and the answer when a bound is reached.

use bytes::Bytes;

use super::super::super::{GroupError, Join, Sync};
use super::super::{ClassicSettings, GROUP_BYTES_MAX};
use super::rig::*;

#[test]
fn sessions_are_within_the_configured_range() {
    let mut rig = Rig::new();
    for (ms, taken) in [(999, false), (1_000, true), (60_000, true), (60_001, false), (-1, false)] {
        let ticket = rig.join(Join { session_ms: ms, asks_twice: true, ..join("a") });
        let expected = match taken {
            true => GroupError::MemberIdRequired,
            false => GroupError::SessionTimeout { ms, min: 1_000, max: 60_000 },
        };
        assert_eq!(rig.refused(ticket), expected);
    }
}

#[test]
fn one_member_too_many_is_refused_and_the_others_go_on() {
    let (mut rig, ids) = Rig::stable_with(ClassicSettings { num_members_max: 2, ..SETTINGS }, &["a", "b"]);
    let third = rig.join(join("c"));
    assert_eq!(rig.refused(third), GroupError::Full { max: 2 });
    assert_eq!(rig.state(), "Stable");
    rig.beat(&ids[0], 1).unwrap();
}

#[test]
fn with_a_lower_limit_the_last_ones_to_join_again_are_out() {
    let (mut rig, ids) = Rig::stable(&["a", "b", "c"]);
    rig.group.settings.num_members_max = 2;
    let tickets = [rig.join(rejoin(&ids[0])), rig.join(rejoin(&ids[1])), rig.join(rejoin(&ids[2]))];
    assert_eq!(rig.refused(tickets[2]), GroupError::Full { max: 2 });
    assert_eq!(rig.joined(tickets[0]).unwrap().members.len(), 2);
}

#[test]
fn metadata_and_assignments_without_end_are_refused() {
    let (mut rig, ids) = Rig::stable(&["a"]);
    let endless = Bytes::from(vec![0; GROUP_BYTES_MAX]);
    let mut wish = join("b");
    wish.protocols[0].metadata = endless.clone();
    let ticket = rig.join(wish);
    assert!(matches!(rig.refused(ticket), GroupError::TooLarge { max: GROUP_BYTES_MAX, .. }));
    let again = rig.join(rejoin(&ids[0]));
    rig.joined(again).unwrap();
    let more = vec![(ids[0].clone(), endless), (ids[0].clone(), Bytes::from_static(b"1"))];
    let ticket = rig.sync(Sync { assignments: more, ..sync(&ids[0], 2) });
    assert!(matches!(rig.synced(ticket), Err(GroupError::TooLarge { .. })));
    assert_eq!(rig.state(), "CompletingRebalance");
}

#[test]
fn a_long_client_name_is_cut_in_the_member_id() {
    let mut rig = Rig::new();
    let ticket = rig.join(Join { asks_twice: true, ..join(&"ä".repeat(10_000)) });
    let id = rig.joined(ticket).unwrap_err().member_id;
    assert_eq!(id, format!("{}-1", "ä".repeat(127)));
}
