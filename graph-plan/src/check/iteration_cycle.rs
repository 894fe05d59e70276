//! Edges between iterations: duplicates, and cycles of iterations.

use super::Found;
use super::advice::{and_list, line_of_shift, spelled};
use super::edge::named_twice;
use crate::draft::Link;
use crate::order::petgraph;
use crate::parallel::Apart;
use crate::{Code, Diagnostic, Draft, Edge, Nest, Shift, Subject};
use petgraph::algo::tarjan_scc;
use std::collections::BTreeSet;

/// The greatest factor by which one loop counts in a sum of several loops' steps.
const MAX_FACTOR: i64 = 2;

/// The most sums of several loops' steps that are looked at.
const MAX_SUMS: i64 = 625;

/// Reports edges between iterations that are written twice, and cycles of iterations.
pub(super) fn between_iterations(draft: &Draft, order: &Nest, found: &mut Found) {
    for (index, shift) in draft.shifts.iter().enumerate() {
        let is_same = |other: &Shift| (other.from, other.to, &other.steps) == (shift.from, shift.to, &shift.steps);
        if draft.shifts[..index].iter().any(is_same) {
            let (node, other) = (&draft.nodes[shift.to].name, spelled(draft, shift));
            found.errors.push(named_twice(node, &other, Subject::Shift(index)));
        }
    }
    for body in 0..draft.bodies.len() {
        let inside = |shift: &Shift| draft.nodes[shift.from].body == body && draft.nodes[shift.to].body == body;
        if draft.shifts.iter().any(inside) {
            let graph = Reduced::new(draft, order, body);
            if let Some((component, edges)) = graph.any_cycle() {
                for &item in component.iter().filter(|&&item| item < draft.nodes.len()) {
                    found.broken[item] = true;
                }
                let mut links: Vec<Link> = edges.iter().filter_map(|&edge| graph.edges[edge].link).collect();
                let diagnostic = cyclic(draft, &component, &links);
                links.reverse(); // edges between iterations first
                found.cycle(diagnostic, links, None);
            }
        }
    }
}

/// Whether iterations of a body's nodes run after each other in a cycle.
pub(super) fn is_cyclic(draft: &Draft, order: &Nest, body: usize) -> bool {
    Reduced::new(draft, order, body).any_cycle().is_some()
}

/// A body's nodes, once for all iterations, and its edges with the numbers by which the iterations of their ends
/// differ. For each `for` there is one more item, numbered after the nodes: it runs after all nodes of an iteration,
/// and before all of the next.
struct Reduced {
    /// The loops around each item.
    loops: Vec<Vec<usize>>,
    edges: Vec<Apart>,
}

impl Reduced {
    fn new(draft: &Draft, order: &Nest, body: usize) -> Self {
        let nodes = draft.nodes.len();
        let mut loops = draft.loops_of_body(body);
        let mut edges = Apart::of(draft, order, body, &loops);
        let mut add = |from: usize, to: usize, by: Vec<i64>| {
            let link = None;
            edges.push(Apart { from, to, link, by });
        };
        for (number, for_loop) in draft.loops.iter().enumerate() {
            let mut around = Vec::new();
            for node in (0..nodes).filter(|_| !for_loop.parallel) {
                if let Some(depth) = loops[node].iter().position(|&other| other == number) {
                    around = loops[node][..=depth].to_vec();
                    let mut by = vec![0; depth + 1];
                    add(node, nodes + number, by.clone());
                    by[depth] = 1;
                    add(nodes + number, node, by);
                }
            }
            loops.push(around);
        }
        Self { loops, edges }
    }

    /// As [`Reduced::cycle`], for all edges.
    fn any_cycle(&self) -> Option<(Vec<usize>, Vec<usize>)> {
        let all: Vec<usize> = (0..self.edges.len()).collect();
        self.cycle(&all, &[])
    }

    /// Items that may run in a cycle, and the edges between them that such a cycle may use: some of these edges form a
    /// walk from an item back to itself, in the same iteration of all loops around. In the loops `done`, every walk
    /// back along these edges ends in the same iteration.
    ///
    /// The *weight* of a walk is the number by which its iteration changes in one loop, or a sum of these numbers with
    /// factors. If no walk from an item back to itself has a negative weight, a walk that ends in the same iteration,
    /// whose weight is 0, uses tight edges only (see [`Reduced::tight`]). So the search goes on without the other
    /// edges.
    fn cycle(&self, edges: &[usize], done: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        let ends = |edge: usize| {
            let Apart { from, to, .. } = self.edges[edge];
            Edge { from, to }
        };
        let plain: Vec<Edge> = edges.iter().map(|&edge| ends(edge)).collect();
        for component in tarjan_scc(&petgraph(self.loops.len(), &plain)) {
            let component: Vec<usize> = component.into_iter().map(|item| item.index()).collect();
            let inside = |edge: &usize| {
                let Edge { from, to } = ends(*edge);
                component.contains(&from) && component.contains(&to)
            };
            let edges: Vec<usize> = edges.iter().copied().filter(inside).collect();
            if !edges.is_empty()
                && let Some(found) = self.cycle_in(&component, &edges, done)
            {
                return Some(found);
            }
        }
        None
    }

