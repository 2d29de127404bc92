//! The members of a subscription, for people.

use std::fmt::Write;

use crate::cli::client::{GroupMember, Membership};
use crate::cli::paint::{Paint, counted};
use crate::cli::table::{Align, Table};
use crate::cli::text::printable;

/// In one line: what the group is doing, and how many are in it.
pub fn summary(subscription: &str, membership: &Membership) -> String {
    let Membership { state, protocol, assignor, members } = membership;
    let name = printable(subscription.as_bytes());
    let assignor = if assignor.is_empty() { String::new() } else { format!(", assignor {assignor}") };
    match members.len() as u64 {
        0 => format!("{name} is {state}: no members ({protocol} protocol)\n"),
        number => format!("{name} is {state}: {} ({protocol} protocol{assignor})\n", counted(number, "member")),
    }
}

/// A line for each; nothing when there are none.
pub fn table(membership: &Membership) -> String {
    let columns = [
        ("MEMBER", Align::Left),
        ("INSTANCE", Align::Left),
        ("CLIENT", Align::Left),
        ("HOST", Align::Left),
        ("READS", Align::Left),
    ];
    let rows: Vec<Vec<String>> = membership.members.iter().map(row).collect();
    Table::new(&columns, Paint::of_stdout()).rows(&rows)
}

fn row(member: &GroupMember) -> Vec<String> {
    let text = |text: &str| if text.is_empty() { "-".to_owned() } else { printable(text.as_bytes()) };
    vec![
        text(&member.id),
        text(member.instance.as_deref().unwrap_or_default()),
        text(&member.client),
        text(&member.host),
        text(&reads(&member.partitions)),
    ]
}

/// `orders 0-3,7 orders..feed 1`: of partitions that are in order.
fn reads(partitions: &[(String, i32)]) -> String {
    let mut words = String::new();
    let mut rest = partitions;
    while let Some((topic, first)) = rest.first() {
        let is_next = |(n, (other, partition)): (usize, &(String, i32))| {
            other == topic && i64::from(*partition) == i64::from(*first) + n as i64
        };
        let run = rest.iter().enumerate().take_while(|found| is_next(*found)).count().max(1);
        let begun = partitions.len() - rest.len();
        let goes_on = begun > 0 && partitions[begun - 1].0 == *topic;
        let before = match goes_on {
            true => ",".to_owned(),
            false if words.is_empty() => format!("{topic} "),
            false => format!(" {topic} "),
        };
        let _ = write!(words, "{before}{first}");
        if run > 1 {
            let _ = write!(words, "-{}", rest[run - 1].1);
        }
        rest = &rest[run..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_told_in_runs() {
        let told = |partitions: &[(&str, i32)]| {
            let owned: Vec<(String, i32)> = partitions.iter().map(|(t, p)| ((*t).to_owned(), *p)).collect();
            reads(&owned)
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[("a", 0)]), "a 0");
        assert_eq!(told(&[("a", 0), ("a", 1), ("a", 2), ("a", 7), ("b", 3), ("b", 5)]), "a 0-2,7 b 3,5");
    }

    #[test]
    fn a_group_is_told_in_one_line() {
        let mut membership =
            Membership { state: "Empty".to_owned(), protocol: "classic", assignor: String::new(), members: Vec::new() };
        assert_eq!(summary("g", &membership), "g is Empty: no members (classic protocol)\n");
        let member = GroupMember {
            id: "m".to_owned(),
            instance: None,
            client: "c".to_owned(),
            host: "h".to_owned(),
            partitions: Vec::new(),
        };
        membership.members = vec![member];
        membership.assignor = "range".to_owned();
        assert_eq!(summary("g", &membership), "g is Empty: 1 member (classic protocol, assignor range)\n");
    }
}
