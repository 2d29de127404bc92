//! Requests of consumer groups and about them.

use super::{Kind, Schema, array, flag, int32, records, string};

pub static JOIN_GROUP: Schema = Schema {
    flexible_since: 6,
    fields: &[
        string("group_id"),
        int32("session_timeout_ms"),
        int32("rebalance_timeout_ms").since(1),
        string("member_id"),
        string("group_instance_id").since(5).null_since(5),
        string("protocol_type"),
        array("protocols", &Kind::Struct(&[string("name"), records("metadata")])),
        string("reason").since(8).null_since(8),
    ],
};

pub static SYNC_GROUP: Schema = Schema {
    flexible_since: 4,
    fields: &[
        string("group_id"),
        int32("generation_id"),
        string("member_id"),
        string("group_instance_id").since(3).null_since(3),
        string("protocol_type").since(5).null_since(5),
        string("protocol_name").since(5).null_since(5),
        array("assignments", &Kind::Struct(&[string("member_id"), records("assignment")])),
    ],
};

pub static HEARTBEAT: Schema = Schema {
    flexible_since: 4,
    fields: &[
        string("group_id"),
        int32("generation_id"),
        string("member_id"),
        string("group_instance_id").since(3).null_since(3),
    ],
};

pub static LEAVE_GROUP: Schema = Schema {
    flexible_since: 4,
    fields: &[
        string("group_id"),
        string("member_id").until(2),
        array(
            "members",
            &Kind::Struct(&[
                string("member_id"),
                string("group_instance_id").null_since(3),
                string("reason").since(5).null_since(5),
            ]),
        )
        .since(3),
    ],
};

pub static DESCRIBE_GROUPS: Schema = Schema {
    flexible_since: 5,
    fields: &[array("groups", &Kind::String), flag("include_authorized_operations").since(3)],
};

pub static LIST_GROUPS: Schema = Schema {
    flexible_since: 3,
    fields: &[array("states_filter", &Kind::String).since(4), array("types_filter", &Kind::String).since(5)],
};

pub static DELETE_GROUPS: Schema = Schema { flexible_since: 2, fields: &[array("groups_names", &Kind::String)] };
