//! Which program a broker is, and how far its clock is from ours.

use bytes::Bytes;
use kafka_protocol::messages::DescribeClusterRequest;

use super::{Client, ClientError};
use crate::api::{ABOUT_TAG, About};
use crate::disk::Clock;

/// What a broker told of itself.
#[derive(Clone, Debug)]
pub struct Told {
    pub about: About,
    /// How far its clock is ahead of ours.
    pub ahead_ms: i64,
    /// By how much that may be wrong: half the time that the answer took.
    pub unsure_ms: i64,
}

impl Client {
    /// None when the broker is another program.
    pub fn about(&mut self) -> Result<Option<Told>, ClientError> {
        if self.versions.pick::<DescribeClusterRequest>(self.address()).is_err() {
            return Ok(None);
        }
        let request = DescribeClusterRequest::default().with_unknown_tagged_field(ABOUT_TAG, Bytes::new());
        let (asked_ms, asked_at) = (self.clock.wall_ms(), self.clock.elapsed());
        let response = self.ask(&request)?;
        let took = self.clock.elapsed() - asked_at;
        let Some(json) = response.unknown_tagged_fields.get(&ABOUT_TAG) else { return Ok(None) };
        let about: About = serde_json::from_slice(json).map_err(|error| ClientError::Garbled {
            address: self.address().to_owned(),
            api: "DescribeCluster",
            reason: error.to_string(),
        })?;
        let unsure_ms = i64::try_from(took.as_millis() / 2).unwrap_or(i64::MAX);
        let ahead_ms = about.wall_ms - asked_ms.saturating_add(unsure_ms);
        Ok(Some(Told { about, ahead_ms, unsure_ms }))
    }
}
