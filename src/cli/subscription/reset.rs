//! `streamstack subscription reset`: the plan is shown, and carried out when it is meant.

use serde_json::json;

use super::ResetArgs;
use super::describe;
use super::target::{Place, Target};
use crate::cli::client::{Client, GroupPosition};
use crate::cli::failure::Failure;
use crate::cli::output::{Format, write_out};
use crate::cli::paint::{Paint, counted};
use crate::cli::table::{Align, Table};

/// What is to become of a partition.
struct Step {
    partition: i32,
    from: Option<GroupPosition>,
    to: Place,
}

pub fn run(client: &mut Client, args: &ResetArgs) -> Result<(), Failure> {
    let plan = plan(client, args)?;
    write_out(match args.output.format {
        Format::Json => plan.iter().map(|step| step.json(args)).collect(),
        Format::Table => table(&plan).rows(&plan.iter().map(|step| step.row(&args.topic)).collect::<Vec<_>>()),
    })?;
    if !args.consent.given()? {
        return Ok(());
    }
    let positions: Vec<GroupPosition> = plan.iter().map(|step| step.position(&args.topic)).collect();
    client.move_group(&args.subscription, &positions)?;
    if args.output.format == Format::Table {
        write_out(format_args!("moved {}\n", counted(positions.len() as u64, "position")))?;
    }
    Ok(())
}

fn plan(client: &mut Client, args: &ResetArgs) -> Result<Vec<Step>, Failure> {
    let target = Target::of(args);
    let positions = describe::positions(client, &args.subscription, Some(&args.topic))?;
    let mut bounds = client.bounds(&args.topic)?;
    for wanted in &args.partition {
        if !bounds.iter().any(|found| found.partition == *wanted) {
            let message = format!("{} has no partition {wanted}: it has {}", args.topic, bounds.len());
            return Err(Failure::Refused(message));
        }
    }
    bounds.retain(|found| args.partition.is_empty() || args.partition.contains(&found.partition));
    let mut plan = Vec::with_capacity(bounds.len());
    for bounds in bounds {
        let partition = bounds.partition;
        let from = positions.iter().find(|position| position.partition == partition).cloned();
        let to = target.offset(client, &args.topic, bounds, from.as_ref().map(|from| from.offset))?;
        plan.push(Step { partition, from, to });
    }
    Ok(plan)
}

impl Step {
    fn position(&self, topic: &str) -> GroupPosition {
        GroupPosition {
            topic: topic.to_owned(),
            partition: self.partition,
            offset: self.to.offset,
            metadata: String::new(),
        }
    }

    fn json(&self, args: &ResetArgs) -> String {
        let mut object = json!({
            "subscription": args.subscription,
            "topic": args.topic,
            "partition": self.partition,
            "from": self.from.as_ref().map(|from| from.offset),
            "to": self.to.offset,
            "done": args.consent.yes,
        });
        if self.is_elsewhere() {
            object["asked"] = json!(self.to.wanted);
        }
        format!("{object}\n")
    }

    fn row(&self, topic: &str) -> Vec<String> {
        let from = self.from.as_ref().map_or_else(|| "-".to_owned(), |from| from.offset.to_string());
        vec![topic.to_owned(), self.partition.to_string(), from, self.to.offset.to_string(), self.note()]
    }

    /// What was asked for is not there.
    fn is_elsewhere(&self) -> bool {
        self.to.offset != self.to.wanted
    }

    fn note(&self) -> String {
        let Place { offset, wanted } = self.to;
        match self.is_elsewhere() {
            false => String::new(),
            true if wanted > offset => format!("not {wanted}, which is past the end"),
            true => format!("not {wanted}, which is before the start"),
        }
    }
}

/// The last column only where there is something to note.
fn table(plan: &[Step]) -> Table {
    let columns = [
        ("TOPIC", Align::Left),
        ("PARTITION", Align::Right),
        ("FROM", Align::Right),
        ("TO", Align::Right),
        ("NOTE", Align::Left),
    ];
    let num_columns = if plan.iter().any(Step::is_elsewhere) { columns.len() } else { columns.len() - 1 };
    Table::new(&columns[..num_columns], Paint::of_stdout())
}
