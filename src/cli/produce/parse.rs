//! From a line to a record.

use serde_json::{Map, Value};

use crate::cli::text::get_bytes;

/// A record to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRecord {
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// How lines are read.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Each line is an object as `streamstack read -o json` writes it.
    pub is_json: bool,
    /// Stands between key and value.
    pub key_separator: Option<String>,
    /// Keys and values that are exactly this are null.
    pub null: Option<String>,
    /// Headers for every record.
    pub headers: Vec<(String, String)>,
}

impl Rules {
    pub fn record(&self, line: Vec<u8>) -> Result<NewRecord, String> {
        let mut record = if self.is_json { from_json(&line)? } else { self.of_line(line)? };
        let headers = self.headers.iter();
        record.headers.extend(headers.map(|(key, value)| (key.clone().into_bytes(), Some(value.clone().into_bytes()))));
        Ok(record)
    }

    fn of_line(&self, line: Vec<u8>) -> Result<NewRecord, String> {
        let null =
            |bytes: Vec<u8>| Some(bytes).filter(|bytes| self.null.as_ref().is_none_or(|null| null.as_bytes() != bytes));
        let Some(separator) = &self.key_separator else {
            return Ok(NewRecord { value: null(line), ..NewRecord::default() });
        };
        let at = find(&line, separator.as_bytes())
            .ok_or_else(|| format!("there is no {separator:?} between key and value"))?;
        let (key, value) = (line[..at].to_vec(), line[at + separator.len()..].to_vec());
        Ok(NewRecord { key: null(key), value: null(value), ..NewRecord::default() })
    }
}

fn find(line: &[u8], part: &[u8]) -> Option<usize> {
    line.windows(part.len()).position(|window| window == part)
}

/// Key, value and headers; where the record stood is of no use here.
fn from_json(line: &[u8]) -> Result<NewRecord, String> {
    let object: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| format!("it is not a JSON object: {error}"))?;
    const KNOWN: [&str; 9] =
        ["topic", "partition", "offset", "timestamp", "key", "key_encoding", "value", "value_encoding", "headers"];
    if let Some(unknown) = object.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(format!("it has a field {unknown:?}: a record has key, value and headers"));
    }
    let headers = match object.get("headers") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(headers)) => headers.iter().map(header).collect::<Result<_, _>>()?,
        Some(_) => return Err("headers is no array".to_owned()),
    };
    Ok(NewRecord { key: get_bytes(&object, "key")?, value: get_bytes(&object, "value")?, headers })
}

fn header(value: &Value) -> Result<(Vec<u8>, Option<Vec<u8>>), String> {
    let object = value.as_object().ok_or("a header is no object")?;
    let key = get_bytes(object, "key")?.ok_or("a header has no key")?;
    Ok((key, get_bytes(object, "value")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &Option<Vec<u8>>) -> Option<&str> {
        bytes.as_deref().map(|bytes| std::str::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_line_is_a_value_or_a_key_and_a_value() {
        let plain = Rules::default().record(b"a:b".to_vec()).unwrap();
        assert_eq!((text(&plain.key), text(&plain.value)), (None, Some("a:b")));
        let rules = Rules { key_separator: Some(": ".to_owned()), null: Some("-".to_owned()), ..Rules::default() };
        let keyed = rules.record(b"k: v: w".to_vec()).unwrap();
        assert_eq!((text(&keyed.key), text(&keyed.value)), (Some("k"), Some("v: w")));
        let tombstone = rules.record(b"k: -".to_vec()).unwrap();
        assert_eq!((text(&tombstone.key), text(&tombstone.value)), (Some("k"), None));
        assert_eq!(rules.record(b"k:v".to_vec()).unwrap_err(), "there is no \": \" between key and value");
    }

    #[test]
    fn json_lines_carry_headers_and_bytes() {
        let rules = Rules { is_json: true, headers: vec![("h".into(), "2".into())], ..Rules::default() };
        let line =
            br#"{"offset":9,"key":"k","value":"/w==","value_encoding":"base64","headers":[{"key":"h","value":"1"}]}"#;
        let record = rules.record(line.to_vec()).unwrap();
        assert_eq!((text(&record.key), record.value.as_deref()), (Some("k"), Some(&b"\xff"[..])));
        assert_eq!(record.headers, [(b"h".to_vec(), Some(b"1".to_vec())), (b"h".to_vec(), Some(b"2".to_vec()))]);
        for wrong in ["7", "{", r#"{"valeu":"x"}"#, r#"{"headers":7}"#, r#"{"headers":[{"value":"x"}]}"#] {
            assert!(rules.record(wrong.as_bytes().to_vec()).is_err(), "{wrong}");
        }
    }
}
