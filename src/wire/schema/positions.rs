//! Requests about the positions of consumer groups.

use super::{INT32, Kind, Schema, array, flag, int32, int64, string};

pub static OFFSET_COMMIT: Schema = Schema {
    flexible_since: 8,
    fields: &[
        string("group_id"),
        int32("generation_id_or_member_epoch"),
        string("member_id"),
        string("group_instance_id").since(7).null_since(7),
        int64("retention_time_ms").until(4),
        array(
            "topics",
            &Kind::Struct(&[
                string("name"),
                array(
                    "partitions",
                    &Kind::Struct(&[
                        int32("partition_index"),
                        int64("committed_offset"),
                        int32("committed_leader_epoch").since(6),
                        string("committed_metadata").null_since(0),
                    ]),
                ),
            ]),
        ),
    ],
};

const FETCHED_TOPIC: Kind = Kind::Struct(&[string("name"), array("partition_indexes", &INT32)]);

pub static OFFSET_FETCH: Schema = Schema {
    flexible_since: 6,
    fields: &[
        string("group_id").until(7),
        array("topics", &FETCHED_TOPIC).until(7).null_since(2),
        array(
            "groups",
            &Kind::Struct(&[
                string("group_id"),
                string("member_id").since(9).null_since(9),
                int32("member_epoch").since(9),
                array("topics", &FETCHED_TOPIC).null_since(8),
            ]),
        )
        .since(8),
        flag("require_stable").since(7),
    ],
};

pub static OFFSET_DELETE: Schema = Schema {
    flexible_since: i16::MAX,
    fields: &[
        string("group_id"),
        array(
            "topics",
            &Kind::Struct(&[string("name"), array("partitions", &Kind::Struct(&[int32("partition_index")]))]),
        ),
    ],
};
