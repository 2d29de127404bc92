//! What makes two records the same for dedup views: `streamstack.dedup.identity`.

use std::fmt;

/// Which part of a record is its identity. A record that lacks it has no identity, and is the same as no other one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Key and value, byte for byte; null and empty differ. Every record has it.
    #[default]
    KeyAndValue,
    /// The key. A record with a null key has none.
    Key,
    /// The value. A record with a null value has none.
    Value,
    /// The value of the last header of that name, as Kafka's own readers take it. A record without the header, or with a
    /// null one, has none.
    Header(String),
}

/// Longest name of a header.
const NAME_BYTES_MAX: usize = 255;
const HEADER: &str = "header:";

impl Identity {
    /// What the config's value means; none if it means nothing.
    pub fn parse(text: &str) -> Option<Identity> {
        match text {
            "key+value" => Some(Identity::KeyAndValue),
            "key" => Some(Identity::Key),
            "value" => Some(Identity::Value),
            _ => {
                let name = text.strip_prefix(HEADER)?;
                let fits = !name.is_empty() && name.len() <= NAME_BYTES_MAX;
                fits.then(|| Identity::Header(name.to_owned()))
            }
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::KeyAndValue => f.write_str("key+value"),
            Identity::Key => f.write_str("key"),
            Identity::Value => f.write_str("value"),
            Identity::Header(name) => write!(f, "{HEADER}{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_as_it_is_written() {
        for text in ["key+value", "key", "value", "header:ce_id", "header:a:b", "header: "] {
            assert_eq!(Identity::parse(text).unwrap().to_string(), text);
        }
        let long = format!("header:{}", "n".repeat(256));
        for text in ["", "keys", "value+key", "header", "header:", "Key", long.as_str()] {
            assert_eq!(Identity::parse(text), None, "{text}");
        }
    }
}
