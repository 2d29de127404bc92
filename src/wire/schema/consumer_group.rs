//! Requests of the consumer group protocol of KIP-848.

use super::{INT32, Kind, Schema, array, flag, int32, string, uuid};

pub static CONSUMER_GROUP_HEARTBEAT: Schema = Schema {
    flexible_since: 0,
    fields: &[
        string("group_id"),
        string("member_id"),
        int32("member_epoch"),
        string("instance_id").null_since(0),
        string("rack_id").null_since(0),
        int32("rebalance_timeout_ms"),
        array("subscribed_topic_names", &Kind::String).null_since(0),
        string("subscribed_topic_regex").since(1).null_since(1),
        string("server_assignor").null_since(0),
        array("topic_partitions", &Kind::Struct(&[uuid("topic_id"), array("partitions", &INT32)])).null_since(0),
    ],
};

pub static CONSUMER_GROUP_DESCRIBE: Schema =
    Schema { flexible_since: 0, fields: &[array("group_ids", &Kind::String), flag("include_authorized_operations")] };
