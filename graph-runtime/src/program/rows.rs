//! The order in which a profile runs the nodes of a graph.

use graph_plan::Plan;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The nodes of each body, one after the other.
pub(crate) struct Rows {
    /// In an order that the edges allow. Where it can, a node follows the one that a programmatic edge joins it with.
    pub(crate) bodies: Vec<Vec<usize>>,
    /// The nodes that each node runs directly after, and whether the edge is programmatic.
    pub(crate) after: Vec<Vec<(usize, bool)>>,
}

impl Rows {
    pub(crate) fn of(plan: &Plan) -> Self {
        let nodes = plan.nodes.iter();
        let after = nodes.map(|node| {
            let edges = node.after.iter();
            edges.map(|from| (*from, node.programmatic.contains(from))).collect()
        });
        let after: Vec<Vec<(usize, bool)>> = after.collect();
        let mut next: Vec<Vec<(usize, bool)>> = vec![Vec::new(); after.len()];
        for (to, edges) in after.iter().enumerate() {
            edges.iter().for_each(|&(from, early)| next[from].push((to, early)));
        }
        let mut missing: Vec<usize> = after.iter().map(Vec::len).collect();
        let mut bodies = vec![Vec::new(); plan.bodies.len()];
        // The nodes that can come next: by level, then by index.
        let mut ready: Vec<BinaryHeap<Reverse<(usize, usize)>>> = vec![BinaryHeap::new(); plan.bodies.len()];
        for (node, declared) in plan.nodes.iter().enumerate().filter(|(node, _)| missing[*node] == 0) {
            ready[declared.body].push(Reverse((declared.level, node)));
        }
        for (row, ready) in bodies.iter_mut().zip(&mut ready) {
            let mut joined = None;
            while let Some(node) = joined.take().or_else(|| ready.pop().map(|Reverse((_, node))| node)) {
                row.push(node);
                for &(to, early) in &next[node] {
                    missing[to] -= 1;
                    if missing[to] > 0 {
                        continue;
                    }
                    if early && joined.is_none() {
                        joined = Some(to);
                    } else {
                        ready.push(Reverse((plan.nodes[to].level, to)));
                    }
                }
            }
        }
        Self { bodies, after }
    }

    /// The nodes of a body that no other runs after.
    pub(crate) fn last(&self, body: usize) -> Vec<usize> {
        let nodes = &self.bodies[body];
        let before: BTreeSet<usize> = nodes
            .iter()
            .flat_map(|node| &self.after[*node])
            .map(|edge| edge.0)
            .collect();
        nodes.iter().copied().filter(|node| !before.contains(node)).collect()
    }

    /// The nodes of the whole graph at which paths end or meet: those that no other runs after, and those that one with
    /// several before it runs after.
    pub(crate) fn meeting(&self) -> Vec<usize> {
        let several = self.after.iter().filter(|edges| edges.len() > 1);
        let before = several.flatten().map(|edge| edge.0);
        let all: BTreeSet<usize> = before.chain(self.last(0)).collect();
        all.into_iter().collect()
    }

    /// Divides nodes that run one after the other into groups: a node is in the group of the one before it if a
    /// programmatic edge joins the two.
    pub(crate) fn groups(&self, nodes: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &node in nodes {
            match groups.last_mut() {
                Some(group)
                    if group
                        .last()
                        .is_some_and(|&last| self.after[node].contains(&(last, true))) =>
                {
                    group.push(node);
                }
                _ => groups.push(vec![node]),
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph_plan::{Draft, NodeKind, check};

    #[test]
    fn nodes_follow_those_that_programmatic_edges_join_them_with() {
        let mut draft = Draft::new("Rows");
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| draft.node(name, NodeKind::Kernel));
        draft.programmatic_edge(a, c);
        draft.programmatic_edge(b, d);
        draft.edge(c, e);
        draft.edge(d, e);
        let plan = Plan::of(&draft, &check(&draft), |_| 0);
        let rows = Rows::of(&plan);
        assert_eq!(rows.bodies, [[a, c, b, d, e]]);
        assert_eq!(rows.groups(&rows.bodies[0]), [vec![a, c], vec![b, d], vec![e]]);
        assert_eq!(rows.groups(&[a, b, c]), [[a], [b], [c]]);
        assert_eq!(rows.last(0), [e]);
        assert_eq!(rows.meeting(), [c, d, e]);
    }
}
