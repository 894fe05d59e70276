//! Resources that are parts of one memory: the rules see that memory, and messages the resources.

use crate::{Bound, Draft, Rectangle, Region};
use std::collections::BTreeMap;
use std::mem;

/// A resource that is a part of memory, other parts of which are resources, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The resource.
    pub resource: usize,
    /// The offset of its first byte in the memory.
    pub start: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The resources of a graph that overlap others. Regions of theirs are in bytes.
#[derive(Clone, Debug, Default)]
pub struct Views {
    /// For each such resource, the one that stands for all of the memory, and its own place there.
    of: BTreeMap<usize, (usize, View)>,
}

impl Views {
    /// The views in these groups, each of one memory.
    pub fn new(groups: impl IntoIterator<Item = Vec<View>>) -> Self {
        let mut of = BTreeMap::new();
        for group in groups {
            let Some(root) = group.iter().map(|view| view.resource).min() else {
                continue;
            };
            of.extend(group.into_iter().map(|view| (view.resource, (root, view))));
        }
        Self { of }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether the resource is one of them.
    pub fn has(&self, resource: usize) -> bool {
        self.of.contains_key(&resource)
    }

    /// The views, in groups of one memory.
    pub fn groups(&self) -> impl Iterator<Item = Vec<View>> {
        let mut groups: BTreeMap<usize, Vec<View>> = BTreeMap::new();
        for &(root, view) in self.of.values() {
            groups.entry(root).or_default().push(view);
        }
        groups.into_values()
    }

    /// The resources, in ascending order, each with the one that stands for all of its memory.
    pub(crate) fn memory(&self) -> impl Iterator<Item = (usize, usize)> {
        self.of.iter().map(|(&view, &(root, _))| (view, root))
    }

    /// Calls `rules` with the draft as it is for memory: accesses to views of one memory are accesses to one resource,
    /// and so meet where they overlap. Afterwards, each access is to its view again.
    pub fn through<T>(&self, draft: &mut Draft, rules: impl FnOnce(&mut Draft) -> T) -> T {
        if self.is_empty() {
            return rules(draft);
        }
        for (index, access) in draft.accesses.iter_mut().enumerate() {
            if let Some((root, view)) = self.of.get(&access.resource) {
                let region = view.in_memory(&access.region);
                let seen = (access.resource, mem::replace(&mut access.region, region));
                draft.views.insert(index, seen);
                access.resource = *root;
            }
        }
        let result = rules(draft);
        for (index, (resource, region)) in mem::take(&mut draft.views) {
            if let Some(access) = draft.accesses.get_mut(index) {
                (access.resource, access.region) = (resource, region);
            }
        }
        result
    }
}

impl View {
    /// The region of the memory that a region of the view is.
    fn in_memory(&self, region: &Region) -> Region {
        let at = |offset: u64| self.start.saturating_add(offset);
        match region {
            Region::Whole => Region::span(self.start, at(self.bytes)),
            Region::Range(Bound::Known(start), Bound::Known(end)) => Region::span(at(*start), at(*end)),
            Region::Rectangle(rows) => Region::Rectangle(Rectangle {
                start: at(rows.start),
                ..*rows
            }),
            // Regions of unrolled loops are in bytes. Of any other, nothing is known: it meets all of the memory.
            Region::Index(_) | Region::Range(..) | Region::Parts(_) => Region::Range(Bound::Unknown, Bound::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Code, Edge, Memory, Mode, NodeKind, check_errors, infer};
    use proptest::prelude::*;

    /// Two views of 16 bytes, of which 8 belong to both: `low` and `high`.
    fn views() -> Views {
        let view = |resource, start| View {
            resource,
            start,
            bytes: 16,
        };
        Views::new([vec![view(0, 0), view(1, 8)]])
    }

    /// Nodes that access the first or the second view.
    fn draft(nodes: &str) -> Draft {
        draft_of(&format!("device low, high; {nodes}"))
    }

    fn errors(draft: &mut Draft) -> Vec<String> {
        let before = format!("{:?}", draft.accesses);
        let errors = views().through(draft, |draft| check_errors(draft).errors);
        assert_eq!(format!("{:?}", draft.accesses), before, "accesses are as they were");
        assert!(draft.views.is_empty());
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn unordered_accesses_of_views_that_overlap_race() {
        let mut racing = draft("kernel write: low=; kernel read: high;");
        assert_eq!(
            check_errors(&racing).errors,
            [],
            "to a draft without views, they are apart"
        );
        assert_eq!(
            errors(&mut racing),
            [
                "nodes `write` and `read` can run at the same time and access `low` and `high`, which are shared memory \
              that overlaps [race]\n\
              note: `write` writes `low`, `read` reads `high`\n\
              note: 8 bytes belong to both: memory under two names is one memory [aliased-argument]\n\
              help: add `write` to the `after` list of `read`, or make the parts disjoint"
            ]
        );
        racing.edge(0, 1);
        assert_eq!(errors(&mut racing), [""; 0], "ordered");
        let mut reading = draft("kernel write: low; kernel read: high;");
        assert_eq!(errors(&mut reading), [""; 0], "nothing is written");
        let mut apart = draft("kernel write: low[0..8]=; kernel read: high;");
        assert_eq!(errors(&mut apart), [""; 0], "the parts do not meet");
        let mut met = draft("kernel write: low[0..9]=; kernel read: high[0..4];");
        assert!(
            errors(&mut met)[0].contains("1 bytes belong to both"),
            "{:?}",
            errors(&mut met)
        );
    }

    #[test]
    fn a_node_gets_views_that_overlap_once() {
        let mut twice = draft("kernel k: low, high*;");
        assert_eq!(
            errors(&mut twice),
            [
                "node `k` gets `low` as `&` and `high` as `&mut`, which are shared memory that overlaps [aliased-argument]\n\
              note: 8 bytes belong to both\n\
              help: share memory that does not overlap, or pass parts that do not"
            ]
        );
        twice.nodes[0].kind = NodeKind::Memcpy;
        let text = errors(&mut twice).remove(0);
        assert!(
            text.starts_with(
                "node `k` copies `low` to `high`, which are shared memory that overlaps [aliased-argument]"
            ),
            "{text}"
        );
    }

    #[test]
    fn edges_are_inferred_through_views() {
        let mut draft = draft("kernel write: low=; kernel read: high;");
        draft.auto = true;
        infer(&mut draft, &[]);
        assert_eq!(draft.edges, []);
        views().through(&mut draft, |draft| infer(draft, &[]));
        assert_eq!(draft.edges, [Edge { from: 0, to: 1 }]);
    }

    #[test]
    fn rows_and_regions_of_which_nothing_is_known_meet() {
        let rows = |start| {
            Region::Rectangle(Rectangle {
                start,
                width: 2,
                pitch: 8,
                rows: 2,
            })
        };
        let both = |first, second| {
            let mut draft = draft("kernel write: low=; kernel read: high;");
            (draft.accesses[0].region, draft.accesses[1].region) = (first, second);
            errors(&mut draft).len()
        };
        assert_eq!(
            both(rows(0), rows(0)),
            1,
            "the second row of `low` is the first of `high`"
        );
        assert_eq!(both(rows(0), rows(2)), 0);
        assert_eq!(both(Region::Index(Bound::Known(0)), Region::span(0, 16)), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        /// Accesses to views race if and only if accesses to the same bytes of one resource do.
        #[test]
        fn views_are_one_memory(
            accesses in prop::collection::vec((0..4_usize, 0..3_usize, 0_u64..12, 0_u64..6, 0..4_usize), 1..8),
            joined in prop::array::uniform3(any::<bool>()),
        ) {
            let modes = [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic];
            let starts = [0_u64, 5, 9];
            let built = |is_split: bool| {
                let mut draft = Draft::new("Test");
                for name in ["a", "b", "c"] {
                    draft.resource(name, Memory::Device);
                }
                for node in 0..4 {
                    draft.node(format!("n{node}"), NodeKind::Kernel);
                    for &(owner, view, start, len, mode) in &accesses {
                        let (resource, offset) = if is_split { (view, 0) } else { (0, starts[view]) };
                        if owner == node {
                            let region = Region::span(offset + start, offset + start + len);
                            draft.access(node, resource, region, modes[mode]);
                        }
                    }
                }
                for (node, _) in joined.iter().enumerate().filter(|(_, joined)| **joined) {
                    draft.edge(node, node + 1);
                }
                draft
            };
            let view = |(resource, &start)| View { resource, start, bytes: 12 };
            let views = Views::new([starts.iter().enumerate().map(view).collect()]);
            let found = |draft: &mut Draft, views: &Views| -> Vec<Code> {
                let errors = views.through(draft, |draft| check_errors(draft).errors);
                errors.iter().map(|error| error.code).collect()
            };
            let split = found(&mut built(true), &views);
            prop_assert_eq!(split, found(&mut built(false), &Views::default()));
        }
    }
}
