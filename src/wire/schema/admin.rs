//! Requests that make, change and describe topics and configs.

use super::{INT32, Kind, Schema, array, flag, int8, int16, int32, int64, string, uuid};

pub static CREATE_TOPICS: Schema = Schema {
    flexible_since: 5,
    fields: &[
        array(
            "topics",
            &Kind::Struct(&[
                string("name"),
                int32("num_partitions"),
                int16("replication_factor"),
                array("assignments", &Kind::Struct(&[int32("partition_index"), array("broker_ids", &INT32)])),
                array("configs", &Kind::Struct(&[string("name"), string("value").null_since(0)])),
            ]),
        ),
        int32("timeout_ms"),
        flag("validate_only"),
    ],
};

pub static DELETE_TOPICS: Schema = Schema {
    flexible_since: 4,
    fields: &[
        array("topics", &Kind::Struct(&[string("name").null_since(6), uuid("topic_id")])).since(6),
        array("topic_names", &Kind::String).until(5),
        int32("timeout_ms"),
    ],
};

pub static CREATE_PARTITIONS: Schema = Schema {
    flexible_since: 2,
    fields: &[
        array(
            "topics",
            &Kind::Struct(&[
                string("name"),
                int32("count"),
                array("assignments", &Kind::Struct(&[array("broker_ids", &INT32)])).null_since(0),
            ]),
        ),
        int32("timeout_ms"),
        flag("validate_only"),
    ],
};

pub static DELETE_RECORDS: Schema = Schema {
    flexible_since: 2,
    fields: &[
        array(
            "topics",
            &Kind::Struct(&[
                string("name"),
                array("partitions", &Kind::Struct(&[int32("partition_index"), int64("offset")])),
            ]),
        ),
        int32("timeout_ms"),
    ],
};

pub static DESCRIBE_CONFIGS: Schema = Schema {
    flexible_since: 4,
    fields: &[
        array(
            "resources",
            &Kind::Struct(&[
                int8("resource_type"),
                string("resource_name"),
                array("configuration_keys", &Kind::String).null_since(0),
            ]),
        ),
        flag("include_synonyms"),
        flag("include_documentation").since(3),
    ],
};

pub static INCREMENTAL_ALTER_CONFIGS: Schema = Schema {
    flexible_since: 1,
    fields: &[
        array(
            "resources",
            &Kind::Struct(&[
                int8("resource_type"),
                string("resource_name"),
                array(
                    "configs",
                    &Kind::Struct(&[string("name"), int8("config_operation"), string("value").null_since(0)]),
                ),
            ]),
        ),
        flag("validate_only"),
    ],
};

pub static ALTER_CONFIGS: Schema = Schema {
    flexible_since: 2,
    fields: &[
        array(
            "resources",
            &Kind::Struct(&[
                int8("resource_type"),
                string("resource_name"),
                array("configs", &Kind::Struct(&[string("name"), string("value").null_since(0)])),
            ]),
        ),
        flag("validate_only"),
    ],
};
