//! The topics and views as a consumer group's members subscribe to them.

use uuid::Uuid;

use super::described::Described;
use crate::broker::Broker;
use crate::model::group::consumer::{Topic, Topics};

/// What is there at the moment of asking.
pub struct Subscribable<'a>(pub &'a Broker);

impl Subscribable<'_> {
    /// The name of the topic with that id, if it is still there.
    pub fn name(&self, id: &Uuid) -> Option<String> {
        Described::by_id(self.0, id).ok().map(|topic| topic.name)
    }
}

impl Topics for Subscribable<'_> {
    fn version(&self) -> u64 {
        self.0.catalog().version()
    }

    /// Views are found when a member names them.
    fn find(&self, name: &str) -> Option<Topic> {
        let found = Described::by_name(self.0, name).ok()?;
        Some(Topic { id: found.topic_id, partitions: found.partitions })
    }

    /// No views: whoever subscribes to a pattern would read everything several times.
    fn each_name(&self, visit: &mut dyn FnMut(&str)) {
        self.0.catalog().all().iter().for_each(|feed| visit(&feed.name));
    }
}
