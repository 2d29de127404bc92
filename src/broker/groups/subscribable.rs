//! The topics and views as a consumer group's members subscribe to them.

use std::collections::HashMap;
use std::ops::Deref;

use uuid::Uuid;

use super::super::Broker;
use crate::disk::waiting;
use crate::model::group::consumer::{Topic, Topics};
use crate::view::name::{TopicName, parse_topic};

/// What is there at the moment of asking. It is asked under a group's lock, and never waits for the disk.
pub struct Subscribable<B> {
    broker: B,
    views: HashMap<String, Option<Topic>>,
}

impl<B: Deref<Target = Broker>> Subscribable<B> {
    /// Without a look beforehand.
    pub fn now(broker: B) -> Subscribable<B> {
        Subscribable { broker, views: HashMap::new() }
    }

    /// Looks these views up, which may have to wait for the disk.
    pub fn with_views(broker: B, views: &[String]) -> Subscribable<B> {
        let views = views.iter().map(|name| (name.clone(), find(&broker, name))).collect();
        Subscribable { broker, views }
    }
}

impl<B: Deref<Target = Broker>> Topics for Subscribable<B> {
    fn version(&self) -> u64 {
        self.broker.catalog().version()
    }

    /// A view that came since they were looked up is found if that takes no wait. Else it is looked for again soon, as one
    /// that is not there yet.
    fn find(&self, name: &str) -> Option<Topic> {
        match self.views.get(name) {
            Some(found) => *found,
            None => waiting::without(|| find(&self.broker, name)).flatten(),
        }
    }

    fn name(&self, id: &Uuid) -> Option<String> {
        topic_name_of(&self.broker, id)
    }

    /// No views: whoever subscribes to a pattern would read everything several times.
    fn each_name(&self, visit: &mut dyn FnMut(&str)) {
        self.broker.catalog().all().iter().for_each(|feed| visit(&feed.name));
    }
}

fn find(broker: &Broker, name: &str) -> Option<Topic> {
    match parse_topic(name).ok()? {
        TopicName::Plain(plain) => {
            let feed = broker.catalog().by_name(plain)?;
            let partitions = match feed.alias() {
                Some(view) => broker.resolve_view(&view).ok()?.view.partitions(),
                None => feed.partitions(),
            };
            Some(Topic { id: feed.topic_id, partitions })
        }
        TopicName::View(view) => {
            let view = broker.resolve_view(&view).ok()?;
            Some(Topic { id: view.topic_id, partitions: view.view.partitions() })
        }
    }
}

/// The name of the topic or view with that id, if its feed is still there.
pub fn topic_name_of(broker: &Broker, id: &Uuid) -> Option<String> {
    if let Some(feed) = broker.catalog().by_topic_id(id) {
        return Some(feed.name.clone());
    }
    let name = broker.view_name(id)?;
    let feed = broker.catalog().by_name(&name.feed)?;
    // The feed may have been deleted and made again: then the id is an old one.
    (name.topic_id(&feed.topic_id) == *id).then(|| name.to_string())
}
