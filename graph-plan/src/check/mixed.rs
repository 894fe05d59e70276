//! Accesses that only look like reads: whether a kernel updates memory atomically is known to its type alone, so a macro
//! must ask for each pair of which one may be atomic and the other not.

use super::access::aliased;
use super::unordered::race_of;
use crate::{Diagnostic, Draft, Lists, Mode, Nest};
use std::collections::HashSet;

/// The pairs of reads, by index, that are mistakes if exactly one of the two is atomic: of unordered nodes, or of one
/// node. `classes` has for each access the class that it is of: all of a class are atomic, or none is. Accesses without
/// a class are certainly not atomic. For each memory and each two classes, only the first pair is found.
pub fn mixed_reads(draft: &Draft, order: &Nest, classes: &[Option<usize>]) -> Vec<(usize, usize)> {
    let class = |access: usize| classes.get(access).copied().flatten();
    let mut candidates = vec![false; draft.resources.len()];
    for (index, access) in draft.accesses.iter().enumerate() {
        candidates[access.resource] |= class(index).is_some();
    }
    let reads = || {
        let accesses = draft.accesses.iter().enumerate();
        let reads = accesses.filter(|(_, access)| access.mode == Mode::Read && candidates[access.resource]);
        reads.map(|(index, access)| (access.resource, index))
    };
    let by_resource = Lists::new(draft.resources.len(), reads);
    let mut found = Vec::new();
    for resource in (0..draft.resources.len()).filter(|&resource| candidates[resource]) {
        let reads = by_resource.of(resource);
        if reads.iter().all(|&read| class(read) == class(reads[0])) {
            continue;
        }
        let mut known = HashSet::new();
        for (number, &second) in reads.iter().enumerate() {
            for &first in &reads[..number] {
                let (one, other) = (class(first), class(second));
                let pair = (one.min(other), one.max(other));
                if one != other && !known.contains(&pair) && may_clash(draft, order, first, second) {
                    known.insert(pair);
                    found.push((first, second));
                }
            }
        }
    }
    found
}

/// Are the two accesses of one node or of unordered ones, and of parts that may overlap?
fn may_clash(draft: &Draft, order: &Nest, first: usize, second: usize) -> bool {
    let (a, b) = (&draft.accesses[first], &draft.accesses[second]);
    (a.node == b.node || !order.ordered(a.node, b.node)) && a.region.overlaps(&b.region)
}

/// The mistake of a pair of [`mixed_reads`] if the accesses were of these modes.
pub fn clash(draft: &Draft, order: &Nest, pair: [(usize, Mode); 2]) -> Diagnostic {
    let [first, second] = pair.map(|(access, mode)| {
        let mut access = draft.accesses[access].clone();
        access.mode = mode;
        access
    });
    match first.node == second.node {
        true => aliased(draft, &first, &second, pair[1].0),
        false => race_of(draft, order, pair),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeKind, Region, Space, check};

    /// Three unordered kernels that read `bins`, the last one twice.
    fn draft() -> Draft {
        let mut draft = Draft::new("Test");
        let bins = draft.resource("bins", Space::Device);
        for name in ["a", "b", "c"] {
            draft.node(name, NodeKind::Kernel);
        }
        for node in [0, 1, 2, 2] {
            draft.access(node, bins, Region::Whole, Mode::Read);
        }
        draft
    }

    #[test]
    fn one_pair_is_found_for_each_two_classes() {
        let draft = draft();
        let order = check(&draft).order;
        let found = |classes: [Option<usize>; 4]| mixed_reads(&draft, &order, &classes);
        assert_eq!(found([Some(0); 4]), []);
        assert_eq!(found([None; 4]), []);
        assert_eq!(found([Some(0), Some(0), None, None]), [(0, 2)]);
        assert_eq!(found([Some(0), Some(0), Some(0), Some(1)]), [(0, 3)]);
        assert_eq!(found([Some(0), Some(1), Some(2), Some(2)]), [(0, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn ordered_nodes_and_other_parts_do_not_clash() {
        let mut draft = draft();
        draft.edge(0, 1);
        draft.edge(1, 2);
        let outcome = check(&draft);
        assert_eq!(
            mixed_reads(&draft, &outcome.order, &[Some(0), Some(1), Some(2), Some(3)]),
            [(2, 3)],
            "of one node"
        );
        draft.accesses[2].region = Region::span(0, 4);
        draft.accesses[3].region = Region::span(4, 8);
        assert_eq!(
            mixed_reads(&draft, &outcome.order, &[Some(0), Some(1), Some(2), Some(3)]),
            []
        );
    }

    #[test]
    fn a_clash_is_told_as_the_rules_tell_it() {
        let draft = draft();
        let order = check(&draft).order;
        let mut atomic = draft.clone();
        atomic.accesses.truncate(2);
        atomic.accesses[0].mode = Mode::Atomic;
        assert_eq!(
            clash(&draft, &order, [(0, Mode::Atomic), (1, Mode::Read)]),
            check(&atomic).errors[0]
        );
        assert_eq!(
            clash(&draft, &order, [(2, Mode::Atomic), (3, Mode::Read)]).message,
            "node `c` gets `bins` as `&` of atomics and again as `&`"
        );
    }
}
