//! One group, of either kind.

use std::collections::BTreeSet;

use super::classic::{ClassicGroup, ClassicSettings};
use super::consumer::{self, Around, ConsumerGroup, Topics};
use super::{Committer, Description, Effect, GroupError, Input, Request, Summary};
use crate::model::codec::CodecError;
use crate::model::{GroupKind, Kept, MovedPosition, Readers, Timestamp};

/// What a broker's configuration says of groups.
#[derive(Clone, Debug)]
pub struct GroupSettings {
    pub classic: ClassicSettings,
    pub consumer: consumer::Settings,
}

impl GroupSettings {
    /// What a group is told with each request.
    pub fn around<'a>(&'a self, topics: &'a dyn Topics) -> Around<'a> {
        Around { topics, settings: &self.consumer, classic: self.classic }
    }
}

/// A group's machine.
#[derive(Debug)]
pub enum Group {
    Classic(ClassicGroup),
    Consumer(ConsumerGroup),
}

impl Group {
    /// A group that nobody has joined.
    pub fn new(settings: &GroupSettings) -> Group {
        Group::Classic(ClassicGroup::new(settings.classic))
    }

    /// The group as it was kept. All sessions start now.
    pub fn restore(kept: &Kept, settings: &GroupSettings, now: Timestamp) -> Result<Group, CodecError> {
        match kept.kind {
            GroupKind::Classic => {
                let (head, members) = (&kept.head, &kept.members);
                Ok(Group::Classic(ClassicGroup::restore(settings.classic, head, members, now)?))
            }
            GroupKind::Consumer => {
                Ok(Group::Consumer(ConsumerGroup::restore(&kept.head, &kept.members, &settings.consumer, now)?))
            }
        }
    }

    pub fn kind(&self) -> GroupKind {
        match self {
            Group::Classic(_) => GroupKind::Classic,
            Group::Consumer(_) => GroupKind::Consumer,
        }
    }

    /// Takes what comes. Each ticket is answered once, now or by a later effect, unless it is gone before.
    pub fn handle(&mut self, input: Input, around: &Around<'_>, now: Timestamp, effects: &mut Vec<Effect>) {
        if let Input::Asked { request: Request::Join(join), .. } = &input {
            self.await_join(join, around, now, effects);
        }
        match self {
            Group::Classic(group) => group.handle(input, now, effects),
            Group::Consumer(group) => {
                let answer = group.handle(input, around, now);
                self.keep_or_come_back(around, now, effects);
                effects.extend(answer.map(|(to, answer)| Effect::Reply { to, answer }));
            }
        }
    }

    /// When the group wants [`Input::Due`]; it may turn out to be too early.
    pub fn deadline(&self) -> Option<Timestamp> {
        match self {
            Group::Classic(group) => group.deadline(),
            Group::Consumer(group) => group.deadline(),
        }
    }

    /// Whether these positions may be moved by this one. For a member of the classic protocol it is a sign of life.
    pub fn admit(
        &mut self,
        committer: Committer<'_>,
        positions: &[MovedPosition],
        now: Timestamp,
    ) -> Result<(), GroupError> {
        match self {
            Group::Classic(group) => group.admit(committer, now),
            Group::Consumer(group) => {
                group.check_client(&committer)?;
                let positions = positions.iter().map(|moved| (moved.topic.as_str(), moved.partition));
                Ok(group.check_commit(committer.member, committer.generation, positions)?)
            }
        }
    }

    /// True when it has no members.
    pub fn is_empty(&self) -> bool {
        match self {
            Group::Classic(group) => group.is_empty(),
            Group::Consumer(group) => group.is_empty(),
        }
    }

    /// True when it holds nothing that is not kept.
    pub fn is_at_rest(&self) -> bool {
        match self {
            Group::Classic(group) => group.is_at_rest(),
            Group::Consumer(group) => group.is_empty(),
        }
    }

    /// Ids that were given to clients and not used yet.
    pub fn num_pending(&self) -> usize {
        match self {
            Group::Classic(group) => group.num_pending(),
            // Any id is taken there, and none is remembered.
            Group::Consumer(_) => 0,
        }
    }

    /// Forgets the oldest of them: its client will ask for another.
    pub fn drop_oldest_pending(&mut self) {
        if let Group::Classic(group) = self {
            group.drop_oldest_pending();
        }
    }

    /// What is known of those who read with the group's positions. `kept_at` is when the group was last kept.
    pub fn readers(&self, kept_at: Timestamp) -> Readers {
        match self {
            Group::Classic(group) => group.readers(kept_at),
            Group::Consumer(group) => group.readers(kept_at),
        }
    }

    /// True when it is known which topics its members read.
    pub fn tells_topics(&self) -> bool {
        match self {
            Group::Classic(group) => group.tells_topics(),
            Group::Consumer(group) => group.tells_topics(),
        }
    }

    /// The views that members subscribe to by name.
    pub fn views(&self) -> BTreeSet<String> {
        match self {
            Group::Classic(group) => group.views(),
            Group::Consumer(group) => group.views(),
        }
    }

    /// Whether a member reads the topic of that name.
    pub fn subscribes_to(&self, topic: &str) -> bool {
        match self {
            Group::Classic(group) => group.subscribes_to(topic),
            Group::Consumer(group) => group.subscribes_to(topic),
        }
    }

    pub fn num_members(&self) -> usize {
        match self {
            Group::Classic(group) => group.num_members(),
            Group::Consumer(group) => group.members().len(),
        }
    }

    pub fn summary(&self) -> Summary {
        match self {
            Group::Classic(group) => group.summary(),
            Group::Consumer(group) => group.summary(),
        }
    }

    pub fn describe(&self, settings: &GroupSettings) -> Description {
        match self {
            Group::Classic(group) => group.describe(),
            Group::Consumer(group) => group.description(&settings.consumer),
        }
    }
}
