//! client BOOTSTRAP: rdkafka, asked in JSON lines.

mod adapter;
mod groups;
mod members;
mod records;
mod topics;
mod transactions;

use std::env;
use std::io;
use std::time::Duration;

use adapter::{Answer, Ask, Fault};
use rdkafka::ClientConfig;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};

const WAIT: Duration = Duration::from_secs(20);

fn main() -> io::Result<()> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("rdkafka 0.39.0 (librdkafka {})", rdkafka::util::get_rdkafka_version().1);
        return Ok(());
    }
    adapter::serve(answer)
}

fn answer(ask: &Ask) -> Answer {
    match ask.what.as_str() {
        "create" => topics::create(ask),
        "delete" => topics::delete(ask),
        "delete_records" => topics::delete_records(ask),
        "grow" => topics::grow(ask),
        "partitions" => topics::partitions(ask),
        "shape" => topics::shape(ask),
        "topics" => topics::all(),
        "cluster" => topics::cluster(),
        "configs" => topics::configs(ask),
        "alter_all" => topics::alter_all(ask),
        "produce" => records::produce(ask),
        "offset" => records::offset(ask),
        "read" => records::read(ask),
        "join" => members::join(ask),
        "member" => members::told(ask),
        "commit" => members::commit(ask),
        "committed" => members::committed(ask),
        "leave" => members::leave(ask),
        "open_producer" => transactions::open(ask),
        "begin" => transactions::begin(ask),
        "send" => transactions::send(ask),
        "send_positions" => transactions::send_positions(ask),
        "end" => transactions::end(ask),
        "close_producer" => transactions::close(ask),
        "groups" => groups::all(),
        "group" => groups::described(ask),
        "group_positions" => groups::positions(ask),
        "move" => groups::set_positions(ask),
        "delete_group" => groups::delete(ask),
        "forget" => Err(Fault::Cannot("delete positions of a group")),
        "alter" => Err(Fault::Cannot("change configs one by one (IncrementalAlterConfigs)")),
        "api_versions" => Err(Fault::Cannot("show the versions that a broker told")),
        "coordinator" => Err(Fault::Cannot("ask for a coordinator outside of a group")),
        "log_dirs" => Err(Fault::Cannot("describe the log directories")),
        "leader_epoch" => Err(Fault::Cannot("ask for the end of a leader epoch")),
        "producer_id" => Err(Fault::Cannot("show the id of an idempotent producer")),
        "topic_id" => Err(Fault::Cannot("show topic ids")),
        other => Err(Fault::Crash(format!("no answer to {other}"))),
    }
}

fn config() -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", env::args().nth(1).expect("the bootstrap address is the first argument"));
    config
}

impl From<KafkaError> for Fault {
    fn from(error: KafkaError) -> Fault {
        match error {
            KafkaError::AdminOp(code) => code.into(),
            KafkaError::AdminOpCreation(words) => Fault::RefusedByClient(words),
            other => other.rdkafka_error_code().map_or_else(|| Fault::Crash(other.to_string()), Fault::from),
        }
    }
}

impl From<RDKafkaErrorCode> for Fault {
    fn from(code: RDKafkaErrorCode) -> Fault {
        match code {
            RDKafkaErrorCode::UnknownTopic | RDKafkaErrorCode::UnknownPartition => {
                Fault::Refused(RDKafkaErrorCode::UnknownTopicOrPartition as i32)
            }
            RDKafkaErrorCode::AutoOffsetReset => Fault::Refused(RDKafkaErrorCode::OffsetOutOfRange as i32),
            RDKafkaErrorCode::OperationTimedOut => {
                Fault::RefusedByClient("asked again until its time was over".to_owned())
            }
            RDKafkaErrorCode::Fenced => Fault::RefusedByClient("fenced".to_owned()),
            RDKafkaErrorCode::InvalidArgument => Fault::RefusedByClient("invalid argument".to_owned()),
            code if code as i32 > 0 => Fault::Refused(code as i32),
            code => Fault::Crash(format!("{code:?}: {code}")),
        }
    }
}
