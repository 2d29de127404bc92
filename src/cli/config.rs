//! `streamstack config`: every config, its value and where it comes from.

use std::fmt::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::ConfigArgs;
use crate::config::ServerConfig;
use crate::config::server::{self, ServerRow};
use crate::config::table::Effect;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Also those of Kafka's configs that have no effect here
    #[arg(long)]
    all: bool,
    /// As JSON, with types, defaults and what each does
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> ExitCode {
    let config = match args.config.load() {
        Ok(config) => config,
        Err(error) => return super::wrong_usage(&error),
    };
    let mut rows: Vec<ServerRow> = server::rows()
        .filter(|server| args.all || server.row.effect == Effect::Works || config.given(server.row.name).is_some())
        .collect();
    rows.sort_by_key(|server| server.row.name);
    super::print(if args.json { json_text(&rows, &config) } else { table(&rows, &config) });
    ExitCode::SUCCESS
}

fn table(rows: &[ServerRow], config: &ServerConfig) -> String {
    let lines: Vec<[String; 3]> = rows
        .iter()
        .map(|ServerRow { row, .. }| {
            let value = config.value(row.name).unwrap_or("(not set)").to_owned();
            [row.name.to_owned(), value, origin(row.effect, row.name, config)]
        })
        .collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (names, values) = (width(0), width(1).min(48));
    let mut text = format!("{:names$}  {:values$}  SOURCE\n", "CONFIG", "VALUE");
    for [name, value, origin] in &lines {
        let _ = writeln!(text, "{name:names$}  {value:values$}  {origin}");
    }
    text
}

fn origin(effect: Effect, name: &str, config: &ServerConfig) -> String {
    let origin = config.origin(name);
    match effect {
        Effect::Accepted(why) => format!("{origin} (no effect here: {why})"),
        _ => origin.to_string(),
    }
}

fn json_text(rows: &[ServerRow], config: &ServerConfig) -> String {
    let rows: Vec<Value> = rows
        .iter()
        .map(|ServerRow { row, dynamic }| {
            json!({
                "name": row.name,
                "value": config.value(row.name),
                "source": config.origin(row.name).to_string(),
                "type": row.kind.name().to_lowercase(),
                "default": row.default,
                "allowed": row.allowed.describe(),
                "works": row.effect == Effect::Works,
                "dynamic": dynamic,
                "about": row.doc,
            })
        })
        .collect();
    format!("{:#}\n", Value::Array(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    #[test]
    fn the_table_shows_value_and_source() {
        let overrides = vec!["num.partitions=3".to_owned(), "num.io.threads=9".to_owned()];
        let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
        let rows: Vec<ServerRow> =
            ["num.partitions", "num.io.threads", "broker.rack"].map(|name| server::find(name).unwrap()).to_vec();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let text = table(&rows, &config);
        let lines: Vec<Vec<String>> = text.lines().map(words).collect();
        assert_eq!(lines[0], ["CONFIG", "VALUE", "SOURCE"]);
        assert_eq!(lines[1], ["num.partitions", "3", "--override"]);
        assert_eq!(lines[2][..4], ["num.io.threads", "9", "--override", "(no"]);
        assert_eq!(lines[3], ["broker.rack", "(not", "set)", "default"]);
        let json: Value = serde_json::from_str(&json_text(&rows, &config)).unwrap();
        assert_eq!(json[0]["value"], "3");
        assert_eq!(json[2]["value"], Value::Null);
    }
}
