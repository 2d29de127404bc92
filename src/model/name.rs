//! Which names a feed may have: Kafka's rules for topics, and no `..`, which belongs to the names of views.

/// Longest name of a feed, as in Kafka: its folder there ends in a dash and a partition.
pub const NAME_LEN_MAX: usize = 249;

/// What is wrong with a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    #[error("it is empty")]
    Empty,
    #[error("it is {len} characters long, and {NAME_LEN_MAX} is the most")]
    TooLong { len: usize },
    #[error("it holds {found:?}, and only letters, digits, '.', '_' and '-' may stand in one")]
    Character { found: char },
    #[error("'.' and '..' are no names")]
    Dots,
    #[error("it holds '..', which separates a feed from a view of it (as in orders..commits)")]
    View,
}

/// Checks the name of a feed to be made.
pub fn check_feed_name(name: &str) -> Result<(), NameFault> {
    match name {
        "" => return Err(NameFault::Empty),
        "." | ".." => return Err(NameFault::Dots),
        _ => {}
    }
    if let Some(found) = name.chars().find(|c| !is_legal(*c)) {
        return Err(NameFault::Character { found });
    }
    if name.len() > NAME_LEN_MAX {
        return Err(NameFault::TooLong { len: name.len() });
    }
    if name.contains("..") { Err(NameFault::View) } else { Ok(()) }
}

/// A view's feed and the rest of its name, at the last two dots of the first run of two or more: a feed's name may end in
/// a dot, a selector never starts with one. None: the topic is no view.
pub fn split_feed(topic: &str) -> Option<(&str, &str)> {
    let start = topic.find("..")?;
    let run = topic[start..].bytes().take_while(|byte| *byte == b'.').count();
    let rest = start + run;
    Some((&topic[..rest - 2], &topic[rest..]))
}

/// The feed that a topic is, or is a view of.
pub fn feed_of_topic(topic: &str) -> &str {
    split_feed(topic).map_or(topic, |(feed, _)| feed)
}

fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// The name with '_' for every '.', if it holds either. Kafka refuses two topics with the same one, because names of
/// metrics cannot tell them apart, and its tools count on that.
pub(super) fn unified(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names_are_those_of_kafka_without_two_dots() {
        for name in ["a", "orders", "A-b_c.9", ".a", "a.", "-", "_"] {
            assert_eq!(check_feed_name(name), Ok(()), "{name}");
        }
        assert_eq!(check_feed_name(&"x".repeat(249)), Ok(()));
    }

    #[test]
    fn a_refusal_says_what_is_wrong() {
        let check = |name: &str, expected: NameFault| assert_eq!(check_feed_name(name), Err(expected), "{name}");
        check("", NameFault::Empty);
        check(".", NameFault::Dots);
        check("..", NameFault::Dots);
        check("...", NameFault::View);
        check("orders..feed", NameFault::View);
        check("a/b", NameFault::Character { found: '/' });
        check("näh", NameFault::Character { found: 'ä' });
        check("a\0", NameFault::Character { found: '\0' });
        check("%2e%2e", NameFault::Character { found: '%' });
        check(&"x".repeat(250), NameFault::TooLong { len: 250 });
    }
}
