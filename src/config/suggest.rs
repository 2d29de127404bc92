//! "Did you mean ...?" for a name that is nearly one of ours.

/// ` (did you mean <name>?)` for the nearest of `names`, or nothing when none is near.
pub fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, names).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default()
}

/// ` (the nearest is <name>)`, however far it is.
pub fn nearest_is<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    by_distance(name, names).map(|(_, near)| format!(" (the nearest is {near})")).unwrap_or_default()
}

/// The nearest name within a third of its length, the first of equals.
fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_near = |(distance, near): &(usize, &str)| *distance <= near.len().max(name.len()) / 3;
    by_distance(name, names).filter(is_near).map(|(_, near)| near)
}

/// The nearest name and how far it is, the first of equals.
fn by_distance<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<(usize, &'a str)> {
    let name = name.to_ascii_lowercase().replace(['_', '-'], ".");
    names.into_iter().map(|near| (distance(&name, near), near)).min_by_key(|(distance, _)| *distance)
}

/// Letters to insert, drop, change or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name() {
        let names = ["retention.ms", "retention.bytes", "segment.ms", "num.partitions"];
        assert_eq!(did_you_mean("retention.sm", names), " (did you mean retention.ms?)");
        assert_eq!(did_you_mean("num_partition", names), " (did you mean num.partitions?)");
        assert_eq!(did_you_mean("listeners", names), "");
        assert_eq!(did_you_mean("", names), "");
        assert_eq!(nearest_is("max.number.of.partitions", names), " (the nearest is num.partitions)");
    }
}
