//! The nodes that each declaration of `cuda_graph!` becomes: in a loop, one for each iteration.

use std::collections::HashMap;
use std::ops::Range;

/// The nodes of each declaration, by the declaration's index. Only graphs with loops or children have this; in other
/// graphs, every declaration is one node of the same index.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeclaredNodes {
    of: Vec<NodesOfDeclaration>,
}

/// The nodes of one declaration, in order of the iterations.
#[derive(Clone, Debug, Default)]
struct NodesOfDeclaration {
    /// The iteration numbers of all nodes, one node after the other. The numbers of a node begin with the outermost
    /// loop's. Nodes are in ascending order of these numbers.
    values: Vec<usize>,
    nodes: Vec<IterationNode>,
    /// For each loop around it, from the outermost, whether it is an `each`. Inner loops that have had no iteration are
    /// left out.
    parallel: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct IterationNode {
    node: usize,
    /// The number of loops around it whose iteration exists, from the outermost. If its declaration has more loops
    /// around it, the next of these has no iterations: the node only joins edges, and its numbers in further loops are
    /// 0.
    loops: usize,
}

/// The nodes of all declarations of a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllDeclaredNodes {
    /// The nodes of the graph's own declarations, if it has loops or children.
    pub(crate) own: Option<DeclaredNodes>,
    /// The nodes of the declarations of all its children, direct or not, by the node of the child graph.
    pub(crate) children: HashMap<usize, DeclaredNodes>,
}

impl AllDeclaredNodes {
    /// The declarations of the graph itself or, given its node, of a child. `None` if each declaration is one node of
    /// the same index.
    #[inline]
    pub(crate) fn of(&self, child: Option<usize>) -> Option<&DeclaredNodes> {
        match child {
            Some(child) => self.children.get(&child),
            None => self.own.as_ref(),
        }
    }

    /// The node of a declaration, of the graph itself or of a child, in the iterations `values`.
    #[inline]
    pub(crate) fn find(&self, child: Option<usize>, declared: usize, values: &[usize]) -> Option<usize> {
        match self.of(child) {
            Some(nodes) => nodes.find(declared, values),
            None => (child.is_none() && values.is_empty()).then_some(declared),
        }
    }
}

impl NodesOfDeclaration {
    /// The number of loops around it.
    fn depth(&self) -> usize {
        self.values.len().checked_div(self.nodes.len()).unwrap_or(0)
    }

    fn values(&self, index: usize) -> &[usize] {
        let depth = self.depth();
        &self.values[index * depth..(index + 1) * depth]
    }

    /// The nodes, by index, of each iteration of the `common` outermost loops.
    fn iterations(&self, common: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        self.groups(0..self.nodes.len(), 0..common)
    }

    /// The nodes of `all` in groups. The nodes of a group have the same iteration numbers in `loops`.
    fn groups(&self, all: Range<usize>, loops: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let loops = loops.start..loops.end.min(self.depth());
        let mut start = all.start;
        std::iter::from_fn(move || {
            let numbers = |index: usize| &self.values(index)[loops.clone()];
            let same = (start..all.end).take_while(|&index| numbers(index) == numbers(start));
            let group = start..start + same.count();
            start = group.end;
            (!group.is_empty()).then_some(group)
        })
    }

