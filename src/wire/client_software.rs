//! The body of an ApiVersions request, which says who the client is and whom it means to reach. Own decoder: version 5
//! (KIP-1242) is not in `kafka-protocol`, and is what new clients send first.

use super::guard::{self, GuardError};
use super::reader::{Fault, Reader};
use super::schema::API_VERSIONS;

/// Who asks. Empty before version 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ClientSoftware<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// The cluster that the client means; none if it does not know one yet.
    pub cluster_id: Option<&'a str>,
    pub node_id: i32,
    names_checked: bool,
}

impl<'a> ClientSoftware<'a> {
    /// Reads the body of a request of that version.
    pub fn read(body: &'a [u8], version: i16) -> Result<ClientSoftware<'a>, GuardError> {
        guard::check(&API_VERSIONS, version, body)?;
        let mut reader = Reader::new(body);
        let read = ClientSoftware::read_checked(&mut reader, version);
        read.map_err(|fault| GuardError { at: reader.at(), field: "client_software", fault })
    }

    fn read_checked(reader: &mut Reader<'a>, version: i16) -> Result<ClientSoftware<'a>, Fault> {
        if version < 3 {
            return Ok(ClientSoftware::default());
        }
        let mut software = ClientSoftware { names_checked: true, ..ClientSoftware::default() };
        software.name = string(reader)?.unwrap_or_default();
        software.version = string(reader)?.unwrap_or_default();
        if version >= 5 {
            software.cluster_id = string(reader)?;
            software.node_id = reader.i32()?;
        }
        Ok(software)
    }

    /// Kafka's rule: letters and digits, with dots and dashes between them.
    pub fn is_well_named(&self) -> bool {
        !self.names_checked || (is_name(self.name) && is_name(self.version))
    }
}

fn string<'a>(reader: &mut Reader<'a>) -> Result<Option<&'a str>, Fault> {
    match reader.compact_length()? {
        Some(len) => reader.utf8(len as usize).map(Some),
        None => Ok(None),
    }
}

fn is_name(name: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let at_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    at_end(bytes.first()) && at_end(bytes.last()) && bytes.iter().all(|byte| inside(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_before_3_say_nothing() {
        let software = ClientSoftware::read(&[], 2).unwrap();
        assert!(software.is_well_named());
    }

    #[test]
    fn version_5_says_whom_it_means() {
        let body = b"\x03me\x041.0\x05abcd\0\0\0\x07\0";
        let software = ClientSoftware::read(body, 5).unwrap();
        assert_eq!((software.name, software.version), ("me", "1.0"));
        assert_eq!((software.cluster_id, software.node_id), (Some("abcd"), 7));
        let unknown = ClientSoftware::read(b"\x03me\x041.0\0\xff\xff\xff\xff\0", 5).unwrap();
        assert_eq!((unknown.cluster_id, unknown.node_id), (None, -1));
    }

    #[test]
    fn names_are_letters_digits_dots_and_dashes() {
        let named = |name| ClientSoftware { name, version: "1", names_checked: true, ..ClientSoftware::default() };
        for good in ["a", "apache-kafka-java", "librdkafka", "a.b"] {
            assert!(named(good).is_well_named(), "{good}");
        }
        for bad in ["", "-a", "a-", "a b", "a_b", "ä"] {
            assert!(!named(bad).is_well_named(), "{bad}");
        }
    }
}
