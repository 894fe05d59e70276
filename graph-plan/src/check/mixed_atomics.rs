//! Accesses that look like reads and may be atomic updates. Only the type of a kernel knows that, so a macro must ask
//! about each pair of which one may be atomic and the other not.

use super::alias::aliased;
use super::body::siblings;
use super::iteration_race::{self, Side};
use super::race_message::racing;
use super::unordered::races;
use crate::parallel::Parallel;
use crate::{Diagnostic, Draft, Lists, Mode, Nest};
use std::collections::HashSet;

/// The most pairs that are compared for one memory. Larger graphs are left to the check when they are built.
const MAX_PAIRS: usize = 1 << 20;

/// The pairs of reads, by index, that are mistakes if exactly one of the two is atomic: of unordered nodes, or of one
/// node. `classes` has the class of each access: either all accesses of a class are atomic, or none is. Accesses
/// without a class are certainly not atomic. For each memory and each two classes, only the first pair is found.
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
    let bodies = Bodies::new(draft, order);
    let mut found = Vec::new();
    for resource in (0..draft.resources.len()).filter(|&resource| candidates[resource]) {
        let reads = by_resource.of(resource);
        if reads.iter().all(|&read| class(read) == class(reads[0])) || !bodies.may_clash(reads, class) {
            continue;
        }
        let mut known = HashSet::new();
        let pairs =
            (0..reads.len()).flat_map(|number| reads[..number].iter().map(move |&first| (first, reads[number])));
        for (first, second) in pairs.take(MAX_PAIRS) {
            let (one, other) = (class(first), class(second));
            let pair = (one.min(other), one.max(other));
            if one != other && !known.contains(&pair) && bodies.clash(first, second).is_some() {
                known.insert(pair);
                found.push((first, second));
            }
        }
    }
    found
}

/// The way in which two accesses clash.
enum Clash {
    /// One node gets overlapping memory twice.
    Alias,
    /// Nothing orders the two in one iteration.
    Unordered([Side; 2]),
    /// Nothing orders the two in different iterations of an `each` in this body.
    Crossing(usize, [Side; 2]),
}

/// The bodies of a draft, with what their loops repeat.
struct Bodies<'a> {
    draft: &'a Draft,
    order: &'a Nest,
    /// One for each body; none if no loop is parallel.
    parallel: Vec<Option<Parallel<'a>>>,
    /// The position of each node in a topological order, if the graph has one body and no loops.
    positions: Option<Vec<usize>>,
}

impl<'a> Bodies<'a> {
    fn new(draft: &'a Draft, order: &'a Nest) -> Self {
        let bodies = if draft.loops.is_empty() { 0 } else { draft.bodies.len() };
        Self {
            draft,
            order,
            parallel: (0..bodies).map(|body| Parallel::of(draft, order, body)).collect(),
            positions: (draft.bodies.len() == 1 && draft.loops.is_empty()).then(|| positions(order)),
        }
    }

    /// Whether some of these reads of one memory, of different classes, clash. The answer may be wrongly true.
    ///
    /// Comparing each two reads of a large graph takes long, and nearly all of them are ordered. Therefore a read is
    /// compared only with earlier reads that no other read stands for. A read `b` stands for a read `a` of the same
    /// class and region that runs before `b`: a read that comes after `b` in the topological order and is unordered
    /// with `a` is unordered with `b`, too.
    fn may_clash(&self, reads: &[usize], class: impl Fn(usize) -> Option<usize>) -> bool {
        let Some(positions) = &self.positions else { return true };
        let accesses = &self.draft.accesses;
        let mut sorted = reads.to_vec();
        sorted.sort_by_key(|&read| positions[accesses[read].node]);
        let mut compared: Vec<usize> = Vec::new();
        for second in sorted {
            let clashes = |&first: &usize| class(first) != class(second) && self.clash(first, second).is_some();
            if compared.iter().any(clashes) {
                return true;
            }
            let later = &accesses[second];
            compared.retain(|&first| {
                let earlier = &accesses[first];
                let is_alike = class(first) == class(second) && earlier.region == later.region;
                !is_alike || !self.order.before(earlier.node, later.node)
            });
            compared.push(second);
        }
        false
    }