    /// The nodes, by index, in the iterations `values` of the outermost loops.
    fn of(&self, values: &[usize]) -> Range<usize> {
        let numbers = |index: usize| &self.values(index)[..values.len().min(self.depth())];
        let first = |low: usize, is_before: &dyn Fn(&[usize]) -> bool| {
            let (mut low, mut high) = (low, self.nodes.len());
            while low < high {
                let middle = low.midpoint(high);
                match is_before(numbers(middle)) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        let start = first(0, &|numbers| numbers < values);
        start..first(start, &|numbers| numbers <= values)
    }

    /// Adds to `ends` the last nodes of `all`, which others of them run before, or the first. All of them are in the
    /// same iterations of the `common` outermost loops. In each further `for`, the nodes of the last or first iteration
    /// are added; in each further `each`, those of all iterations.
    fn ends(&self, all: Range<usize>, common: usize, last: bool, ends: &mut Vec<usize>) {
        if common >= self.depth() || all.len() == 1 {
            ends.extend(self.nodes[all].iter().map(|node| node.node));
            return;
        }
        let mut groups = self.groups(all, common..common + 1);
        if self.parallel.get(common).copied().unwrap_or(false) {
            groups.for_each(|group| self.ends(group, common + 1, last, ends));
        } else if let Some(group) = if last { groups.last() } else { groups.next() } {
            self.ends(group, common + 1, last, ends);
        }
    }
}

impl DeclaredNodes {
    /// `nodes` declarations, each with one node of the same index.
    pub(crate) fn identity(nodes: usize) -> Self {
        let mut identity = Self::default();
        (0..nodes).for_each(|node| identity.add(node, [], 0, node));
        identity
    }

    /// Adds the next node of a declaration. `loops` are the open loops around it, from the outermost: the number of the
    /// iteration, and whether the loop is an `each`. If `without` is not 0, the innermost open loop has no iterations:
    /// the node stands in for this loop and the loops inside it, `without` in all.
    pub(crate) fn add(
        &mut self,
        declared: usize,
        loops: impl IntoIterator<Item = (usize, bool)>,
        without: usize,
        node: usize,
    ) {
        if self.of.len() <= declared {
            self.of.resize_with(declared + 1, NodesOfDeclaration::default);
        }
        let declared = &mut self.of[declared];
        let mut open = 0;
        for (value, parallel) in loops {
            declared.values.push(value);
            if declared.parallel.len() == open {
                declared.parallel.push(parallel);
            }
            open += 1;
        }
        declared
            .values
            .extend(std::iter::repeat_n(0, without.saturating_sub(1)));
        declared.nodes.push(IterationNode {
            node,
            loops: open.saturating_sub(without.min(1)),
        });
    }

    /// The node of a declaration without loops around it; `None` if it has some.
    #[inline]
    pub(crate) fn only(&self, declared: usize) -> Option<usize> {
        let NodesOfDeclaration { values, nodes, .. } = self.of.get(declared)?;
        match nodes[..] {
            [IterationNode { node, loops: 0 }] if values.is_empty() => Some(node),
            _ => None,
        }
    }

    /// The node of a declaration in the iterations `values`, from the outermost loop inwards.
    #[inline]
    pub(crate) fn find(&self, declared: usize, values: &[usize]) -> Option<usize> {
        match self.only(declared) {
            Some(node) if values.is_empty() => Some(node),
            _ => self.find_iteration(declared, values),
        }
    }

    fn find_iteration(&self, declared: usize, values: &[usize]) -> Option<usize> {
        let declared = self
            .of
            .get(declared)
            .filter(|declared| declared.depth() == values.len())?;
        let found = declared.nodes.get(declared.of(values))?.first()?;
        (found.loops == values.len()).then_some(found.node)
    }

    /// All nodes of a declaration, with the numbers of their iterations.
    pub(crate) fn each(&self, declared: usize) -> impl Iterator<Item = (usize, &[usize])> {
        let declared = self.of.get(declared);
        declared.into_iter().flat_map(|declared| {
            let nodes = declared.nodes.iter().enumerate();
            let real = nodes.filter(|(_, node)| node.loops == declared.depth());
            real.map(|(index, node)| (node.node, declared.values(index)))
        })
    }

    /// Calls `order` with the nodes that an edge between declarations orders. In each iteration of the `common` loops
    /// around both, these are the last nodes of `from`, and the first nodes of `to`, which run after them.
    pub(crate) fn edges(&self, from: usize, to: usize, common: usize, order: impl FnMut(&[usize], &[usize])) {
        let Some((from, to)) = self.of.get(from).zip(self.of.get(to)) else {
            return;
        };
        let groups = from.iterations(common).zip(to.iterations(common));
        in_order((from, to), common, groups, order);
    }

    /// Calls `order` with the nodes that an edge between iterations orders. `steps` has a number for each of the
    /// outermost loops, which are around both declarations. In each iteration of these loops, the first nodes of `to`
    /// run after the last nodes of `from` in the iteration whose numbers are larger by `steps`. If there is no such
    /// iteration, nothing is ordered.
    pub(crate) fn shifted_edges(&self, from: usize, to: usize, steps: &[isize], order: impl FnMut(&[usize], &[usize])) {
        let Some((from, to)) = self.of.get(from).zip(self.of.get(to)) else {
            return;
        };
        let common = steps.len();
        if common > from.depth().min(to.depth()) {
            return;
        }
        // The number of common loops whose iteration exists.
        let loops = |of: &NodesOfDeclaration, group: &Range<usize>| {
            let nodes = of.nodes.get(group.clone()).and_then(<[_]>::first);
            nodes.map(|node| node.loops.min(common))
        };
        let groups = to.iterations(common).filter_map(|after| {
            let numbers = to.values(after.start)[..common].iter().zip(steps);
            let other: Option<Vec<usize>> = numbers
                .map(|(&number, &step)| number.checked_add_signed(step))
                .collect();
            let before = from.of(&other?);
            // A join that stands in for a loop without iterations is ordered as the iterations would be, so that the
            // order through it remains.
            let (existing, other) = (loops(to, &after)?, loops(from, &before)?);
            let same = existing == other && steps[existing..].iter().all(|&step| step == 0);
            same.then_some((before, after))
        });
        in_order((from, to), common, groups, order);
    }
}

/// Calls `order` for each pair of groups, with the last nodes of the first group and the first nodes of the second. A
/// group has nodes of one declaration that are in the same iterations of the `common` outermost loops.
fn in_order(
    (from, to): (&NodesOfDeclaration, &NodesOfDeclaration),
    common: usize,
    groups: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    mut order: impl FnMut(&[usize], &[usize]),
) {
    let (mut last, mut first) = (Vec::new(), Vec::new());
    for (before, after) in groups {
        last.clear();
        first.clear();
        from.ends(before, common, true, &mut last);
        to.ends(after, common, false, &mut first);
        order(&last, &first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x`, then `for i { a; for j { b } }` where `i` is 1, 2 and 3, and `j` is below `i - 1`.
    fn example(outer: bool, inner: bool) -> DeclaredNodes {
        let mut nodes = DeclaredNodes::identity(1);
        let mut node = 1;
        for i in 1..4 {
            nodes.add(1, [(i, outer)], 0, node);
            node += 1;
            for j in 0..(i - 1).max(1) {
                nodes.add(2, [(i, outer), (j, inner)], usize::from(i == 1), node);
                node += 1;
            }
        }
        nodes
    }

    #[test]
    fn nodes_are_found_by_the_numbers_of_their_iterations() {
        let nodes = example(false, false);
        assert_eq!(nodes.find(0, &[]), Some(0));
        assert_eq!(nodes.find(1, &[2]), Some(3));
        assert_eq!(nodes.find(2, &[3, 1]), Some(7));
        assert_eq!(nodes.find(2, &[1, 0]), None, "it only stands in");
        assert_eq!(nodes.find(2, &[3, 2]), None);
        assert_eq!(nodes.find(2, &[3]), None);
        assert_eq!(nodes.find(1, &[0]), None);
        assert_eq!(nodes.find(9, &[]), None);
        let all: Vec<_> = nodes.each(2).collect();
        assert_eq!(all, [(4, &[2, 0][..]), (6, &[3, 0]), (7, &[3, 1])]);
    }

    type Pairs = Vec<(Vec<usize>, Vec<usize>)>;

    fn edges_of(nodes: &DeclaredNodes, from: usize, to: usize, common: usize) -> Pairs {
        let mut pairs = Vec::new();
        nodes.edges(from, to, common, |before, after| {
            pairs.push((before.to_vec(), after.to_vec()))
        });
        pairs
    }

    #[test]
    fn edges_go_to_the_first_and_from_the_last_of_what_is_not_around_both() {
        let edges = |from, to, common| edges_of(&example(false, false), from, to, common);
        assert_eq!(edges(0, 2, 0), [(vec![0], vec![2])]);
        assert_eq!(edges(2, 0, 0), [(vec![7], vec![0])]);
        let one = |pairs: &[(usize, usize)]| pairs.iter().map(|&(a, b)| (vec![a], vec![b])).collect::<Pairs>();
        assert_eq!(edges(1, 2, 1), one(&[(1, 2), (3, 4), (5, 6)]));
        assert_eq!(edges(2, 1, 1), one(&[(2, 1), (4, 3), (7, 5)]));
    }

    #[test]
    fn edges_of_parallel_loops_are_of_all_their_iterations() {
        let edges = |outer, inner, from, to, common| edges_of(&example(outer, inner), from, to, common);
        assert_eq!(edges(true, true, 2, 0, 0), [(vec![2, 4, 6, 7], vec![0])]);
        assert_eq!(edges(true, false, 2, 0, 0), [(vec![2, 4, 7], vec![0])]);
        assert_eq!(edges(true, false, 0, 2, 0), [(vec![0], vec![2, 4, 6])]);
        assert_eq!(edges(false, true, 2, 0, 0), [(vec![6, 7], vec![0])]);
        let of_each = [(vec![1], vec![2]), (vec![3], vec![4]), (vec![5], vec![6, 7])];
        assert_eq!(edges(true, true, 1, 2, 1), of_each);
    }

    #[test]
    fn edges_between_iterations_join_those_that_exist() {
        let nodes = example(true, true);
        let edges = |from, to, steps: &[isize]| {
            let mut pairs = Pairs::new();
            nodes.shifted_edges(from, to, steps, |before, after| {
                pairs.push((before.to_vec(), after.to_vec()));
            });
            pairs
        };
        assert_eq!(edges(1, 1, &[-1]), [(vec![1], vec![3]), (vec![3], vec![5])]);
        assert_eq!(edges(1, 1, &[2]), [(vec![5], vec![1])]);
        let expected = [(vec![4], vec![6])];
        assert_eq!(edges(2, 2, &[-1, 0]), expected, "of 1, 0 there is only a stand-in");
        assert_eq!(edges(2, 2, &[0, -1]), [(vec![6], vec![7])]);
        let expected = [(vec![2], vec![3]), (vec![4], vec![5])];
        assert_eq!(edges(2, 1, &[-1]), expected, "the order through no iterations");
        assert_eq!(edges(2, 1, &[1]), [(vec![4], vec![1]), (vec![6, 7], vec![3])]);
        assert_eq!(edges(1, 1, &[isize::MIN]), []);
        assert_eq!(edges(1, 1, &[isize::MAX]), []);
        assert_eq!(edges(1, 1, &[0, 0]), [], "more numbers than loops");
    }

    #[test]
    fn edges_between_iterations_lead_through_empty_loops() {
        let mut nodes = DeclaredNodes::default();
        for i in 0..3 {
            nodes.add(0, [(i, true), (0, true)], 1, i);
        }
        let edges = |steps: &[isize]| {
            let mut pairs = Vec::new();
            nodes.shifted_edges(0, 0, steps, |before, after| pairs.push((before[0], after[0])));
            pairs
        };
        assert_eq!(edges(&[-1, 0]), [(0, 1), (1, 2)]);
        assert_eq!(edges(&[0, -1]), []);
        assert_eq!(edges(&[-1]), [(0, 1), (1, 2)]);
    }
}
