//! Requests about records and offsets.

use super::{Field, INT32, Kind, Schema, array, int8, int16, int32, int64, records, string, structure, uuid};

pub static PRODUCE: Schema = Schema {
    flexible_since: 9,
    fields: &[
        string("transactional_id").null_since(3),
        int16("acks"),
        int32("timeout_ms"),
        array(
            "topics",
            &Kind::Struct(&[
                string("name").until(12),
                uuid("topic_id").since(13),
                array("partitions", &Kind::Struct(&[int32("index"), records("records").null_since(0)])),
            ]),
        ),
    ],
};

pub static FETCH: Schema = Schema {
    flexible_since: 12,
    fields: &[
        string("cluster_id").since(12).null_since(12).tagged(0),
        int32("replica_id").until(14),
        structure("replica_state", &[int32("replica_id"), int64("replica_epoch")]).since(15).tagged(1),
        int32("max_wait_ms"),
        int32("min_bytes"),
        int32("max_bytes"),
        int8("isolation_level"),
        int32("session_id").since(7),
        int32("session_epoch").since(7),
        array("topics", &Kind::Struct(FETCH_TOPIC)),
        array("forgotten_topics", &Kind::Struct(FORGOTTEN_TOPIC)).since(7),
        string("rack_id").since(11),
    ],
};

const FETCH_TOPIC: &[Field] = &[
    string("topic").until(12),
    uuid("topic_id").since(13),
    array(
        "partitions",
        &Kind::Struct(&[
            int32("partition"),
            int32("current_leader_epoch").since(9),
            int64("fetch_offset"),
            int32("last_fetched_epoch").since(12),
            int64("log_start_offset").since(5),
            int32("partition_max_bytes"),
            uuid("replica_directory_id").since(17).tagged(0),
            int64("high_watermark").since(18).tagged(1),
        ]),
    ),
];

const FORGOTTEN_TOPIC: &[Field] = &[string("topic").until(12), uuid("topic_id").since(13), array("partitions", &INT32)];

pub static LIST_OFFSETS: Schema = Schema {
    flexible_since: 6,
    fields: &[
        int32("replica_id"),
        int8("isolation_level").since(2),
        array(
            "topics",
            &Kind::Struct(&[
                string("name"),
                array(
                    "partitions",
                    &Kind::Struct(&[
                        int32("partition_index"),
                        int32("current_leader_epoch").since(4),
                        int64("timestamp"),
                    ]),
                ),
            ]),
        ),
        int32("timeout_ms").since(10),
    ],
};

pub static OFFSET_FOR_LEADER_EPOCH: Schema = Schema {
    flexible_since: 4,
    fields: &[
        int32("replica_id").since(3),
        array(
            "topics",
            &Kind::Struct(&[
                string("topic"),
                array(
                    "partitions",
                    &Kind::Struct(&[int32("partition"), int32("current_leader_epoch"), int32("leader_epoch")]),
                ),
            ]),
        ),
    ],
};

pub static INIT_PRODUCER_ID: Schema = Schema {
    flexible_since: 2,
    fields: &[
        string("transactional_id").null_since(0),
        int32("transaction_timeout_ms"),
        int64("producer_id").since(3),
        int16("producer_epoch").since(3),
    ],
};
