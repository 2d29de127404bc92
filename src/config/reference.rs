//! The tables of configs as a page for people, and the checks that the tables say what Kafka says.

use std::fmt::Write;

use super::group;
use super::server;
use super::table::Row;
use super::topic;

/// `config/reference.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Configs\n\n\
         Every config that is known, with Kafka's names, types and defaults. `works` does what its line says. `accepted without\n\
         effect` is checked, kept and shown by DescribeConfigs. `refused` takes no other value than the default.\n",
    );
    section(&mut page, "Topic configs", topic::TABLE.iter().map(|topic| topic.row));
    section(&mut page, "Consumer group configs", group::TABLE.iter().map(|group| group.row));
    section(&mut page, "Broker configs", server::TABLE.iter().map(|server| server.row));
    section(&mut page, "Kafka's other broker configs", super::accepted::rows().map(|server| server.row));
    page
}

fn section(page: &mut String, title: &str, rows: impl Iterator<Item = Row>) {
    let _ = write!(
        page,
        "\n## {title}\n\n| config | type | default | allowed | effect | about |\n|---|---|---|---|---|---|\n"
    );
    for row in rows {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} |",
            row.name,
            row.kind.name().to_lowercase(),
            default(row.default),
            row.allowed.describe(),
            row.effect,
            row.doc
        );
    }
}

