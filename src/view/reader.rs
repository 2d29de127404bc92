//! Many partitions of a view at about the same moment.

use super::filtered::Moment;
use super::reading::{Bounds, Budget, Content, Found, Isolation, Reading, View, ViewReadError};
use crate::model::{PartitionId, Timestamp};

/// Reads partitions of a view and tells of them, and looks up only once what concerns them all: what a mode emits. It is for
/// one request: it does not see what comes later.
pub struct Reader<'a> {
    view: &'a View,
    moment: Moment,
}

impl Reader<'_> {
    pub(super) fn of(view: &View) -> Reader<'_> {
        Reader { view, moment: Moment::default() }
    }

    /// See [`View::read`].
    pub fn read(
        &mut self,
        partition: PartitionId,
        from: i64,
        budget: Budget,
        isolation: Isolation,
    ) -> Result<(Bounds, Reading), ViewReadError> {
        let view = self.view;
        let Content::Filtered(filtered) = &view.content else {
            return view.read_anew(partition, from, budget, isolation);
        };
        let (bounds, parts) = filtered.read(&*view.feed, &mut self.moment, partition, from, budget)?;
        Ok((bounds, parts.into()))
    }

    /// See [`View::bounds`].
    pub fn bounds(&mut self, partition: PartitionId, isolation: Isolation) -> Result<Bounds, ViewReadError> {
        match &self.view.content {
            Content::Filtered(filtered) => filtered.bounds(&*self.view.feed, &mut self.moment, partition),
            _ => self.view.bounds(partition, isolation),
        }
    }

    /// See [`View::find_time`].
    pub fn find_time(
        &mut self,
        partition: PartitionId,
        time: Timestamp,
        isolation: Isolation,
    ) -> Result<Option<Found>, ViewReadError> {
        match &self.view.content {
            Content::Filtered(filtered) => filtered.find_time(&*self.view.feed, &mut self.moment, partition, time),
            _ => self.view.find_time_anew(partition, time, isolation),
        }
    }

    /// See [`View::newest`].
    pub fn newest(&mut self, partition: PartitionId, isolation: Isolation) -> Result<Option<Found>, ViewReadError> {
        match &self.view.content {
            Content::Filtered(filtered) => filtered.newest(&*self.view.feed, &mut self.moment, partition),
            _ => self.view.newest_anew(partition, isolation),
        }
    }
}
