//! Texts: properties files and topic names.

use streamstack::config::properties;
use streamstack::config::{ServerConfig, Sources};
use streamstack::view::name;

use super::fuzz;
use super::mutate::mutate;

const NAMES: [&str; 9] = [
    "orders",
    "orders..feed",
    "orders..commit-17..dedup",
    "orders..commits-10-20..latest",
    "orders..since-10",
    "orders..sealed-20260101T0900Z-20260101T1000Z",
    "orders..hour-2026010109..changed",
    "orders..named-a..b",
    "orders..stream-42",
];

#[test]
fn mutated_properties_are_parsed_or_refused() {
    let sound = include_str!("../../config/server.properties");
    fuzz("properties", |random| {
        let start = random.below(sound.len() as u64 / 2) as usize;
        let end = (start + random.below(2_000) as usize).min(sound.len());
        let mut bytes = sound.as_bytes()[start..end].to_vec();
        mutate(&mut bytes, random);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Ok(parsed) = properties::parse(&text) {
            properties::duplicates(&parsed);
        }
        let file = Some(("server.properties".to_owned(), text));
        // Whatever is wrong is told with its place, all at once.
        if let Err(errors) = ServerConfig::load(&Sources { file, ..Sources::default() }) {
            assert!(!errors.to_string().is_empty());
        }
    });
}

#[test]
fn mutated_names_are_refused_or_written_back_as_they_were_read() {
    fuzz("names", |random| {
        let mut bytes = NAMES[random.below(NAMES.len() as u64) as usize].as_bytes().to_vec();
        mutate(&mut bytes, random);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match name::parse_topic(&text) {
            Ok(name::TopicName::View(view)) => {
                let written = view.to_string();
                assert!(matches!(name::parse_topic(&written), Ok(name::TopicName::View(again)) if again == view));
            }
            Ok(name::TopicName::Plain(plain)) => assert_eq!(plain, text),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}