    /// As [`Reduced::cycle`], where paths along the edges lead from each item to all others.
    fn cycle_in(&self, component: &[usize], edges: &[usize], done: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        let mut around = self.loops[component[0]].clone();
        for &item in component {
            around.truncate(Apart::common(&around, &self.loops[item]));
        }
        let open: Vec<usize> = (0..around.len())
            .filter(|&depth| !done.contains(&around[depth]))
            .collect();
        if open.is_empty() {
            return Some((component.to_vec(), edges.to_vec()));
        }
        for factors in factors(open.len()) {
            let weight = |edge: usize| {
                let by = &self.edges[edge].by;
                let terms = open.iter().zip(&factors);
                terms
                    .map(|(&depth, factor)| factor * by.get(depth).copied().unwrap_or(0))
                    .sum::<i64>()
            };
            let Some(tight) = self.tight(component, edges, weight) else {
                continue;
            };
            let mut done = done.to_vec();
            let counted: Vec<usize> = (0..open.len()).filter(|&place| factors[place] != 0).collect();
            match counted[..] {
                [only] => done.push(around[open[only]]),
                _ if tight.len() == edges.len() => continue,
                _ => {}
            }
            return self.cycle(&tight, &done);
        }
        Some((component.to_vec(), edges.to_vec()))
    }

    /// The edges that a walk of weight 0 from an item back to itself can use; `None` if some walk back to an item has a
    /// negative weight.
    fn tight(&self, component: &[usize], edges: &[usize], weight: impl Fn(usize) -> i64) -> Option<Vec<usize>> {
        let mut potential = vec![0_i64; self.loops.len()];
        for _ in 0..=component.len() {
            let mut changed = false;
            for &edge in edges {
                let Apart { from, to, .. } = self.edges[edge];
                let reached = potential[from] + weight(edge);
                if reached < potential[to] {
                    potential[to] = reached;
                    changed = true;
                }
            }
            if !changed {
                let is_tight = |&edge: &usize| {
                    let Apart { from, to, .. } = self.edges[edge];
                    potential[from] + weight(edge) == potential[to]
                };
                return Some(edges.iter().copied().filter(is_tight).collect());
            }
        }
        None
    }
}

/// Lists of factors, one factor for each loop. Those that count one loop only come first.
fn factors(loops: usize) -> impl Iterator<Item = Vec<i64>> {
    let single = move |place: usize, sign: i64| {
        let factor = |other: usize| if other == place { sign } else { 0 };
        (0..loops).map(factor).collect()
    };
    let singles = (0..loops)
        .rev()
        .flat_map(move |place| [single(place, 1), single(place, -1)]);
    let choices = 2 * MAX_FACTOR + 1;
    let count = u32::try_from(loops).ok().and_then(|loops| choices.checked_pow(loops));
    let sums = (0..count.unwrap_or(0).min(MAX_SUMS)).map(move |code| {
        let next = |rest: &mut i64, _| Some(std::mem::replace(rest, *rest / choices) % choices - MAX_FACTOR);
        (0..loops).scan(code, next).collect()
    });
    singles.chain(sums.filter(|sum: &Vec<i64>| sum.iter().any(|&factor| factor != 0)))
}

