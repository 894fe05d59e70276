//! The one namespace of a graph, and the nearest name to a misspelt one.

use std::collections::HashMap;

/// Two entries of one namespace that bear the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameClash {
    /// The index of the name that was there first.
    pub first: usize,
    /// The index of the one that repeats it.
    pub second: usize,
}

/// Every repetition of a name, against its first occurrence, in order.
pub fn clashes<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<NameClash> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    for (second, name) in names.into_iter().enumerate() {
        match first.entry(name) {
            std::collections::hash_map::Entry::Occupied(entry) => found.push(NameClash {
                first: *entry.get(),
                second,
            }),
            std::collections::hash_map::Entry::Vacant(entry) => drop(entry.insert(second)),
        }
    }
    found
}

/// The candidate that is most like `name`, if one is near enough to be meant: at most a third of the letters differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().max(3) / 3;
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_found_against_the_first() {
        let found = clashes(["a", "b", "a", "c", "a"]);
        assert_eq!(
            found,
            [NameClash { first: 0, second: 2 }, NameClash { first: 0, second: 4 }]
        );
    }

    #[test]
    fn the_nearest_name_is_suggested_only_when_near() {
        let names = ["upload", "forward", "backward"];
        assert_eq!(nearest("uplaod", names), Some("upload"));
        assert_eq!(nearest("forwrd", names), Some("forward"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("a", ["b"]), Some("b"), "one letter may stand for another");
    }
}
