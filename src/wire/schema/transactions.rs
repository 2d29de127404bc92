//! Requests of transactional producers, and of the tools that look at transactions and abort those that hang.

use super::{Field, INT32, Kind, Schema, array, flag, int16, int32, int64, string};

const PARTITIONS: Kind = Kind::Struct(&[string("name"), array("partitions", &INT32)]);

/// Up to version 3. The later ones are what brokers of a cluster say to each other.
pub static ADD_PARTITIONS_TO_TXN: Schema = Schema {
    flexible_since: 3,
    fields: &[string("transactional_id"), int64("producer_id"), int16("producer_epoch"), array("topics", &PARTITIONS)],
};

pub static ADD_OFFSETS_TO_TXN: Schema = Schema {
    flexible_since: 3,
    fields: &[string("transactional_id"), int64("producer_id"), int16("producer_epoch"), string("group_id")],
};

pub static END_TXN: Schema = Schema {
    flexible_since: 3,
    fields: &[string("transactional_id"), int64("producer_id"), int16("producer_epoch"), flag("committed")],
};

pub static WRITE_TXN_MARKERS: Schema = Schema {
    flexible_since: 1,
    fields: &[array(
        "markers",
        &Kind::Struct(&[
            int64("producer_id"),
            int16("producer_epoch"),
            flag("transaction_result"),
            array("topics", &Kind::Struct(&[string("name"), array("partition_indexes", &INT32)])),
            int32("coordinator_epoch"),
        ]),
    )],
};

pub static TXN_OFFSET_COMMIT: Schema = Schema {
    flexible_since: 3,
    fields: &[
        string("transactional_id"),
        string("group_id"),
        int64("producer_id"),
        int16("producer_epoch"),
        int32("generation_id").since(3),
        string("member_id").since(3),
        string("group_instance_id").since(3).null_since(3),
        array("topics", &Kind::Struct(&[string("name"), array("partitions", &Kind::Struct(STAGED_POSITION))])),
    ],
};

const STAGED_POSITION: &[Field] = &[
    int32("partition_index"),
    int64("committed_offset"),
    int32("committed_leader_epoch").since(2),
    string("committed_metadata").null_since(0),
];

pub static DESCRIBE_TRANSACTIONS: Schema =
    Schema { flexible_since: 0, fields: &[array("transactional_ids", &Kind::String)] };

pub static LIST_TRANSACTIONS: Schema = Schema {
    flexible_since: 0,
    fields: &[
        array("state_filters", &Kind::String),
        array("producer_id_filters", &Kind::Fixed(8)),
        int64("duration_filter").since(1),
        string("transactional_id_pattern").since(2).null_since(2),
    ],
};

#[cfg(test)]
mod tests;
