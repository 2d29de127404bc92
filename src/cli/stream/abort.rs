//! `streamstack stream abort`.

use serde_json::json;

use super::AbortArgs;
use super::streams;
use crate::cli::client::{Client, OpenTransaction};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, write_out};
use crate::cli::paint::counted;
use crate::cli::text::{age, printable};
use crate::disk::{Clock, OsClock};

pub(super) fn run(client: &mut Client, args: &AbortArgs) -> Result<(), Failure> {
    let open = transaction_of(client, args)?;
    if args.output.format == Format::Table && !args.consent.yes {
        write_out(format_args!("this aborts {}\n", in_words(&open)))?;
    }
    if args.consent.given()? {
        client.abort_transaction(&open)?;
    }
    match args.output.format {
        Format::Json => {
            let partitions: serde_json::Map<_, _> =
                open.partitions.iter().map(|(topic, partitions)| (topic.clone(), json!(partitions))).collect();
            let object = json!({
                "feed": args.feed, "stream": args.stream, "transactional_id": open.id, "producer_id": open.producer,
                "epoch": open.epoch, "begun": open.begun, "partitions": partitions, "aborted": args.consent.yes,
            });
            write_out(format_args!("{object}\n"))?;
        }
        Format::Table if args.consent.yes => write_out(format_args!("aborted {}\n", in_words(&open)))?,
        Format::Table => {}
    }
    Ok(())
}

fn transaction_of(client: &mut Client, args: &AbortArgs) -> Result<OpenTransaction, Failure> {
    let AbortArgs { feed, stream: number, .. } = args;
    let streams = streams(client, feed)?;
    let stream = streams.get(*number).ok_or_else(|| Failure::Refused(format!("{feed} has had no stream {number}")))?;
    if stream.ended.is_some() {
        return Err(Failure::Refused(format!("stream {number} of {feed} is {}, and cannot be aborted", stream.state)));
    }
    let Some(id) = &stream.transactional_id else {
        let message = format!(
            "stream {number} of {feed} is part of no transaction, so what is in it counts; end it with \
             `streamstack stream seal {feed}`"
        );
        return Err(Failure::Refused(message));
    };
    let open = client.open_transaction(id)?;
    open.ok_or_else(|| Failure::Refused(format!("the transaction of {id} has ended meanwhile")))
}

fn in_words(open: &OpenTransaction) -> String {
    let topics = open
        .partitions
        .iter()
        .map(|(topic, partitions)| format!("{topic} ({})", counted(partitions.len() as u64, "partition")));
    let touched = topics.collect::<Vec<_>>().join(", ");
    let open_for = age(OsClock::new().wall_ms() - open.begun);
    format!(
        "the transaction of {} (producer {}, epoch {}), open for {open_for}, on {}",
        printable(open.id.as_bytes()),
        open.producer,
        open.epoch,
        if touched.is_empty() { "no partition" } else { &touched },
    )
}
