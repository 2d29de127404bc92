//! Changes of overrides as IncrementalAlterConfigs asks for them.

use std::collections::BTreeMap;

use super::group::{self, GroupConfigError};
use super::group_times::GroupTimes;
use super::load::ServerConfig;
use super::server::{self, ServerValueError};
use super::table::Row;
use super::topic::{self, OverrideError};
use super::value::{ConfigType, list};

/// What to do with one override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterOp {
    Set,
    Delete,
    /// Adds the elements that the list does not hold yet.
    Append,
    /// Takes the elements out of the list.
    Subtract,
}

/// One change; `Delete` has no use for the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alteration<'a> {
    pub name: &'a str,
    pub op: AlterOp,
    pub value: &'a str,
}

/// Why a change is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AlterError {
    #[error(transparent)]
    Topic(#[from] OverrideError),
    #[error(transparent)]
    Broker(#[from] ServerValueError),
    #[error(transparent)]
    Group(#[from] GroupConfigError),
    #[error("Can't {op} to key {name} because its type is not LIST.")]
    NotAList { op: &'static str, name: String },
}

/// A feed's overrides after the changes, checked.
pub fn alter_topic(
    overrides: &BTreeMap<String, String>,
    changes: &[Alteration<'_>],
) -> Result<BTreeMap<String, String>, AlterError> {
    altered(overrides, changes, |name| Some(topic::find(name)?.row), topic::check_override)
}

/// The dynamic configs of the broker or of the cluster default after the changes, checked.
pub fn alter_broker(
    overrides: &BTreeMap<String, String>,
    changes: &[Alteration<'_>],
) -> Result<BTreeMap<String, String>, AlterError> {
    altered(overrides, changes, |name| Some(server::find(name)?.row), server::check_dynamic)
}

/// A consumer group's overrides after the changes, checked, also against the broker's bounds.
pub fn alter_group(
    overrides: &BTreeMap<String, String>,
    changes: &[Alteration<'_>],
    server: &ServerConfig,
) -> Result<BTreeMap<String, String>, AlterError> {
    let altered = altered(overrides, changes, |name| Some(group::find(name)?.row), group::check_override)?;
    GroupTimes::check(&altered, server)?;
    Ok(altered)
}

fn altered<E>(
    overrides: &BTreeMap<String, String>,
    changes: &[Alteration<'_>],
    find: impl Fn(&str) -> Option<Row>,
    check: impl Fn(&str, &str) -> Result<String, E>,
) -> Result<BTreeMap<String, String>, AlterError>
where
    AlterError: From<E>,
{
    let mut altered = overrides.clone();
    for change in changes {
        let wanted = match find(change.name) {
            Some(row) => altered_value(row.kind, row.default, altered.get(change.name), change)?,
            // There or not, as in Kafka: tools that bring configs to a wanted state delete whatever they do not want. For any
            // other change the check says what is wrong with the name.
            None if change.op == AlterOp::Delete => None,
            None => Some(change.value.to_owned()),
        };
        match wanted {
            Some(value) => altered.insert(change.name.to_owned(), check(change.name, &value)?),
            None => altered.remove(change.name),
        };
    }
    Ok(altered)
}

/// The override's new value, or `None` when it goes. As in Kafka, a list that is not overridden starts
/// from the default of the table, not from the broker's value.
fn altered_value(
    kind: ConfigType,
    default: Option<&str>,
    current: Option<&String>,
    change: &Alteration<'_>,
) -> Result<Option<String>, AlterError> {
    let op = match change.op {
        AlterOp::Set => return Ok(Some(change.value.to_owned())),
        AlterOp::Delete => return Ok(None),
        AlterOp::Append => "APPEND",
        AlterOp::Subtract => "SUBTRACT",
    };
    if kind != ConfigType::List {
        return Err(AlterError::NotAList { op, name: change.name.to_owned() });
    }
    let mut elements = list(current.map(String::as_str).or(default).unwrap_or_default());
    for element in list(change.value) {
        match change.op {
            AlterOp::Append if !elements.contains(&element) => elements.push(element),
            AlterOp::Subtract => elements.retain(|other| *other != element),
            _ => {}
        }
    }
    Ok(Some(elements.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'a>(name: &'a str, op: AlterOp, value: &'a str) -> Alteration<'a> {
        Alteration { name, op, value }
    }

    fn altered(start: &[(&str, &str)], changes: &[Alteration<'_>]) -> Result<String, String> {
        let start = start.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let altered = alter_topic(&start, changes).map_err(|error| error.to_string())?;
        let pairs: Vec<String> = altered.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(pairs.join(" "))
    }

    #[test]
    fn set_delete_append_and_subtract() {
        use AlterOp::*;
        let append = change("cleanup.policy", Append, "compact");
        assert_eq!(altered(&[], &[append]).unwrap(), "cleanup.policy=delete,compact");
        assert_eq!(altered(&[("cleanup.policy", "compact")], &[append]).unwrap(), "cleanup.policy=compact");
        let subtract = change("cleanup.policy", Subtract, "delete");
        assert_eq!(altered(&[], &[append, subtract]).unwrap(), "cleanup.policy=compact");
        assert_eq!(altered(&[("segment.ms", "5")], &[change("segment.ms", Delete, "")]).unwrap(), "");
        assert_eq!(altered(&[], &[change("segment.ms", Set, " 7")]).unwrap(), "segment.ms=7");
    }

    #[test]
    fn a_wrong_change_changes_nothing_and_says_why() {
        use AlterOp::*;
        assert_eq!(
            altered(&[], &[change("retention.ms", Append, "1")]).unwrap_err(),
            "Can't APPEND to key retention.ms because its type is not LIST."
        );
        assert!(altered(&[], &[change("nope", Set, "")]).unwrap_err().starts_with("Unknown topic config name: nope"));
        assert_eq!(altered(&[], &[change("nope", Delete, "")]).unwrap(), "");
        assert_eq!(altered(&[("gone", "1")], &[change("gone", Delete, "")]).unwrap(), "");
        let broker = alter_broker(&BTreeMap::new(), &[change("node.id", Set, "3")]).unwrap_err();
        assert_eq!(broker.to_string(), "Cannot update these configs dynamically: [node.id]");
    }
}
