//! What a row of the two tables of configs says: `topic` for feeds, `server` for the broker.

use std::fmt;

use super::value::{Allowed, ConfigType, InvalidValue, check};

/// What setting a config does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// As its doc line says.
    Works,
    /// Checked, kept and shown, and nothing more; the text says why, or from when on it will work.
    Accepted(&'static str),
    /// Any other value than the default is refused, because accepting it would be a lie; the text says why.
    Refused(&'static str),
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Works => f.write_str("works"),
            Effect::Accepted(why) => write!(f, "accepted without effect: {why}"),
            Effect::Refused(why) => write!(f, "refused: {why}"),
        }
    }
}

/// One config.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub kind: ConfigType,
    /// `None` is Kafka's null: not set.
    pub default: Option<&'static str>,
    pub allowed: Allowed,
    pub effect: Effect,
    pub doc: &'static str,
}

impl Row {
    /// Checks a value by type and range, and gives its canonical text.
    pub fn check(&self, value: &str) -> Result<String, InvalidValue> {
        check(self.name, self.kind, self.allowed, value)
    }

    /// Why `value` (canonical) is refused although it is well formed.
    pub fn refusal(&self, value: &str) -> Option<Refused> {
        let refused = |why| Some(Refused { name: self.name, value: value.to_owned(), why });
        match self.effect {
            Effect::Refused(why) if Some(value) != self.default => refused(why),
            _ => None,
        }
    }

    /// What the config is about, and that it has no effect where that is so.
    pub fn documentation(&self) -> String {
        match self.effect {
            Effect::Works => self.doc.to_owned(),
            effect => format!("{} ({effect})", self.doc),
        }
    }
}

/// A well-formed value that is refused rather than accepted and ignored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value} is refused: {why}")]
pub struct Refused {
    pub name: &'static str,
    pub value: String,
    pub why: &'static str,
}
