//! The loop of the program: asks in, answers out, each in a thread of its own.

use std::io::{self, BufRead, Write};
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The fields of all asks; which of them count is told by `what`.
#[derive(Deserialize)]
#[serde(default)]
pub struct Ask {
    pub id: u64,
    #[serde(rename = "do")]
    pub what: String,
    pub topic: String,
    pub partitions: i32,
    pub replicas: i32,
    pub configs: std::collections::BTreeMap<String, String>,
    pub validate_only: bool,
    pub assignment: Option<Vec<Vec<i32>>>,
    pub total: usize,
    pub kind: String,
    pub name: String,
    pub partition: i32,
    pub batches: Vec<Vec<Sent>>,
    pub codec: String,
    pub acks: i16,
    pub idempotent: bool,
    pub auto_create: bool,
    pub max_bytes: u32,
    pub before: i64,
    pub at: i64,
    pub committed: bool,
    pub start: i64,
    pub end: Option<i64>,
    pub count: Option<usize>,
    pub max_wait_ms: u32,
    pub reset: String,
    pub group: String,
    pub member: Option<String>,
    pub topics: Vec<String>,
    pub protocol: String,
    pub assignor: String,
    pub instance: String,
    pub session_ms: u32,
    pub of: Vec<Place>,
    pub positions: Vec<(String, i32, i64, String)>,
    pub producer: String,
    pub transactional_id: String,
    pub timeout_ms: i32,
    pub commit: bool,
}

/// A topic and a partition of it.
pub type Place = (String, i32);

impl Default for Ask {
    fn default() -> Ask {
        Ask {
            id: 0,
            what: String::new(),
            topic: String::new(),
            partitions: 1,
            replicas: 1,
            configs: Default::default(),
            validate_only: false,
            assignment: None,
            total: 0,
            kind: String::new(),
            name: String::new(),
            partition: 0,
            batches: Vec::new(),
            codec: "none".to_owned(),
            acks: -1,
            idempotent: true,
            auto_create: false,
            max_bytes: 1 << 20,
            before: 0,
            at: 0,
            committed: false,
            start: 0,
            end: None,
            count: None,
            max_wait_ms: 100,
            reset: "error".to_owned(),
            group: String::new(),
            member: None,
            topics: Vec::new(),
            protocol: String::new(),
            assignor: String::new(),
            instance: String::new(),
            session_ms: 0,
            of: Vec::new(),
            positions: Vec::new(),
            producer: String::new(),
            transactional_id: String::new(),
            timeout_ms: 0,
            commit: false,
        }
    }
}

/// A record to be sent.
#[derive(Deserialize)]
pub struct Sent {
    pub key: Option<String>,
    pub value: Option<String>,
    #[serde(default)]
    pub headers: Vec<(String, Option<String>)>,
    pub timestamp: Option<i64>,
}

/// A record as it was found.
#[derive(Serialize)]
pub struct Found {
    pub offset: i64,
    pub key: Option<String>,
    pub value: Option<String>,
    pub headers: Vec<(String, Option<String>)>,
    pub timestamp: i64,
    pub timestamp_type: &'static str,
}

/// Why there is no answer.
pub enum Fault {
    /// The broker's code.
    Refused(i32),
    /// The client's words, where it refuses before it asks the broker.
    RefusedByClient(String),
    /// The client has no way to do this.
    Cannot(&'static str),
    Crash(String),
}

pub type Answer = Result<Value, Fault>;

/// Answers until the input ends.
pub fn serve(answer: fn(&Ask) -> Answer) -> io::Result<()> {
    let mut asked = Vec::new();
    for line in io::stdin().lock().lines() {
        let ask: Ask = serde_json::from_str(&line?)?;
        asked.push(thread::spawn(move || reply(&ask, answer(&ask))));
    }
    for thread in asked {
        let _ = thread.join();
    }
    Ok(())
}

fn reply(ask: &Ask, answer: Answer) {
    let id = ask.id;
    let line = match answer {
        Ok(value) => json!({"id": id, "ok": value}),
        Err(Fault::Refused(code)) => json!({"id": id, "refused": code}),
        Err(Fault::RefusedByClient(words)) => json!({"id": id, "refused": format!("client: {words}")}),
        Err(Fault::Cannot(reason)) => json!({"id": id, "cannot": reason}),
        Err(Fault::Crash(words)) => json!({"id": id, "crash": words}),
    };
    writeln!(io::stdout().lock(), "{line}").expect("the checks read what is written");
}
