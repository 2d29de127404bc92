//! Figures that have a name each, side by side.

use crate::options::Contestant;

/// A figure of one broker.
pub struct Figure {
    pub what: String,
    pub value: f64,
    /// True: more is better.
    pub rate: bool,
}

/// A line for each figure of each broker, with how it compares to Kafka's.
pub fn print(all: &[(Contestant, Vec<Figure>)]) {
    let kafka = all.iter().find(|(contestant, _)| *contestant == Contestant::Kafka);
    for index in 0..all.first().map_or(0, |(_, figures)| figures.len()) {
        for (contestant, figures) in all {
            let Figure { what, value, rate } = &figures[index];
            let against = kafka.filter(|_| *contestant != Contestant::Kafka).map(|(_, theirs)| {
                let theirs = theirs[index].value;
                if *rate {
                    format!("{:.1} x Kafka's", value / theirs)
                } else {
                    format!("1/{:.1} of Kafka's", theirs / value)
                }
            });
            println!("{what:44} {:18} {value:>12.3} {}", contestant.name(), against.unwrap_or_default());
        }
    }
}