    fn parallel(&self, body: usize) -> Option<&Parallel<'a>> {
        self.parallel.get(body)?.as_ref()
    }

    /// Whether and how two accesses of parts that may overlap can meet.
    fn clash(&self, first: usize, second: usize) -> Option<Clash> {
        let Self { draft, order, .. } = self;
        let (a, b) = (&draft.accesses[first], &draft.accesses[second]);
        let overlap = a.region.overlaps(&b.region);
        if overlap && a.node == b.node {
            return Some(Clash::Alias);
        }
        let [one, other] = self.nodes_of_one_body(a.node, b.node);
        let sides =
            |one: usize, other: usize| [(first, one), (second, other)].map(|(access, node)| Side { access, node });
        let body = draft.nodes[one].body;
        let [left, right] = sides(one, other);
        if overlap && !order.ordered(a.node, b.node) && races(self.parallel(body), &left, &right) {
            return Some(Clash::Unordered([left, right]));
        }
        // In the bodies around, both are accesses of one node.
        let around = std::iter::successors(draft.bodies[body].node, |&owner| {
            draft.bodies[draft.nodes[owner].body].node
        });
        let levels = std::iter::once((one, other)).chain(around.map(|owner| (owner, owner)));
        let mut crossings = levels.filter_map(|(one, other)| {
            let body = draft.nodes[one].body;
            let meets = self.parallel(body)?.may_meet_across((first, one), (second, other));
            meets.then(|| Clash::Crossing(body, sides(one, other)))
        });
        crossings.next()
    }

    /// For each of two nodes, the node of their innermost common body that it is or is inside.
    fn nodes_of_one_body(&self, first: usize, second: usize) -> [usize; 2] {
        if let Some((one, other)) = siblings(self.draft, first, second) {
            return [one, other];
        }
        // One is around the other, or is the other.
        let is_around_second = self
            .draft
            .bodies_around(second)
            .any(|body| self.draft.bodies[body].node == Some(first));
        [if is_around_second { first } else { second }; 2]
    }
}

/// The position of each node of a graph without bodies in a topological order.
fn positions(order: &Nest) -> Vec<usize> {
    let sequence = order.order(0).sequence();
    let mut positions = vec![0; sequence.len()];
    for (position, &node) in sequence.iter().enumerate() {
        positions[node] = position;
    }
    positions
}

