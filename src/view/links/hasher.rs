//! What the index knows records by: keyed hashes of the key, of the identity and of the value.

use super::sip::{self, Key};
use crate::batch::RecordRef;
use crate::config::Identity;

/// The secret of a feed's index: 16 random bytes.
pub type Secret = [u8; 16];

/// A record as the index sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    key: u128,
    identity: u128,
    /// Of the value, null or not.
    pub value: u64,
    pub is_tombstone: bool,
    has_key: bool,
    has_identity: bool,
}

impl Hashes {
    /// None: a record with a null key.
    #[inline]
    pub fn key(&self) -> Option<u128> {
        self.has_key.then_some(self.key)
    }

    /// None: the record has no identity, or (with identity `key`) that of the key is the same.
    #[inline]
    pub fn identity(&self) -> Option<u128> {
        self.has_identity.then_some(self.identity)
    }
}

/// Hashes records under a feed's secret. Each kind of hash has a key of its own, so that no input of one kind can stand for one of
/// another.
pub struct Hasher {
    identity: Identity,
    of_key: Key,
    of_value: Key,
    of_pair: Key,
    of_header: Key,
}

/// The value's hash when it is null.
const NULL: u64 = 0;

impl Hasher {
    pub fn new(identity: Identity, secret: Secret) -> Hasher {
        let halves = u128::from_be_bytes(secret);
        let secret = [(halves >> 64) as u64, halves as u64];
        let derived = |kind: &[u8]| {
            let hash = sip::hash(secret, kind);
            [(hash >> 64) as u64, hash as u64]
        };
        Hasher {
            identity,
            of_key: derived(b"key"),
            of_value: derived(b"value"),
            of_pair: derived(b"key+value"),
            of_header: derived(b"header"),
        }
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// True when the index of keys is that of identities as well.
    pub fn by_key_alone(&self) -> bool {
        self.identity == Identity::Key
    }

    #[inline]
    pub fn hashes(&self, record: &RecordRef<'_>) -> Hashes {
        let key = record.key.map(|key| sip::hash(self.of_key, key));
        let value = record.value.map(|value| sip::hash(self.of_value, value));
        let identity = match &self.identity {
            Identity::KeyAndValue => Some(self.pair(key, value)),
            Identity::Key => None,
            Identity::Value => value,
            Identity::Header(name) => self.header(name, record),
        };
        Hashes {
            key: key.unwrap_or_default(),
            identity: identity.unwrap_or_default(),
            value: value.map_or(NULL, |value| value as u64),
            is_tombstone: key.is_some() && value.is_none(),
            has_key: key.is_some(),
            has_identity: identity.is_some(),
        }
    }

    /// From the two hashes, so that no byte is hashed twice; where one of them is missing, one byte says so.
    fn pair(&self, key: Option<u128>, value: Option<u128>) -> u128 {
        let mut input = [0; 33];
        input[..16].copy_from_slice(&key.unwrap_or_default().to_le_bytes());
        input[16..32].copy_from_slice(&value.unwrap_or_default().to_le_bytes());
        input[32] = u8::from(key.is_some()) | u8::from(value.is_some()) << 1;
        sip::hash(self.of_pair, &input)
    }

    fn header(&self, name: &str, record: &RecordRef<'_>) -> Option<u128> {
        let value = record.headers().filter(|header| header.key == name.as_bytes()).last()?.value?;
        Some(sip::hash(self.of_header, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{BatchBuilder, Header, NewRecord, records};

    type Text = Option<&'static str>;

    fn hashes(identity: &str, key: Text, value: Text, headers: &[(&str, Text)]) -> Hashes {
        let headers: Vec<Header<'_>> = headers
            .iter()
            .map(|(key, value)| Header { key: key.as_bytes(), value: value.map(str::as_bytes) })
            .collect();
        let mut builder = BatchBuilder::new(0);
        let (key, value) = (key.map(str::as_bytes), value.map(str::as_bytes));
        builder.push(NewRecord { timestamp: 0, key, value, headers: &headers });
        let records = records(&builder.build(), 1 << 20).unwrap();
        let record = records.iter().next().unwrap().unwrap();
        Hasher::new(Identity::parse(identity).unwrap(), [7; 16]).hashes(&record)
    }

    #[test]
    fn null_and_empty_differ_and_bytes_do_not_move_from_key_to_value() {
        let texts = [None, Some(""), Some("a"), Some("ab"), Some("b")];
        let mut seen = Vec::new();
        for key in texts {
            for value in texts {
                seen.push(hashes("key+value", key, value, &[]).identity().unwrap());
            }
        }
        for (index, hash) in seen.iter().enumerate() {
            assert!(!seen[..index].contains(hash), "{index}");
        }
        assert_eq!(hashes("key+value", None, None, &[]).key(), None);
        assert_ne!(hashes("key", Some(""), Some(""), &[]).value, hashes("key", Some(""), None, &[]).value);
    }

    #[test]
    fn a_record_without_the_part_has_no_identity() {
        assert_eq!(hashes("value", Some("a"), None, &[]).identity(), None);
        assert!(hashes("value", None, Some(""), &[]).identity().is_some());
        assert_eq!(hashes("header:id", Some("a"), Some("a"), &[("idx", Some("1"))]).identity(), None);
        assert_eq!(hashes("header:id", Some("a"), Some("a"), &[("id", None)]).identity(), None);
        assert_eq!(hashes("key", Some("a"), Some("a"), &[]).identity(), None, "that of the key serves");
    }

    #[test]
    fn of_headers_with_one_name_the_last_counts() {
        let one = hashes("header:id", Some("a"), None, &[("id", Some("1"))]);
        assert_eq!(hashes("header:id", None, None, &[("id", Some("2")), ("id", Some("1"))]).identity(), one.identity());
        assert_eq!(hashes("header:id", None, None, &[("id", Some("1")), ("id", None)]).identity(), None);
        assert!(one.is_tombstone);
        assert!(!hashes("header:id", None, None, &[]).is_tombstone, "no key, no tombstone");
    }
}
