//! Plain names of views (`streamstack.view`), and views that stand in lists of topics (`streamstack.views.listed`): what may
//! be set.

use super::Broker;
use crate::config::value::list;
use crate::model::{Overrides, VIEW};
use crate::view::name::{NameError, TopicName, parse_topic};
use crate::view::{Selector, ViewName};

const LISTED: &str = "streamstack.views.listed";

/// Why a config that names views is not set.
#[derive(Debug, thiserror::Error)]
pub enum AliasError {
    #[error("streamstack.view: {0}")]
    Name(NameError),
    #[error("streamstack.view: {name:?} is no view: write <feed>..<selector>")]
    NoView { name: String },
    #[error("streamstack.view: {view} is the topic that seals, and a name of a view is read-only")]
    Writable { view: ViewName },
    #[error("streamstack.view: there is no feed {:?}; create it first", view.feed)]
    UnknownFeed { view: ViewName },
    #[error("streamstack.view: {} is itself but a name of a view; name that view on its own feed", view.feed)]
    OfAlias { view: ViewName },
    #[error("streamstack.views.listed: {0}")]
    Listed(NameError),
    #[error(
        "streamstack.views.listed: {word:?} is no view: write what comes after '..' in its name, as latest or commits"
    )]
    NotListable { word: String },
}

/// The view of that name.
pub(super) fn view_named(name: &str) -> Result<ViewName, AliasError> {
    match parse_topic(name) {
        Ok(TopicName::View(view)) if view.selector == Selector::Seal => Err(AliasError::Writable { view }),
        Ok(TopicName::View(view)) => Ok(view),
        Ok(TopicName::Plain(plain)) => Err(AliasError::NoView { name: plain.to_owned() }),
        Err(error) => Err(AliasError::Name(error)),
    }
}

/// The views of a feed that a word of `streamstack.views.listed` means.
fn listed(feed: &str, word: &str) -> Result<ViewName, AliasError> {
    match parse_topic(&format!("{feed}..{word}")) {
        Ok(TopicName::View(view)) if view.selector != Selector::Seal => Ok(view),
        Ok(_) => Err(AliasError::NotListable { word: word.to_owned() }),
        Err(error) => Err(AliasError::Listed(error)),
    }
}

impl Broker {
    /// Whether the feed of that name may have these overrides, as far as they name views; those of `before` it has already.
    pub fn check_views(&self, feed: &str, before: &Overrides, overrides: &Overrides) -> Result<(), AliasError> {
        let changed = |name: &str| overrides.get(name).filter(|value| before.get(name) != Some(value));
        if let Some(words) = changed(LISTED) {
            list(words).into_iter().try_for_each(|word| listed(feed, word).map(drop))?;
        }
        match changed(VIEW) {
            Some(name) => self.check_alias(name),
            None => Ok(()),
        }
    }

    fn check_alias(&self, name: &str) -> Result<(), AliasError> {
        let view = view_named(name)?;
        match self.catalog().by_name(&view.feed) {
            None => Err(AliasError::UnknownFeed { view }),
            Some(feed) if feed.alias().is_some() => Err(AliasError::OfAlias { view }),
            Some(_) => Ok(()),
        }
    }

    /// The views that stand in lists of topics beside the feed.
    pub fn listed_views(&self, feed: &super::FeedHandle) -> Vec<ViewName> {
        let words = &feed.config().settings.views_listed;
        words.iter().filter_map(|word| listed(&feed.name, word).ok()).collect()
    }
}