/// The mistake of a pair of [`mixed_reads`] if the accesses were of these modes.
pub fn clash(draft: &Draft, order: &Nest, pair: [(usize, Mode); 2]) -> Option<Diagnostic> {
    let [(first, _), (second, _)] = pair;
    let clash = Bodies::new(draft, order).clash(first, second)?;
    let mut draft = draft.clone();
    for (access, mode) in pair {
        draft.accesses[access].mode = mode;
    }
    match clash {
        Clash::Alias => Some(aliased(&draft, first, second)),
        Clash::Unordered([one, other]) => Some(racing(&draft, order, &one, &other)),
        Clash::Crossing(body, sides) => {
            let parallel = Parallel::of(&draft, order, body)?;
            iteration_race::of_body(&draft, order, &parallel, sides.into_iter(), &[])
                .into_iter()
                .next()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Memory, NodeKind, Region, check};
    use proptest::prelude::*;

    /// Three unordered kernels that read `bins`, the last one twice.
    fn draft() -> Draft {
        draft_of("device bins; kernel a: bins; kernel b: bins; kernel c: bins, bins;")
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
    fn reads_of_different_iterations_clash_where_they_meet() {
        let found = |around: &str, part: &str| {
            let draft = draft_of(&format!(
                "device bins; {around} i {{ kernel a: {part}; then kernel b: {part}; }}"
            ));
            let order = check(&draft).order;
            mixed_reads(&draft, &order, &[Some(0), None])
        };
        assert_eq!(found("each", "bins"), [(0, 1)]);
        assert_eq!(found("each", "bins[i]"), []);
        assert_eq!(found("for", "bins"), []);
    }

    #[test]
    fn a_condition_clashes_with_its_body_in_other_iterations() {
        let draft = draft_of("device flag; each i { if choice: flag { kernel inner: flag; } }");
        let order = check(&draft).order;
        assert_eq!(mixed_reads(&draft, &order, &[None, Some(0)]), [(0, 1)]);
    }

    #[test]
    fn a_later_read_of_another_part_stands_for_none() {
        let draft = draft_of(
            "device bins; kernel a: bins[0..4]; then kernel b: bins[4..8];
             kernel begin: bins[8..12]; then kernel next: bins[8..12]; then kernel c: bins[0..4];",
        );
        let classes = [Some(0), Some(0), None, None, None];
        let order = check(&draft).order;
        assert_eq!(mixed_reads(&draft, &order, &classes), [(0, 4)]);
    }

    #[test]
    fn reads_in_a_body_clash_with_those_outside() {
        let draft = draft_of("device flag; if choice { kernel inner: flag; } kernel other: flag;");
        let order = check(&draft).order;
        assert_eq!(mixed_reads(&draft, &order, &[Some(0), None]), [(0, 1)]);
    }

    #[test]
    fn a_write_is_no_read() {
        let draft = draft_of("device bins; kernel a: bins=; kernel b: bins;");
        let order = check(&draft).order;
        assert_eq!(mixed_reads(&draft, &order, &[None, Some(0)]), []);
    }

    proptest! {
        #[test]
        fn a_clash_is_missed_by_no_shortcut(
            edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..24),
            mut reads in prop::collection::vec((0_usize..12, 0_usize..3, 0_u64..3), 0..20),
        ) {
            reads.sort_unstable();
            let mut draft = Draft::new("Test");
            let bins = draft.resource("bins", Memory::Device);
            for node in 0..12 {
                draft.node(format!("n{node}"), NodeKind::Kernel);
            }
            for (from, to) in edges {
                // The later node may be declared first.
                if from % 5 < to % 5 {
                    draft.edge(from, to);
                }
            }
            for &(node, _, part) in &reads {
                draft.access(node, bins, Region::span(2 * part, 2 * part + 3), Mode::Read);
            }
            let order = check(&draft).order;
            let bodies = Bodies::new(&draft, &order);
            let class = |read: usize| Some(reads[read].1);
            let clash = |first: usize, second: usize| class(first) != class(second) && bodies.clash(first, second).is_some();
            let any = (0..reads.len()).any(|second| (0..second).any(|first| clash(first, second)));
            let all: Vec<usize> = (0..reads.len()).collect();
            prop_assert_eq!(bodies.may_clash(&all, class), any);
        }
    }

    #[test]
    fn ordered_nodes_and_other_parts_do_not_clash() {
        let found = |last: &str| {
            let text = format!("device bins; kernel a: bins; then kernel b: bins; then kernel c: {last};");
            let draft = draft_of(&text);
            mixed_reads(&draft, &check(&draft).order, &[0, 1, 2, 3].map(Some))
        };
        assert_eq!(found("bins, bins"), [(2, 3)], "of one node");
        assert_eq!(found("bins[0..4], bins[4..8]"), []);
    }

    #[test]
    fn a_clash_is_told_as_the_rules_tell_it() {
        let draft = draft();
        let order = check(&draft).order;
        let mut atomic = draft.clone();
        atomic.accesses.truncate(2);
        atomic.accesses[0].mode = Mode::Atomic;
        assert_eq!(
            clash(&draft, &order, [(0, Mode::Atomic), (1, Mode::Read)]).as_ref(),
            check(&atomic).errors.first()
        );
        assert_eq!(
            clash(&draft, &order, [(2, Mode::Atomic), (3, Mode::Read)]).map(|mistake| mistake.message),
            Some("node `c` gets `bins` as `&` of atomics and again as `&`".to_owned())
        );
    }
}
