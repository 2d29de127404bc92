//! The grammar of topic names: `<feed>`, or `<feed>..<selector>[..<mode>]` for a view.
//!
//! One view has one name: leading zeros, `..raw` and `..feed..dedup` are refused, and the refusal says what to write
//! instead. A name is read whatever modes are built: what cannot be served yet is for `view` to say.

mod time;

use crate::model::{CommitNumber, StreamId, split_feed};
use crate::view::selector::{Mode, Selector, TimeSpelling, ViewName};

/// Longest name of a feed, and longest label in a name. Kafka's limit for topics.
pub const NAME_LEN_MAX: usize = 249;

/// What a topic name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicName<'a> {
    /// A feed's own log.
    Plain(&'a str),
    View(ViewName),
}

/// Why a name is refused, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("the topic name is empty")]
    Empty,
    #[error("the topic name {name:?} is not allowed")]
    Dots { name: String },
    #[error("the topic name is {len} characters long, and {NAME_LEN_MAX} is the most")]
    TooLong { len: usize },
    #[error("the topic name {name:?} holds {found:?}: only letters, digits, '.', '_' and '-' may stand in one")]
    Character { name: String, found: char },
    #[error("the name {name:?} says nothing before '..': write <feed>..<selector>")]
    NoFeed { name: String },
    #[error(
        "no view is called {found:?}: after '..' comes feed, dedup, latest, changed, commit-N, commits-A-B, since-N, \
         upto-N, sealed-T1-T2, hour-YYYYMMDDHH, day-YYYYMMDD, stream-N, named-LABEL, commits, streams or seal"
    )]
    Selector { found: String },
    #[error("no mode is called {found:?}: after the second '..' comes dedup, latest, live or changed")]
    Mode { found: String },
    #[error("{found:?} is not a number as names write it: digits, without leading zeros, up to {}", i64::MAX - 1)]
    Number { found: String },
    #[error("commits-{first}-{last} is empty: both ends are included, so write the smaller number first")]
    Backwards { first: CommitNumber, last: CommitNumber },
    #[error("{found:?} is not a {what} in UTC: write {form}")]
    Time { found: String, what: &'static str, form: &'static str },
    #[error("sealed-{found} is empty: its first time lies before its second")]
    TimeBackwards { found: String },
    #[error("{found:?} is another name of {canonical:?}: write that one")]
    NotCanonical { found: String, canonical: String },
    #[error("{selector:?} takes no mode: write the name without ..{mode}")]
    NoMode { selector: String, mode: Mode },
    #[error("{selector:?} follows the feed, and live is for names whose end is fixed: write ..upto-N..live")]
    LiveFollows { selector: String },
    #[error("a label may not hold '..' in a name: {found:?}")]
    Label { found: String },
}

/// Reads a topic name.
pub fn parse_topic(name: &str) -> Result<TopicName<'_>, NameError> {
    check_characters(name)?;
    let Some((feed, rest)) = split_feed(name) else {
        check_feed(name)?;
        return Ok(TopicName::Plain(name));
    };
    if feed.is_empty() {
        return Err(NameError::NoFeed { name: name.to_owned() });
    }
    check_feed(feed)?;
    let view = parse_view(feed, rest)?;
    let canonical = view.to_string();
    if canonical != name {
        return Err(NameError::NotCanonical { found: name.to_owned(), canonical });
    }
    Ok(TopicName::View(view))
}

fn check_characters(name: &str) -> Result<(), NameError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match name.chars().find(|c| !allowed(*c)) {
        // The name may be of any length: it goes back to the client only in part.
        Some(found) => Err(NameError::Character { name: name.chars().take(NAME_LEN_MAX).collect(), found }),
        None => Ok(()),
    }
}

fn check_feed(name: &str) -> Result<(), NameError> {
    match name {
        "" => Err(NameError::Empty),
        _ if name.len() > NAME_LEN_MAX => Err(NameError::TooLong { len: name.len() }),
        "." => Err(NameError::Dots { name: name.to_owned() }),
        _ if name.contains("..") => Err(NameError::Dots { name: name.to_owned() }),
        _ => Ok(()),
    }
}

