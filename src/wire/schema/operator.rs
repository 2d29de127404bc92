//! Requests of the operator's tools about the machine: sizes, replicas, leaders, producers, features.

use super::{INT32, Kind, Schema, array, flag, int8, int16, int32, string};

pub static DESCRIBE_LOG_DIRS: Schema = Schema {
    flexible_since: 2,
    fields: &[array("topics", &Kind::Struct(&[string("topic"), array("partitions", &INT32)])).null_since(0)],
};

pub static ELECT_LEADERS: Schema = Schema {
    flexible_since: 2,
    fields: &[
        int8("election_type").since(1),
        array("topic_partitions", &Kind::Struct(&[string("topic"), array("partitions", &INT32)])).null_since(0),
        int32("timeout_ms"),
    ],
};

pub static ALTER_PARTITION_REASSIGNMENTS: Schema = Schema {
    flexible_since: 0,
    fields: &[
        int32("timeout_ms"),
        flag("allow_replication_factor_change").since(1),
        array(
            "topics",
            &Kind::Struct(&[
                string("name"),
                array(
                    "partitions",
                    &Kind::Struct(&[int32("partition_index"), array("replicas", &INT32).null_since(0)]),
                ),
            ]),
        ),
    ],
};

pub static LIST_PARTITION_REASSIGNMENTS: Schema = Schema {
    flexible_since: 0,
    fields: &[
        int32("timeout_ms"),
        array("topics", &Kind::Struct(&[string("name"), array("partition_indexes", &INT32)])).null_since(0),
    ],
};

pub static UPDATE_FEATURES: Schema = Schema {
    flexible_since: 0,
    fields: &[
        int32("timeout_ms"),
        array(
            "feature_updates",
            &Kind::Struct(&[
                string("feature"),
                int16("max_version_level"),
                flag("allow_downgrade").until(0),
                int8("upgrade_type").since(1),
            ]),
        ),
        flag("validate_only").since(1),
    ],
};

pub static DESCRIBE_PRODUCERS: Schema = Schema {
    flexible_since: 0,
    fields: &[array("topics", &Kind::Struct(&[string("name"), array("partition_indexes", &INT32)]))],
};

pub static LIST_CONFIG_RESOURCES: Schema =
    Schema { flexible_since: 0, fields: &[array("resource_types", &Kind::Fixed(1)).since(1)] };
