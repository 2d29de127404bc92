//! A running broker, looked at through its own protocol. Nothing is written.

use kafka_protocol::messages::{
    CreateTopicsRequest, DescribeConfigsRequest, FetchRequest, InitProducerIdRequest, ListOffsetsRequest,
    MetadataRequest, ProduceRequest,
};

use super::advertised::{self, Reached};
use super::finding::Finding;
use super::{clock, disk};
use crate::cli::broker_args::BrokerArgs;
use crate::cli::client::{Client, ClientError, ConfigFacts, Versions};

/// All that is found, each told as it comes.
pub fn check(args: &BrokerArgs, mut tell: impl FnMut(Finding)) {
    for address in args.addresses() {
        if let Err(error) = check_one(&address, args, &mut tell) {
            tell(Finding::problem("answers", error.to_string(), "see the broker's log"));
        }
    }
}

fn check_one(address: &str, args: &BrokerArgs, tell: &mut impl FnMut(Finding)) -> Result<(), ClientError> {
    match advertised::resolve(address) {
        Ok(addresses) => {
            let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            tell(Finding::good("name", format!("{address} stands for {}", addresses.join(", "))));
        }
        Err(error) => {
            let finding = format!("{address} stands for no address: {error}");
            tell(Finding::problem("name", finding, "check the spelling; then what this machine knows of the name"));
            return Ok(());
        }
    }
    let mut client = match Client::connect_within(address, args.timeout) {
        Ok(client) => client,
        Err(error) => {
            let remedy = remedy(&error);
            tell(Finding::problem("connection", error.to_string(), remedy));
            return Ok(());
        }
    };
    tell(Finding::good("connection", format!("{address} answers")));
    tell(versions(client.versions(), address));
    let told = client.about()?;
    tell(clock::software(told.as_ref()));
    let cluster = client.cluster()?;
    let reached = Reached { address, cluster_id: cluster.id.as_deref(), timeout: args.timeout };
    cluster.brokers.iter().for_each(|broker| tell(advertised::check(broker, &reached)));
    clock::check(told.as_ref()).into_iter().for_each(&mut *tell);
    let configs = match cluster.brokers.first() {
        Some(broker) => client.broker_configs(broker.id)?,
        None => Vec::new(),
    };
    let config = |name: &str| configs.iter().find(|config| config.name == name).and_then(|config| config.value.clone());
    disk::check(client.log_dirs()?, config("streamstack.disk.free.min.bytes").as_deref())
        .into_iter()
        .for_each(&mut *tell);
    tell(durability(&configs));
    Ok(())
}

fn remedy(error: &ClientError) -> &'static str {
    match error {
        ClientError::Unreachable { source, .. } => match source.kind() {
            std::io::ErrorKind::ConnectionRefused => {
                "nothing listens there: start the broker, or let it listen on that address (listeners)"
            }
            std::io::ErrorKind::TimedOut => "nothing comes back: check the address, and firewalls in between",
            _ => "check the address and the way to it",
        },
        _ => "something else than a broker without TLS listens there: check the port",
    }
}

/// Whether the requests that every client needs are spoken in versions that this program knows.
fn versions(versions: &Versions, address: &str) -> Finding {
    let picked = [
        versions.pick::<MetadataRequest>(address),
        versions.pick::<ProduceRequest>(address),
        versions.pick::<FetchRequest>(address),
        versions.pick::<ListOffsetsRequest>(address),
        versions.pick::<InitProducerIdRequest>(address),
        versions.pick::<CreateTopicsRequest>(address),
        versions.pick::<DescribeConfigsRequest>(address),
    ];
    let missing: Vec<String> =
        picked.iter().filter_map(|picked| picked.as_ref().err()).map(ToString::to_string).collect();
    match missing.as_slice() {
        [] => Finding::good(
            "protocol",
            format!("{}; of all that is needed a version is spoken here too", versions.in_words()),
        ),
        missing => Finding::problem("protocol", missing.join("; "), "use a broker and a program of about the same age"),
    }
}

fn durability(configs: &[ConfigFacts]) -> Finding {
    const CHECK: &str = "durability";
    let mode = configs
        .iter()
        .find(|config| config.name == "streamstack.durability")
        .and_then(|config| config.value.as_deref());
    match mode {
        Some("fsync") => Finding::good(CHECK, "fsync: an acknowledged record survives power loss"),
        Some("os") => Finding::warning(
            CHECK,
            "os: an acknowledged record survives a crash of the broker, but not power loss",
            "if that is not meant, set streamstack.durability=fsync and start the broker again",
        ),
        Some(other) => Finding::note(CHECK, format!("streamstack.durability={other}"), "ask the docs of that version"),
        None => Finding::note(
            CHECK,
            "not told by this broker",
            "Apache Kafka acknowledges before a record is on the disk, unless log.flush.interval.messages=1",
        ),
    }
}
