//! This broker, as clients are told of it: the only node, leader of everything.

use kafka_protocol::messages::BrokerId;
use kafka_protocol::protocol::StrBytes;

use super::RequestContext;
use crate::broker::Broker;

/// The leader epoch of every partition, always: there is no other leader.
pub const LEADER_EPOCH: i32 = 0;

/// What clients do without asking for authorized operations.
pub const NOT_ASKED: i32 = i32::MIN;

/// Operations on a topic, as bits, when nothing is forbidden: read, write, create, delete, alter, describe, describe and
/// alter configs.
pub const TOPIC_OPERATIONS: i32 = 0b1101_1111_1000;

/// Operations on a view: read, describe, describe configs.
pub const VIEW_OPERATIONS: i32 = 0b0101_0000_1000;

/// Operations on the cluster: create, alter, describe, cluster action, describe and alter configs, idempotent write.
pub const CLUSTER_OPERATIONS: i32 = 0b1_1111_1010_0000;

/// Operations on a group: read, delete, describe, describe and alter configs.
pub const GROUP_OPERATIONS: i32 = 0b1101_0100_1000;

/// Where a client finds this broker.
pub struct Node {
    pub id: BrokerId,
    pub host: StrBytes,
    pub port: i32,
    pub rack: Option<StrBytes>,
}

impl Node {
    /// As the client of this request should reach it.
    pub fn of(broker: &Broker, context: &RequestContext<'_>) -> Node {
        let settings = broker.settings().typed();
        let (host, port) = settings.advertised_address(&context.connection.listener, context.connection.local);
        Node {
            id: BrokerId(settings.node_id),
            host: StrBytes::from_string(host),
            port: port.into(),
            rack: settings.rack.clone().map(StrBytes::from_string),
        }
    }
}

/// The bits of `all` if the client asked for them.
pub fn operations(asked: bool, all: i32) -> i32 {
    if asked { all } else { NOT_ASKED }
}
