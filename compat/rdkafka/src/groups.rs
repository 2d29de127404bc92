//! Groups as operators see them.

use futures_executor::block_on;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::groups::GroupInfo;
use serde_json::{Value, json};

use crate::adapter::{Answer, Ask, Fault};
use crate::members::{list_of, rows};
use crate::{WAIT, config};

fn consumer(group: &str) -> Result<BaseConsumer, Fault> {
    Ok(config().set("group.id", group).set("enable.auto.commit", "false").create()?)
}

pub fn all() -> Answer {
    let found = consumer("unused")?.fetch_group_list(None, WAIT)?;
    let row = |group: &GroupInfo| json!([group.name(), group.protocol_type(), group.state()]);
    Ok(found.groups().iter().map(row).collect())
}

/// The assignments come as the bytes of the protocol, which is the member's, so their partitions are counted no further.
pub fn described(ask: &Ask) -> Answer {
    let found = consumer("unused")?.fetch_group_list(Some(&ask.group), WAIT)?;
    let Some(group) = found.groups().first() else {
        return Ok(json!({"state": "none", "members": []}));
    };
    let members: Value = group
        .members()
        .iter()
        .map(|m| json!({"client": m.client_id(), "host": m.client_host(), "partitions": [], "assigned": m.assignment().map(<[u8]>::len)}))
        .collect();
    Ok(json!({"state": group.state(), "kind": group.protocol_type(), "protocol": group.protocol(), "members": members}))
}

pub fn positions(ask: &Ask) -> Answer {
    let Value::Array(mut found) = rows(&consumer(&ask.group)?, &ask.of)? else {
        return Ok(Value::Null);
    };
    found.retain(|row| row[2] != json!(-1));
    Ok(Value::Array(found))
}

/// By a consumer that is assigned by hand, and so is no member.
pub fn set_positions(ask: &Ask) -> Answer {
    let positions = list_of(ask)?;
    let consumer = consumer(&ask.group)?;
    consumer.assign(&positions)?;
    consumer.commit(&positions, CommitMode::Sync)?;
    Ok(Value::Null)
}

pub fn delete(ask: &Ask) -> Answer {
    let admin: AdminClient<DefaultClientContext> = config().create()?;
    let options = AdminOptions::new().request_timeout(Some(WAIT));
    match block_on(admin.delete_groups(&[&ask.group], &options))?.into_iter().next() {
        Some(Ok(_)) => Ok(Value::Null),
        Some(Err((_, code))) => Err(code.into()),
        None => Err(Fault::Crash("no result".to_owned())),
    }
}
