//! What the group knows of its members' topics, by which old positions are told from those in use.

use super::super::super::Protocol;
use super::rig::*;
use crate::model::{Readers, Timestamp};

/// A consumer's metadata for the topic `orders`; it stands for the client's name too.
const READS_ORDERS: &str = "\0\u{3}\0\0\0\u{1}\0\u{6}orders";
const KEPT_AT: Timestamp = Timestamp(77);

#[test]
fn a_group_without_members_knows_since_when() {
    let mut rig = Rig::new();
    assert_eq!(rig.group.readers(KEPT_AT), Readers::Unknown, "nobody ever joined it");
    let ticket = rig.join(join(READS_ORDERS));
    rig.pass(0);
    let joined = rig.joined(ticket).unwrap();
    rig.leave(&joined.member_id, None).unwrap();
    assert_eq!(rig.group.readers(KEPT_AT), Readers::LeftAt(KEPT_AT));
    rig.restart();
    assert_eq!(rig.group.readers(KEPT_AT), Readers::LeftAt(KEPT_AT));
    assert!(!rig.group.subscribes_to("orders"));
}

#[test]
fn while_members_agree_nothing_is_known_for_certain() {
    let (mut rig, _) = Rig::stable(&[READS_ORDERS]);
    assert_eq!(rig.group.readers(KEPT_AT), Readers::Reading);
    assert!(rig.group.subscribes_to("orders") && !rig.group.subscribes_to("visits"));
    rig.join(join("b"));
    assert_eq!((rig.state(), rig.group.readers(KEPT_AT)), ("PreparingRebalance", Readers::Agreeing));
    assert!(rig.group.subscribes_to("orders"), "as long as a member says so");
}

#[test]
fn members_of_another_kind_or_with_garbage_tell_nothing() {
    let (rig, _) = Rig::stable(&[READS_ORDERS, "garbage"]);
    assert_eq!((rig.group.readers(KEPT_AT), rig.group.tells_topics()), (Readers::Agreeing, false));
    assert!(rig.group.subscribes_to("orders"));
    let mut rig = Rig::new();
    let protocols = vec![Protocol { name: "v1".to_owned(), metadata: READS_ORDERS.into() }];
    rig.join(crate::model::group::Join { protocol_type: "connect".to_owned(), protocols, ..join("a") });
    rig.pass(0);
    assert!(!rig.group.tells_topics() && !rig.group.subscribes_to("orders"));
}
