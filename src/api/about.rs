//! What only our own tools ask: which program this broker is, and what its clocks say. The protocol has no place for it.
//!
//! It rides on DescribeCluster as a tagged field of ours, and is put only into answers to requests that carry that tag:
//! no other client ever gets a field that it does not know. A broker that does not know the tag passes over it.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::broker::Broker;

/// "SS" as a number, far above those that Kafka gives out.
pub const ABOUT_TAG: i32 = 0x5353;

/// What the field holds, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub version: String,
    /// Wall time, ms since 1970 UTC.
    pub wall_ms: i64,
    /// The time that seals go by: the wall's at the start of the broker, steady since, and after it when it is set.
    pub steady_ms: i64,
}

/// The field, for a request that has it.
pub(super) fn answer(broker: &Broker, asked: &BTreeMap<i32, Bytes>) -> BTreeMap<i32, Bytes> {
    if !asked.contains_key(&ABOUT_TAG) {
        return BTreeMap::new();
    }
    let (wall_ms, steady_ms) = (broker.wall_now().0, broker.now().0);
    let about = About { version: env!("CARGO_PKG_VERSION").to_owned(), wall_ms, steady_ms };
    let json = serde_json::to_vec(&about).expect("a string and numbers can be written");
    BTreeMap::from([(ABOUT_TAG, Bytes::from(json))])
}