fn default(default: Option<&str>) -> String {
    match default {
        None => "not set".to_owned(),
        Some("") => "empty".to_owned(),
        Some(default) => format!("`{default}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::{ServerConfig, Sources};
    use super::super::properties;
    use super::super::server::ServerRow;
    use super::super::table::Effect;
    use super::super::value::Allowed;
    use super::*;

    const KAFKA: &str = include_str!("../../tests/golden/kafka_4.3_configs.tsv");
    const EXAMPLE: &str = include_str!("../../config/server.properties");

    /// Defaults of ours that differ from Kafka's, on purpose: a broker that starts with no arguments, serves
    /// this machine only, and lets an hourly poll stay open (transaction.max.timeout.ms).
    const OTHER_DEFAULTS: &[&str] = &["listeners", "log.dir", "node.id", "transaction.max.timeout.ms"];
    /// Kafka changes these while running; here they are read once.
    const FIXED_HERE: &[&str] =
        &["listeners", "listener.security.protocol.map", "max.connections", "producer.id.expiration.ms"];
    /// Kafka's families that `server` refuses by their beginning.
    const FAMILIES: &[&str] = &["ssl.", "sasl.", "delegation.token."];

    fn validator(row: &Row) -> String {
        match row.allowed {
            Allowed::Any | Allowed::Identity => String::new(),
            Allowed::AtLeast(min) => format!("[{min},...]"),
            Allowed::Between(min, max) => format!("[{min},...,{max}]"),
            Allowed::BetweenOr(min, max, also) => format!("[{min},...,{max}] or {also}"),
            Allowed::Ratio(min, max) => format!("[{min},...,{max}]"),
            Allowed::OneOf(names) | Allowed::SomeOf(names) => format!("[{}]", names.join(", ")),
            Allowed::OneOfAnyCase(names) => format!("(case insensitive) [{}]", names.join(", ")),
            Allowed::Replicas => "[partitionId]:[brokerId],[partitionId]:[brokerId],...".to_owned(),
        }
    }

    fn check(row: &Row, dynamic: bool, kafka: &[&str]) {
        let [_, name, kind, default, allowed, alterable, _] = kafka[..] else { panic!("{kafka:?}") };
        assert_eq!(row.kind.name(), kind, "{name}");
        if !OTHER_DEFAULTS.contains(&name) {
            assert_eq!(row.default.unwrap_or("null"), if default == "<none>" { "null" } else { default }, "{name}");
        }
        let allowed = match allowed {
            "null" | "non-null string" | "non-empty string" | "non-empty list" => "",
            other => other,
        };
        assert_eq!(validator(row), allowed, "{name}");
        if !FIXED_HERE.contains(&name) {
            assert_eq!(dynamic, alterable == "dynamic", "{name}");
        }
    }

    fn kafka(resource: &str) -> Vec<Vec<&'static str>> {
        let rows = KAFKA.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        rows.filter(|row| row[0] == resource).collect()
    }

    #[test]
    fn topic_configs_are_kafkas() {
        let all = kafka("topic");
        assert_eq!(all.len(), 33);
        for row in &all {
            let topic = topic::find(row[1]).unwrap_or_else(|| panic!("{} is missing", row[1]));
            check(&topic.row, true, row);
            if !row[6].is_empty() {
                assert_eq!(topic.synonyms[0].name, row[6], "{}", row[1]);
            }
        }
        let ours = topic::TABLE.iter().filter(|topic| !topic.row.name.starts_with("streamstack."));
        assert_eq!(ours.count(), all.len());
    }

    #[test]
    fn broker_configs_are_kafkas() {
        let all = kafka("broker");
        for row in all.iter().filter(|row| !FAMILIES.iter().any(|family| row[1].starts_with(family))) {
            let ServerRow { row: ours, dynamic } =
                server::find(row[1]).unwrap_or_else(|| panic!("{} is missing", row[1]));
            check(&ours, dynamic, row);
        }
        for ServerRow { row, .. } in server::rows().filter(|server| !server.row.name.starts_with("streamstack.")) {
            assert!(all.iter().any(|kafka| kafka[1] == row.name), "Kafka has no {}", row.name);
        }
    }

    #[test]
    fn group_configs_are_kafkas() {
        let all = kafka("group");
        assert_eq!(all.len(), group::TABLE.len());
        for row in &all {
            let group = group::find(row[1]).unwrap_or_else(|| panic!("{} is missing", row[1]));
            check(&group.row, true, row);
            assert_eq!(group.synonym.unwrap_or_default(), row[6], "{}", row[1]);
        }
    }

    #[test]
    fn a_topic_config_and_its_broker_config_agree() {
        for topic in topic::TABLE {
            for synonym in topic.synonyms {
                let ServerRow { row, .. } = server::find(synonym.name).unwrap_or_else(|| panic!("{}", synonym.name));
                if let (1, Some(default)) = (synonym.factor, row.default) {
                    assert_eq!(Some(default), topic.row.default, "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn every_line_of_the_example_loads_also_those_commented_out() {
        let bare: String = EXAMPLE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(config) if !config.starts_with([' ', '#']) && config.contains('=') => format!("{config}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let load = |text: &str| {
            let file = Some(("config/server.properties".to_owned(), text.to_owned()));
            ServerConfig::load(&Sources { file, ..Sources::default() }).unwrap()
        };
        assert!(load(EXAMPLE).warnings.is_empty());
        assert!(load(&bare).warnings.is_empty());
        assert!(properties::parse(&bare).unwrap().len() > 20);
    }

    #[test]
    fn the_example_shows_every_config_that_works_and_is_not_a_topics() {
        for ServerRow { row, .. } in server::TABLE.iter().filter(|server| server.row.effect == Effect::Works) {
            let shown = EXAMPLE.lines().any(|line| line.trim_start_matches('#').split('=').next() == Some(row.name));
            let elsewhere = row.doc.starts_with("Default of") || row.doc.contains("old name") || row.name == "log.dir";
            assert!(shown || elsewhere, "config/server.properties says nothing of {}", row.name);
        }
    }

    /// The page is made by running this test with STREAMSTACK_WRITE_REFERENCE=1.
    #[test]
    fn the_reference_page_is_the_tables() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/config/reference.md");
        if std::env::var_os("STREAMSTACK_WRITE_REFERENCE").is_some() {
            std::io::Write::write_all(
                &mut std::fs::OpenOptions::new().create(true).write(true).truncate(true).open(path).unwrap(),
                markdown().as_bytes(),
            )
            .unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == markdown(), "config/reference.md is not what the tables say: see this test's comment");
    }
}
