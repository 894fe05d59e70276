//! The one namespace of a graph, and the name that is nearest to a misspelt one.

use crate::{Code, Diagnostic, Draft, Memory, Subject};
use std::collections::HashMap;

/// Two entries of one namespace that bear the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameClash {
    /// The index of the name that was there first.
    pub first: usize,
    /// The index of the later one.
    pub second: usize,
}

/// Every repetition of a name, with its first occurrence, in order.
pub fn clashes<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<NameClash> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    for (second, name) in names.into_iter().enumerate() {
        let first = *first.entry(name).or_insert(second);
        if first != second {
            found.push(NameClash { first, second });
        }
    }
    found
}

/// The candidate that is most like `name`, if one is near enough to be meant: at most a third of the letters differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count().max(3) / 3;
    let rated = candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate));
    let near = rated.filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of letters that must be inserted, deleted, replaced or swapped with their neighbour to turn `a` into `b`.
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

/// Reports names that several resources and nodes of a graph have. A node may have the name of memory that has no
/// accessor: nothing else can be meant where either is named.
pub fn duplicate_names(draft: &Draft) -> Vec<Diagnostic> {
    let declared = draft.resources.iter();
    let declared: Vec<_> = declared
        .filter(|resource| resource.memory != Memory::Variable)
        .collect();
    let resources: Vec<&str> = declared.iter().map(|resource| &*resource.name).collect();
    let names = || {
        let nodes = draft.nodes.iter().map(|node| &*node.name);
        resources.iter().copied().chain(nodes)
    };
    if all_differ(names(), resources.len() + draft.nodes.len()) {
        return Vec::new();
    }
    let kind = |index: usize| {
        if index < resources.len() { "resource" } else { "node" }
    };
    let all: Vec<&str> = names().collect();
    clashes(all.iter().copied())
        .into_iter()
        .filter_map(|clash| {
            let name = all[clash.second];
            let shared = declared.get(clash.first);
            let is_shared = shared.is_some_and(|resource| resource.memory.may_share_name());
            let first = match kind(clash.second) {
                // The first node of this name.
                "node" if is_shared => resources.len() + draft.nodes.iter().position(|node| node.name == name)?,
                _ => clash.first,
            };
            if first == clash.second {
                return None;
            }
            let message = match (kind(first), kind(clash.second)) {
                ("resource", "node") => format!("a resource and a node are both named `{name}`"),
                (_, kind) => format!("two {kind}s are named `{name}`"),
            };
            let subject = match clash.second.checked_sub(resources.len()) {
                Some(node) => Subject::Node(node),
                None => Subject::Resource(clash.second),
            };
            Some(Diagnostic::new(Code::DuplicateName, subject, message).help("rename one of them"))
        })
        .collect()
}

/// Whether all names are certainly different. There are at most `count` of them. 32 bits that follow from their hashes
/// go into a table that is at most half full, each to the first free place: a table of the names themselves would slow
/// the build of many nodes.
fn all_differ<'a>(names: impl Iterator<Item = &'a str>, count: usize) -> bool {
    let mut table = vec![0_u32; (2 * count + 1).next_power_of_two()];
    let mask = table.len() - 1;
    for name in names {
        let hash = hash(name);
        let mut place = hash as usize & mask;
        let hash = (hash.wrapping_mul(FACTOR) >> 32).max(1) as u32; // 0 is a free place
        while table[place] != 0 {
            if table[place] == hash {
                return false;
            }
            place = (place + 1) & mask;
        }
        table[place] = hash;
    }
    true
}

/// An odd number whose bits look random: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A quick hash, eight bytes at a time. It need not be good: names with equal hashes are compared afterwards.
fn hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let (words, _) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let hash = words.fold(name.len() as u64, step);
    // The bytes that are left, after some of the word before them, if there is one.
    let last = match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    step(hash, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeKind;

    #[test]
    fn repetitions_are_found_against_the_first() {
        let found = clashes(["a", "b", "a", "c", "a"]);
        let expected = [NameClash { first: 0, second: 2 }, NameClash { first: 0, second: 4 }];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_nearest_name_is_suggested_only_when_near() {
        let names = ["upload", "forward", "backward"];
        assert_eq!(nearest("uplaod", names), Some("upload"));
        assert_eq!(nearest("forwrd", names), Some("forward"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("a", ["b"]), Some("b"), "one letter may stand for another");
    }

    #[test]
    fn one_node_may_have_the_name_of_memory_without_an_accessor() {
        let mut draft = Draft::default();
        draft.resource("q", Memory::Scratch);
        draft.resource("k", Memory::Device);
        draft.node("q", NodeKind::Kernel);
        assert!(duplicate_names(&draft).is_empty());
        draft.node("k", NodeKind::Kernel);
        draft.node("q", NodeKind::Kernel);
        draft.resource("q", Memory::Scratch);
        let found = duplicate_names(&draft);
        let messages: Vec<&str> = found.iter().map(|mistake| &*mistake.message).collect();
        let expected = [
            "two resources are named `q`",
            "a resource and a node are both named `k`",
            "two nodes are named `q`",
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn names_that_look_alike_differ() {
        let names: Vec<String> = (0..10_000).map(|index| format!("kernel_{index}")).collect();
        assert!(all_differ(names.iter().map(String::as_str), names.len()));
        assert!(!all_differ(["a", "b", "a"].into_iter(), 3));
        assert!(all_differ(["", "\0", "\0\0"].into_iter(), 3));
    }
}
