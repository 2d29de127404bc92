//! Records as lines: a table for a terminal, plain lines for a pipe, JSON for scripts.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use serde_json::{Map, Value, json};

use crate::cli::client::Record;
use crate::cli::paint::Paint;
use crate::cli::text::{printable, put_bytes, utc};

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Where, when, key and value, one line each, with what is not printable escaped
    Table,
    /// The value as it is and a line feed; the key before it with --key-separator
    Lines,
    /// One object each, with all that a record has
    Json,
}

impl Form {
    /// A table where a person looks on.
    pub fn of_stdout() -> Form {
        if io::stdout().is_terminal() { Form::Table } else { Form::Lines }
    }
}

/// Writes records to standard output.
pub struct Renderer {
    out: BufWriter<Stdout>,
    form: Form,
    topic: String,
    key_separator: Option<String>,
    null: String,
    paint: Paint,
    /// Keys are set apart at the width of the widest so far, up to a bound.
    key_width: usize,
    has_head: bool,
}

const KEY_WIDTH_MAX: usize = 32;
const OUT_BYTES: usize = 256 << 10;

impl Renderer {
    pub fn new(form: Form, topic: &str, key_separator: Option<String>, null: String) -> Renderer {
        Renderer {
            out: BufWriter::with_capacity(OUT_BYTES, io::stdout()),
            form,
            topic: topic.to_owned(),
            key_separator,
            null,
            paint: Paint::of_stdout(),
            key_width: 3,
            has_head: false,
        }
    }

    pub fn records(&mut self, records: &[Record]) -> io::Result<()> {
        if self.form == Form::Table && !records.is_empty() {
            self.widen(records);
            self.head()?;
        }
        records.iter().try_for_each(|record| match self.form {
            Form::Table => self.row(record),
            Form::Lines => self.line(record),
            Form::Json => writeln!(self.out, "{}", object(&self.topic, record)),
        })
    }

    /// Lets whoever reads along see what came.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn widen(&mut self, records: &[Record]) {
        let width = |record: &Record| self.key(record).chars().count();
        self.key_width = records.iter().map(width).chain([self.key_width]).max().unwrap_or(0).min(KEY_WIDTH_MAX);
    }

    fn head(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        let (key, width) = ("KEY", self.key_width);
        let head = format!("{:>9}  {:>8}  {:23}  {key:width$}  VALUE", "PARTITION", "OFFSET", "TIME (UTC)");
        writeln!(self.out, "{}", self.paint.bold(&head))
    }

    fn row(&mut self, record: &Record) -> io::Result<()> {
        let (key, width) = (self.key(record), self.key_width);
        let value = record.value.as_deref().map_or_else(|| self.paint.dim("(null)"), printable);
        let Record { partition, offset, timestamp, .. } = record;
        writeln!(self.out, "{partition:>9}  {offset:>8}  {:23}  {key:width$}  {value}", utc(*timestamp))
    }

    fn key(&self, record: &Record) -> String {
        record.key.as_deref().map_or_else(|| "-".to_owned(), printable)
    }

    fn line(&mut self, record: &Record) -> io::Result<()> {
        if let Some(separator) = &self.key_separator {
            self.out.write_all(record.key.as_deref().unwrap_or(self.null.as_bytes()))?;
            self.out.write_all(separator.as_bytes())?;
        }
        self.out.write_all(record.value.as_deref().unwrap_or(self.null.as_bytes()))?;
        self.out.write_all(b"\n")
    }
}

fn object(topic: &str, record: &Record) -> Value {
    let mut object = Map::new();
    object.insert("topic".to_owned(), json!(topic));
    object.insert("partition".to_owned(), json!(record.partition));
    object.insert("offset".to_owned(), json!(record.offset));
    object.insert("timestamp".to_owned(), json!(record.timestamp));
    put_bytes(&mut object, "key", record.key.as_deref());
    put_bytes(&mut object, "value", record.value.as_deref());
    let headers = record.headers.iter().map(|header| {
        let mut object = Map::new();
        put_bytes(&mut object, "key", Some(&header.key));
        put_bytes(&mut object, "value", header.value.as_deref());
        Value::Object(object)
    });
    object.insert("headers".to_owned(), headers.collect());
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::cli::client::Header;

    #[test]
    fn json_says_which_bytes_are_no_text() {
        let record = Record {
            partition: 1,
            offset: 2,
            timestamp: 3,
            key: None,
            value: Some(Bytes::from_static(b"\xff")),
            headers: vec![Header { key: Bytes::from_static(b"h"), value: Some(Bytes::from_static(b"x")) }],
        };
        assert_eq!(
            object("t", &record).to_string(),
            r#"{"topic":"t","partition":1,"offset":2,"timestamp":3,"key":null,"value":"/w==","value_encoding":"base64","headers":[{"key":"h","value":"x"}]}"#
        );
    }
}
