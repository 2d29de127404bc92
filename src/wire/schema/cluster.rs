//! Requests about the cluster: what it speaks, who is in it, which topics it has.

use super::{Kind, Schema, array, flag, int8, int32, string, structure, uuid};

pub static API_VERSIONS: Schema = Schema {
    flexible_since: 3,
    fields: &[
        string("client_software_name").since(3),
        string("client_software_version").since(3),
        string("cluster_id").since(5).null_since(5),
        int32("node_id").since(5),
    ],
};

pub static METADATA: Schema = Schema {
    flexible_since: 9,
    fields: &[
        array("topics", &Kind::Struct(&[uuid("topic_id").since(10), string("name").null_since(10)])).null_since(1),
        flag("allow_auto_topic_creation").since(4),
        flag("include_cluster_authorized_operations").since(8).until(10),
        flag("include_topic_authorized_operations").since(8),
    ],
};

pub static FIND_COORDINATOR: Schema = Schema {
    flexible_since: 3,
    fields: &[string("key").until(3), int8("key_type").since(1), array("coordinator_keys", &Kind::String).since(4)],
};

pub static DESCRIBE_CLUSTER: Schema = Schema {
    flexible_since: 0,
    fields: &[
        flag("include_cluster_authorized_operations"),
        int8("endpoint_type").since(1),
        flag("include_fenced_brokers").since(2),
    ],
};

pub static DESCRIBE_TOPIC_PARTITIONS: Schema = Schema {
    flexible_since: 0,
    fields: &[
        array("topics", &Kind::Struct(&[string("name")])),
        int32("response_partition_limit"),
        structure("cursor", &[string("topic_name"), int32("partition_index")]).null_since(0),
    ],
};