/// The mistake of a cycle of these items with these edges.
fn cyclic(draft: &Draft, component: &[usize], links: &[Link]) -> Diagnostic {
    let name = |node: usize| format!("`{}`", draft.nodes[node].name);
    let in_draft = component.iter().copied().filter(|&item| item < draft.nodes.len());
    let nodes: BTreeSet<usize> = in_draft.collect();
    let names = and_list(nodes.iter().map(|&node| name(node)).collect());
    let message = format!("iterations of {names} run after each other in a cycle");
    let told = links.iter().map(|link| match *link {
        Link::Edge(index) => {
            let edge = draft.edges[index];
            let auto = if draft.is_inferred(index) {
                " (`after auto`)"
            } else {
                ""
            };
            format!("{} runs after {}{auto}", name(edge.to), name(edge.from))
        }
        Link::Shift(index) => {
            let shift = &draft.shifts[index];
            let (later, earlier) = (name(shift.to), spelled(draft, shift));
            format!("{later} runs after `{earlier}`{}", line_of_shift(draft, index))
        }
    });
    Diagnostic::new(Code::Cycle, Subject::Node(nodes.first().copied().unwrap_or(0)), message)
        .note(told.collect::<Vec<_>>().join(", "))
        .note("in some iteration each of them waits for another one, so none could ever start")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use crate::test_draft::draft_of;

    /// Nodes in `each i { each j { .. } }`, and edges between iterations.
    fn draft(nodes: &str, shifts: &[(usize, usize, [i64; 2])]) -> Draft {
        let mut draft = draft_of(&format!("each i {{ each j {{ {nodes} }} }}"));
        for &(from, to, steps) in shifts {
            draft.shift(from, to, steps);
        }
        draft
    }

    fn is_cyclic(draft: &Draft) -> bool {
        check(draft).errors.iter().any(|error| error.code == Code::Cycle)
    }

    #[test]
    fn walks_that_only_go_on_are_no_cycles() {
        let one = |shifts: &[(usize, usize, [i64; 2])]| is_cyclic(&draft("join a;", shifts));
        assert!(!one(&[(0, 0, [-1, 0]), (0, 0, [0, -1])]));
        assert!(!one(&[(0, 0, [-1, 1]), (0, 0, [0, -1])]), "skewed");
        assert!(
            !one(&[(0, 0, [1, -1]), (0, 0, [0, -1]), (0, 0, [-1, -1])]),
            "the inner loop is time"
        );
        assert!(!one(&[(0, 0, [-1, 2]), (0, 0, [2, -1])].map(|(a, b, [i, j])| (
            a,
            b,
            [i - 1, j - 1]
        ))));
        assert!(one(&[(0, 0, [-1, 0]), (0, 0, [1, 0])]));
        assert!(one(&[(0, 0, [-2, 0]), (0, 0, [3, 0])]));
        assert!(one(&[(0, 0, [-1, 1]), (0, 0, [1, 0]), (0, 0, [0, -1])]));
        assert!(one(&[(0, 0, [1, -1]), (0, 0, [-1, 1])]), "only in a sum of both loops");
    }

    #[test]
    fn factors_of_one_loop_come_first_and_each_sum_once_more() {
        let all = |loops: usize| factors(loops).collect::<Vec<_>>();
        assert_eq!(all(0), [[0; 0]; 0]);
        assert_eq!(all(1), [[1], [-1], [-2], [-1], [1], [2]]);
        let of_two = all(2);
        assert_eq!(of_two[..4], [[0, 1], [0, -1], [1, 0], [-1, 0]]);
        let sums: BTreeSet<&Vec<i64>> = of_two[4..].iter().collect();
        let range = -MAX_FACTOR..=MAX_FACTOR;
        let expected = range.clone().flat_map(|a| range.clone().map(move |b| vec![a, b]));
        let expected: Vec<Vec<i64>> = expected.filter(|sum| sum != &[0, 0]).collect();
        assert_eq!(sums.into_iter().cloned().collect::<Vec<_>>(), expected);
        assert_eq!(all(5).len(), 10 + 625, "no more sums than `MAX_SUMS`");
    }

    #[test]
    fn nodes_of_a_cycle_through_a_for_are_named_alone_and_race_with_nothing() {
        let draft = draft_of("device data; for i { each j { kernel a: data= after a(1, 0); } } kernel b: data=;");
        let errors = check(&draft).errors;
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].message, "iterations of `a` run after each other in a cycle");
    }

    #[test]
    fn walks_over_several_nodes_are_summed() {
        let two = |shifts: &[(usize, usize, [i64; 2])]| is_cyclic(&draft("join a; then join b;", shifts));
        assert!(!two(&[(1, 0, [-1, 0])]));
        assert!(!two(&[(0, 1, [1, 0]), (1, 0, [-2, 0])]));
        assert!(two(&[(0, 1, [1, 0]), (1, 0, [-1, 0])]));
    }

    #[test]
    fn a_for_is_run_as_one() {
        let mut draft = draft_of("each i { for j { join a; join b after m(-1); } join m; }");
        assert!(!is_cyclic(&draft));
        draft.shift(0, 2, [1]);
        assert!(is_cyclic(&draft), "`m` runs between iterations of the `for`");
    }
}