fn parse_view(feed: &str, rest: &str) -> Result<ViewName, NameError> {
    let (selector, mode) = match rest.split_once("..") {
        Some((selector, mode)) => (parse_selector(selector)?, parse_second_mode(selector, mode)?),
        None => match parse_mode(rest) {
            Some(mode) => (Selector::Feed, mode),
            None => (parse_selector(rest)?, Mode::Raw),
        },
    };
    check_mode(&selector, mode)?;
    Ok(ViewName { feed: feed.to_owned(), selector, mode })
}

fn parse_second_mode(selector: &str, mode: &str) -> Result<Mode, NameError> {
    match parse_mode(mode) {
        Some(mode) => Ok(mode),
        None if selector.starts_with("named-") => {
            Err(NameError::Label { found: short(&format!("{selector}..{mode}")) })
        }
        None => Err(NameError::Mode { found: short(mode) }),
    }
}

fn check_mode(selector: &Selector, mode: Mode) -> Result<(), NameError> {
    if mode != Mode::Raw && !selector.takes_mode() {
        return Err(NameError::NoMode { selector: selector.to_string(), mode });
    }
    if mode == Mode::Live && !selector.bounded() {
        return Err(NameError::LiveFollows { selector: selector.to_string() });
    }
    Ok(())
}

fn parse_mode(word: &str) -> Option<Mode> {
    match word {
        "raw" => Some(Mode::Raw),
        "dedup" => Some(Mode::Dedup),
        "latest" => Some(Mode::Latest),
        "live" => Some(Mode::Live),
        "changed" => Some(Mode::Changed),
        _ => None,
    }
}

fn parse_selector(text: &str) -> Result<Selector, NameError> {
    let (word, argument) = text.split_once('-').unwrap_or((text, ""));
    Ok(match (word, argument) {
        ("feed", "") if text == "feed" => Selector::Feed,
        ("commits", "") if text == "commits" => Selector::CommitLog,
        ("streams", "") if text == "streams" => Selector::StreamLog,
        ("seal", "") if text == "seal" => Selector::Seal,
        ("commit", number) => Selector::Commit(commit(number)?),
        ("commits", range) => commits(range)?,
        ("since", number) => Selector::Since(commit(number)?),
        ("upto", number) => Selector::Upto(commit(number)?),
        ("stream", number) => Selector::Stream(StreamId(parse_number(number)?)),
        ("named", label) => named(label)?,
        ("sealed", range) => sealed(range)?,
        ("hour", hour) => stretch(time::hour(hour)?, TimeSpelling::Hour),
        ("day", day) => stretch(time::day(day)?, TimeSpelling::Day),
        _ => return Err(NameError::Selector { found: short(text) }),
    })
}

fn commit(text: &str) -> Result<CommitNumber, NameError> {
    parse_number(text).map(CommitNumber)
}

fn commits(range: &str) -> Result<Selector, NameError> {
    let (first, last) = range.split_once('-').ok_or_else(|| NameError::Number { found: short(range) })?;
    let (first, last) = (commit(first)?, commit(last)?);
    if first > last { Err(NameError::Backwards { first, last }) } else { Ok(Selector::Commits { first, last }) }
}

fn named(label: &str) -> Result<Selector, NameError> {
    match label.len() {
        0 => Err(NameError::Selector { found: "named-".to_owned() }),
        1..=NAME_LEN_MAX => Ok(Selector::Named(label.to_owned())),
        len => Err(NameError::TooLong { len }),
    }
}

fn sealed(range: &str) -> Result<Selector, NameError> {
    let (from, to) = range.split_once('-').unwrap_or((range, ""));
    let (from, to) = (time::minute(from)?, time::minute(to)?);
    if from >= to {
        return Err(NameError::TimeBackwards { found: short(range) });
    }
    Ok(stretch((from, to), TimeSpelling::FromTo))
}

fn stretch((from, to): (crate::model::Timestamp, crate::model::Timestamp), spelling: TimeSpelling) -> Selector {
    Selector::Sealed { from, to, spelling }
}

/// One spelling a number. One less than the largest, so that the end of a range is a number too.
fn parse_number(text: &str) -> Result<i64, NameError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (text == "0" || !text.starts_with('0'));
    let number = if canonical { text.parse().ok() } else { None };
    number.filter(|n: &i64| *n < i64::MAX).ok_or_else(|| NameError::Number { found: short(text) })
}

/// Parts of names go back to the client in messages, but not at any length.
fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests;
