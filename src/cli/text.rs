//! Times and bytes as people and scripts read them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use serde_json::{Map, Value, json};

/// `2026-01-01 09:59:30.123`, in UTC, of milliseconds since 1970.
pub fn utc(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(instant) => instant.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string(),
        Err(_) => format!("{ms} ms"),
    }
}

/// Milliseconds since 1970 of a date, or a date and time, with an offset from UTC or in UTC.
pub fn parse_time(text: &str) -> Option<i64> {
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(instant.as_millisecond());
    }
    // Only what begins as a date: a date and time may be written in more ways than are told.
    let is_date = text.len() >= 10 && text.as_bytes()[4] == b'-';
    let civil =
        text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from)).ok().filter(|_| is_date)?;
    Offset::UTC.to_timestamp(civil).ok().map(|instant| instant.as_millisecond())
}

/// `1.5 s`, `12 min 3 s`, `3 h 20 min`, `2 d 5 h`, of milliseconds.
pub fn age(ms: i64) -> String {
    let (seconds, minutes, hours) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    match ms {
        ..0 => "-".to_owned(),
        0..60_000 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        3_600_000..86_400_000 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

/// Bytes for a terminal, on one line: what is not printable text is escaped, so that a record cannot steer the terminal.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// Puts bytes into a JSON object: as text, or, when they are none, as base64 with `<name>_encoding` beside them.
pub fn put_bytes(object: &mut Map<String, Value>, name: &str, bytes: Option<&[u8]>) {
    let Some(bytes) = bytes else {
        object.insert(name.to_owned(), Value::Null);
        return;
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            object.insert(name.to_owned(), json!(text));
        }
        Err(_) => {
            object.insert(name.to_owned(), json!(BASE64_STANDARD.encode(bytes)));
            object.insert(format!("{name}_encoding"), json!("base64"));
        }
    }
}

/// What [`put_bytes`] put in.
pub fn get_bytes(object: &Map<String, Value>, name: &str) -> Result<Option<Vec<u8>>, String> {
    let text = match object.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text,
        Some(_) => return Err(format!("{name} is neither a string nor null")),
    };
    match object.get(&format!("{name}_encoding")) {
        None => Ok(Some(text.clone().into_bytes())),
        Some(Value::String(encoding)) if encoding == "base64" => {
            BASE64_STANDARD.decode(text).map(Some).map_err(|error| format!("{name} is not base64: {error}"))
        }
        Some(other) => Err(format!("{name}_encoding is {other}, and only \"base64\" is known")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_utc() {
        assert_eq!(utc(1_767_261_570_123), "2026-01-01 09:59:30.123");
        assert_eq!(utc(i64::MAX), "9223372036854775807 ms");
    }

    #[test]
    fn an_age_has_two_units_at_most() {
        let ages = [0, 1_550, 723_000, 12_000_000, 190_800_000, -1].map(age);
        assert_eq!(ages, ["0.0 s", "1.5 s", "12 min 3 s", "3 h 20 min", "2 d 5 h", "-"]);
    }

    #[test]
    fn what_would_steer_a_terminal_is_escaped() {
        assert_eq!(printable("a\tü\u{1b}[31m\n".as_bytes()), "a\\tü\\u{1b}[31m\\n");
        assert_eq!(printable(b"\xff\x00ok"), "\\xff\\u{0}ok");
    }

    #[test]
    fn bytes_that_are_no_text_come_back_from_json() {
        for bytes in [None, Some(&b""[..]), Some(b"text"), Some(b"\xff\x00")] {
            let mut object = Map::new();
            put_bytes(&mut object, "value", bytes);
            assert_eq!(object.contains_key("value_encoding"), bytes == Some(b"\xff\x00"));
            assert_eq!(get_bytes(&object, "value").unwrap().as_deref(), bytes);
        }
        let object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        assert!(get_bytes(&object(r#"{"value":7}"#), "value").is_err());
        assert!(get_bytes(&object(r#"{"value":"%","value_encoding":"base64"}"#), "value").is_err());
        assert!(get_bytes(&object(r#"{"value":"a","value_encoding":"hex"}"#), "value").is_err());
    }
}
