//! The nodes that each declaration of `cuda_graph!` becomes: in a loop, one for each iteration.

use std::collections::HashMap;

/// The nodes of each declaration, by the declaration's index. Only graphs with loops or children have this; in other
/// graphs, every declaration is one node of the same index.
#[derive(Debug, Default)]
pub(crate) struct DeclaredNodes {
    of: Vec<NodesOfDeclaration>,
}

/// The nodes of one declaration, in order of the iterations.
#[derive(Debug, Default)]
struct NodesOfDeclaration {
    /// The iteration numbers of all nodes, one node after the other: for each, from the outermost loop inwards. Nodes
    /// are in ascending order of these numbers.
    values: Vec<usize>,
    nodes: Vec<IterationNode>,
}

#[derive(Clone, Copy, Debug)]
struct IterationNode {
    node: usize,
    /// Whether the loop has no iterations, so that this is a join that keeps the order of its neighbours.
    stands_in: bool,
}

/// The nodes of all declarations of a graph.
#[derive(Debug, Default)]
pub(crate) struct AllDeclaredNodes {
    /// The nodes of the graph's own declarations, if it has loops or children.
    pub(crate) own: Option<DeclaredNodes>,
    /// The nodes of the declarations of all its children, direct or not, by the node of the child graph.
    pub(crate) children: HashMap<usize, DeclaredNodes>,
}

impl AllDeclaredNodes {
    /// The declarations of the graph itself or, given its node, of a child. `None` if each declaration is one node of
    /// the same index.
    pub(crate) fn of(&self, child: Option<usize>) -> Option<&DeclaredNodes> {
        match child {
            Some(child) => self.children.get(&child),
            None => self.own.as_ref(),
        }
    }

    /// The node of a declaration, of the graph itself or of a child, in the iterations `values`.
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

    /// The first and the last node in each iteration of the `common` outermost loops.
    fn groups(&self, common: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut start = 0;
        std::iter::from_fn(move || {
            let first = self.nodes.get(start)?;
            let prefix = |index: usize| &self.values(index)[..common.min(self.depth())];
            let last = (start..self.nodes.len())
                .take_while(|&index| prefix(index) == prefix(start))
                .last()?;
            start = last + 1;
            Some((first.node, self.nodes[last].node))
        })
    }
}

impl DeclaredNodes {
    /// `nodes` declarations, each with one node of the same index.
    pub(crate) fn identity(nodes: usize) -> Self {
        let mut identity = Self::default();
        (0..nodes).for_each(|node| identity.add(node, [], node, false));
        identity
    }

    /// Adds the next node of a declaration. `values` are its iteration numbers, from the outermost loop inwards.
    pub(crate) fn add(
        &mut self,
        declared: usize,
        values: impl IntoIterator<Item = usize>,
        node: usize,
        stands_in: bool,
    ) {
        if self.of.len() <= declared {
            self.of.resize_with(declared + 1, NodesOfDeclaration::default);
        }
        let declared = &mut self.of[declared];
        declared.values.extend(values);
        declared.nodes.push(IterationNode { node, stands_in });
    }

    /// The node of a declaration in the iterations `values`, from the outermost loop inwards.
    pub(crate) fn find(&self, declared: usize, values: &[usize]) -> Option<usize> {
        let declared = self.of.get(declared)?;
        let (mut low, mut high) = (0, declared.nodes.len());
        while low < high {
            let middle = low.midpoint(high);
            match declared.values(middle).cmp(values) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let found = declared.nodes[middle];
                    return (!found.stands_in).then_some(found.node);
                }
            }
        }
        None
    }

    /// All nodes of a declaration, with the numbers of their iterations.
    pub(crate) fn each(&self, declared: usize) -> impl Iterator<Item = (usize, &[usize])> {
        let declared = self.of.get(declared);
        declared.into_iter().flat_map(|declared| {
            let nodes = declared.nodes.iter().enumerate();
            let real = nodes.filter(|(_, node)| !node.stands_in);
            real.map(|(index, node)| (node.node, declared.values(index)))
        })
    }

    /// The edges between nodes for an edge between declarations with `common` loops around both: in each iteration of
    /// those loops, from the last node of `from` to the first node of `to`.
    pub(crate) fn edges(&self, from: usize, to: usize, common: usize) -> impl Iterator<Item = (usize, usize)> {
        let groups = |declared: usize| {
            self.of
                .get(declared)
                .into_iter()
                .flat_map(move |declared| declared.groups(common))
        };
        groups(from)
            .zip(groups(to))
            .map(|((_, last), (first, _))| (last, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x`, then `for i { a; for j { b } }` where `i` is 1, 2 and 3, and `j` is below `i - 1`.
    fn example() -> DeclaredNodes {
        let mut nodes = DeclaredNodes::identity(1);
        let mut node = 1;
        for i in 1..4 {
            nodes.add(1, [i], node, false);
            node += 1;
            for j in 0..(i - 1).max(1) {
                nodes.add(2, [i, j], node, i == 1);
                node += 1;
            }
        }
        nodes
    }

    #[test]
    fn nodes_are_found_by_the_numbers_of_their_iterations() {
        let nodes = example();
        assert_eq!(nodes.find(0, &[]), Some(0));
        assert_eq!(nodes.find(1, &[2]), Some(3));
        assert_eq!(nodes.find(2, &[3, 1]), Some(7));
        assert_eq!(nodes.find(2, &[1, 0]), None, "it only stands in");
        assert_eq!(nodes.find(2, &[3, 2]), None);
        assert_eq!(nodes.find(1, &[0]), None);
        assert_eq!(nodes.find(9, &[]), None);
        let all: Vec<_> = nodes.each(2).collect();
        assert_eq!(all, [(4, &[2, 0][..]), (6, &[3, 0]), (7, &[3, 1])]);
    }

    #[test]
    fn edges_go_to_the_first_and_from_the_last_of_what_is_not_around_both() {
        let edges = |from, to, common| example().edges(from, to, common).collect::<Vec<_>>();
        assert_eq!(edges(0, 2, 0), [(0, 2)]);
        assert_eq!(edges(2, 0, 0), [(7, 0)]);
        assert_eq!(edges(1, 2, 1), [(1, 2), (3, 4), (5, 6)]);
        assert_eq!(edges(2, 1, 1), [(2, 1), (4, 3), (7, 5)]);
    }
}
