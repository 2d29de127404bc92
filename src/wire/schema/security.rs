//! Requests about who may do what, and how much of it.

use super::{Field, Kind, Schema, array, flag, int8, string};

pub static DESCRIBE_ACLS: Schema = Schema { flexible_since: 2, fields: ACL_FILTER };

pub static CREATE_ACLS: Schema = Schema {
    flexible_since: 2,
    fields: &[array(
        "creations",
        &Kind::Struct(&[
            int8("resource_type"),
            string("resource_name"),
            int8("resource_pattern_type"),
            string("principal"),
            string("host"),
            int8("operation"),
            int8("permission_type"),
        ]),
    )],
};

pub static DELETE_ACLS: Schema = Schema { flexible_since: 2, fields: &[array("filters", &Kind::Struct(ACL_FILTER))] };

const ACL_FILTER: &[Field] = &[
    int8("resource_type_filter"),
    string("resource_name_filter").null_since(0),
    int8("pattern_type_filter"),
    string("principal_filter").null_since(0),
    string("host_filter").null_since(0),
    int8("operation"),
    int8("permission_type"),
];

pub static DESCRIBE_CLIENT_QUOTAS: Schema = Schema {
    flexible_since: 1,
    fields: &[
        array("components", &Kind::Struct(&[string("entity_type"), int8("match_type"), string("match").null_since(0)])),
        flag("strict"),
    ],
};

pub static DESCRIBE_USER_SCRAM_CREDENTIALS: Schema =
    Schema { flexible_since: 0, fields: &[array("users", &Kind::Struct(&[string("name")])).null_since(0)] };
