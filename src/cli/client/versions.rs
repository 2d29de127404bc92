//! Which version of each API both sides speak.

use std::collections::BTreeMap;

use kafka_protocol::messages::{ApiVersionsRequest, FetchRequest, ProduceRequest};
use kafka_protocol::protocol::{Request, VersionRange};

use super::connection::{Connection, api_name};
use super::error::ClientError;

/// Every broker understands it, and its answer has no other shape.
const API_VERSIONS_VERSION: i16 = 0;
/// From 13 on Produce and Fetch name topics by id alone; names are what commands have.
const LAST_VERSION_WITH_NAMES: i16 = 12;

/// What the broker advertises, by API key.
pub struct Versions(BTreeMap<i16, VersionRange>);

impl Versions {
    pub fn ask(connection: &mut Connection) -> Result<Versions, ClientError> {
        let response = connection.ask(API_VERSIONS_VERSION, &ApiVersionsRequest::default())?;
        if response.error_code != 0 {
            let what = "tell its versions".to_owned();
            return Err(ClientError::refused(connection.address(), what, response.error_code, None));
        }
        let ranges = response.api_keys.iter();
        let ranges = ranges.map(|api| (api.api_key, VersionRange { min: api.min_version, max: api.max_version }));
        Ok(Versions(ranges.collect()))
    }

    /// How many requests the broker knows, and in which versions those that carry records.
    pub fn in_words(&self) -> String {
        let of = |key: i16, name: &str| match self.0.get(&key) {
            Some(range) => format!("{name} {} to {}", range.min, range.max),
            None => format!("no {name}"),
        };
        let (produce, fetch) = (of(ProduceRequest::KEY, "Produce"), of(FetchRequest::KEY, "Fetch"));
        format!("{} kinds of requests, {produce}, {fetch}", self.0.len())
    }

    /// The highest version of a request that both sides speak.
    pub fn pick<R: Request>(&self, address: &str) -> Result<i16, ClientError> {
        let ours = ours::<R>();
        let common = self.0.get(&R::KEY).map(|theirs| ours.intersect(theirs)).filter(|range| !range.is_empty());
        common.map(|range| range.max).ok_or_else(|| ClientError::NoCommonVersion {
            address: address.to_owned(),
            api: api_name(R::KEY),
            theirs: self.0.get(&R::KEY).map_or_else(|| "none there".to_owned(), |range| format!("there {range}")),
            ours: ours.to_string(),
        })
    }
}

fn ours<R: Request>() -> VersionRange {
    let VersionRange { min, max } = R::VERSIONS;
    match R::KEY {
        ProduceRequest::KEY | FetchRequest::KEY => VersionRange { min, max: max.min(LAST_VERSION_WITH_NAMES) },
        _ => VersionRange { min, max },
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::MetadataRequest;

    use super::*;

    fn advertised(key: i16, min: i16, max: i16) -> Versions {
        Versions(BTreeMap::from([(key, VersionRange { min, max })]))
    }

    #[test]
    fn the_highest_common_version_is_picked() {
        assert_eq!(advertised(MetadataRequest::KEY, 0, 9).pick::<MetadataRequest>("b").ok(), Some(9));
    }

    #[test]
    fn fetch_stays_where_topics_have_names() {
        assert_eq!(advertised(FetchRequest::KEY, 4, 18).pick::<FetchRequest>("b").ok(), Some(12));
    }

    #[test]
    fn a_broker_without_a_common_version_is_told() {
        let error = advertised(MetadataRequest::KEY, 90, 99).pick::<MetadataRequest>("b:1").err();
        assert_eq!(
            error.map(|error| error.to_string()).as_deref(),
            Some("b:1 speaks no version of Metadata that this program speaks: there 90..99, here 0..13")
        );
    }
}
