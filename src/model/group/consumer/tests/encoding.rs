//! Rows as they are kept: frozen bytes, small changes, and a restart that changes nothing.

use super::*;
use crate::model::codec::CodecError;

/// A member in which no field is empty.
fn full_member() -> Member {
    let holdings = |epoch| Holdings::from([(Uuid::from_u128(1), [(PartitionId(3), epoch)].into())]);
    Member {
        epoch: 7,
        previous_epoch: 6,
        state: MemberState::Unrevoked,
        instance: Some("i".into()),
        rack: Some("r".into()),
        client_id: "c".into(),
        client_host: "/h".into(),
        rebalance_timeout_ms: 300_000,
        topics: ["t".to_owned()].into(),
        regex: Some("x".into()),
        assignor: Some("range".into()),
        assigned: holdings(5),
        revoking: Holdings::from([(Uuid::from_u128(2), [(PartitionId(4), 6)].into())]),
        target: of(1, &[3]),
        classic: Some(Classic { session_timeout_ms: 45_000, protocols: vec![("p".into(), Bytes::from_static(b"m"))] }),
    }
}

fn full_group() -> ConsumerGroup {
    let mut group = ConsumerGroup { epoch: 9, target_epoch: 8, topics_hash: Some(0x0102), ..ConsumerGroup::after(0) };
    group.put("m", full_member());
    group
}

#[test]
fn rows_are_the_golden_bytes() {
    let change = full_group().change().unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&change.head), "0100000009000000080100000000000001 02".replace(' ', ""));
    let row = change.members[0].1.as_ref().unwrap();
    let golden = concat!(
        "01",
        "00000007",
        "00000006",
        "01",
        "000493e0",
        "010000000169",
        "010000000172",
        "010000000178",
        "010000000572616e6765",
        "0000000163",
        "000000022f68",
        "000000010000000174",
        "00000001",
        "00000000000000000000000000000001",
        "00000001",
        "00000003",
        "00000005",
        "00000001",
        "00000000000000000000000000000002",
        "00000001",
        "00000004",
        "00000006",
        "00000001",
        "00000000000000000000000000000001",
        "00000001",
        "00000003",
        "01",
        "0000afc8",
        "00000001",
        "0000000170",
        "000000016d",
    );
    assert_eq!(hex(row), golden);
}

#[test]
fn rows_come_back_as_they_were() {
    let change = full_group().change().unwrap();
    let rows = change.members.into_iter().map(|(id, row)| (id, row.unwrap())).collect();
    let restored = ConsumerGroup::restore(&change.head, &rows, &Settings::default(), Timestamp(0)).unwrap();
    assert_eq!(restored.members, full_group().members);
    assert_eq!(restored.instances, full_group().instances);
    assert_eq!(restored.held, full_group().held);
    assert_eq!((restored.epoch, restored.target_epoch, restored.topics_hash), (9, 8, Some(0x0102)));
}

#[test]
fn damaged_rows_are_errors() {
    let change = full_group().change().unwrap();
    let row = change.members[0].1.clone().unwrap();
    let restore = |head: &Bytes, row: &Bytes| {
        let rows = [("m".to_owned(), row.clone())].into();
        ConsumerGroup::restore(head, &rows, &Settings::default(), Timestamp(0)).map(|_| ())
    };
    for len in 0..row.len() {
        assert!(matches!(restore(&change.head, &row.slice(..len)), Err(CodecError::Short { .. })), "{len}");
    }
    for len in 0..change.head.len() {
        restore(&change.head.slice(..len), &row).unwrap_err();
    }
    let mut newer = row.to_vec();
    newer[0] = 2;
    assert!(matches!(restore(&change.head, &newer.into()), Err(CodecError::Version { version: 2, .. })));
    let longer = [&row[..], b"x"].concat();
    assert!(matches!(restore(&change.head, &longer.into()), Err(CodecError::Excess { left: 1, .. })));
}

#[test]
fn a_heartbeat_that_changes_nothing_keeps_nothing() {
    let mut scene = Scene::with(&[("t", 4)]);
    scene.joined("a", &["t"]);
    let quiet = Heartbeat { owned: Some(of(1, &[0, 1, 2, 3])), ..beat("a", 1) };
    let around = Around { topics: &scene.table, settings: &scene.settings, classic: CLASSIC };
    scene.group.heartbeat(&quiet, &around, Timestamp(5)).unwrap();
    assert_eq!(scene.group.change(), None);
}

#[test]
fn only_the_rows_that_changed_are_kept() {
    let mut scene = Scene::with(&[("t", 2)]);
    for id in ["a", "b", "c", "d"] {
        scene.joined(id, &["t"]);
    }
    let around = Around { topics: &scene.table, settings: &scene.settings, classic: CLASSIC };
    scene.group.heartbeat(&beat("d", LEAVE), &around, Timestamp(0)).unwrap();
    let change = scene.group.change().unwrap();
    assert_eq!(change.members, [("d".to_owned(), None)]);
}
