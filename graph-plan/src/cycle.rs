//! Cycles of the `after` edges: one for each strongly connected component, the shortest.

use crate::order::petgraph;
use crate::{Edge, Lists};
use petgraph::algo::tarjan_scc;
use std::collections::VecDeque;

/// A strongly connected component of more than one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// All nodes of the component, ascending.
    pub component: Vec<usize>,
    /// The nodes of a shortest cycle in it, in the order they would run, starting with the lowest index.
    pub shortest: Vec<usize>,
}

/// All cycles of the graph, by their lowest node. Edges from a node to itself are not cycles here: they have a rule of
/// their own.
pub fn cycles(nodes: usize, edges: &[Edge]) -> Vec<Cycle> {
    let mut found: Vec<Cycle> = tarjan_scc(&petgraph(nodes, edges))
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| {
            let mut component: Vec<usize> = component.into_iter().map(|node| node.index()).collect();
            component.sort_unstable();
            let shortest = shortest(nodes, edges, &component);
            Cycle { component, shortest }
        })
        .collect();
    found.sort_unstable_by_key(|cycle| cycle.component[0]);
    found
}

/// A shortest cycle inside a component, by a breadth-first search from each of its nodes.
fn shortest(nodes: usize, edges: &[Edge], component: &[usize]) -> Vec<usize> {
    let mut inside = vec![false; nodes];
    component.iter().for_each(|&node| inside[node] = true);
    let is_inside = |edge: &&Edge| inside[edge.from] && inside[edge.to] && edge.from != edge.to;
    let next = Lists::new(nodes, || {
        edges.iter().filter(is_inside).map(|edge| (edge.from, edge.to))
    });
    let mut best: Option<Vec<usize>> = None;
    for &start in component {
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        if let Some(cycle) = cycle_through(nodes, start, &next, limit) {
            best = Some(cycle);
        }
    }
    let mut cycle = best.unwrap_or_else(|| component.to_vec());
    let lowest = (0..cycle.len()).min_by_key(|&index| cycle[index]).unwrap_or(0);
    cycle.rotate_left(lowest);
    cycle
}

/// The shortest cycle through `start`, if it has fewer than `limit` nodes.
fn cycle_through(nodes: usize, start: usize, next: &Lists<usize>, limit: usize) -> Option<Vec<usize>> {
    let mut parent = vec![usize::MAX; nodes];
    let mut queue = VecDeque::from([(start, 1)]);
    while let Some((node, length)) = queue.pop_front() {
        if length >= limit {
            return None;
        }
        for &successor in next.of(node) {
            if successor == start {
                let mut cycle = vec![node];
                while cycle[cycle.len() - 1] != start {
                    cycle.push(parent[cycle[cycle.len() - 1]]);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if parent[successor] == usize::MAX {
                parent[successor] = node;
                queue.push_back((successor, length + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::tests::{graphs, reachable};
    use proptest::prelude::*;

    fn edges(pairs: &[(usize, usize)]) -> Vec<Edge> {
        pairs.iter().map(|&(from, to)| Edge { from, to }).collect()
    }

    #[test]
    fn the_shortest_of_several_is_reported() {
        let found = cycles(5, &edges(&[(0, 1), (1, 2), (2, 3), (3, 0), (3, 2), (0, 4)]));
        let expected = [Cycle {
            component: vec![0, 1, 2, 3],
            shortest: vec![2, 3],
        }];
        assert_eq!(found, expected);
    }

    #[test]
    fn loops_and_trees_are_no_cycles() {
        assert_eq!(cycles(3, &edges(&[(0, 0), (0, 1), (0, 2)])), []);
    }

    proptest! {
        #[test]
        fn cycles_equal_the_oracle((nodes, edges) in graphs()) {
            let reach = reachable(nodes, &edges);
            let found = cycles(nodes, &edges);
            for (node, row) in reach.iter().enumerate() {
                let component: Vec<usize> = (0..nodes).filter(|&other| row[other] && reach[other][node]).collect();
                let reported = found.iter().filter(|cycle| cycle.component.contains(&node)).count();
                prop_assert_eq!(reported, usize::from(row[node]));
                if row[node] {
                    prop_assert!(found.iter().any(|cycle| cycle.component == component));
                }
            }
            for cycle in &found {
                let length = cycle.shortest.len();
                for (index, &from) in cycle.shortest.iter().enumerate() {
                    let edge = Edge { from, to: cycle.shortest[(index + 1) % length] };
                    prop_assert!(edges.contains(&edge) && cycle.component.contains(&from), "{:?}", edge);
                }
                let shortest = cycle.component.iter().filter_map(|&start| girth(nodes, &edges, start)).min();
                prop_assert_eq!(Some(length), shortest);
            }
        }
    }

    /// The length of the shortest cycle through `start`, by relaxing all edges as often as there are nodes.
    fn girth(nodes: usize, edges: &[Edge], start: usize) -> Option<usize> {
        let mut distance = vec![None; nodes];
        distance[start] = Some(0);
        let mut back: Option<usize> = None;
        for _ in 0..nodes {
            for edge in edges {
                let Some(length) = distance[edge.from] else { continue };
                if edge.to == start {
                    back = Some(back.map_or(length + 1, |best| best.min(length + 1)));
                } else if distance[edge.to].is_none_or(|known| known > length + 1) {
                    distance[edge.to] = Some(length + 1);
                }
            }
        }
        back
    }
}
