//! Edges between iterations: duplicates, and cycles of iterations.

use super::advice::{line_of_shift, spelled};
use super::cut::{Cycle, Link};
use crate::order::petgraph;
use crate::{Code, Diagnostic, Draft, Nest, Shift, Subject};
use petgraph::algo::tarjan_scc;

/// The greatest factor by which one loop counts in a sum of several loops' steps.
const MAX_FACTOR: i64 = 2;

/// Reports edges between iterations that are written twice, and cycles of iterations.
pub(super) fn between_iterations(
    draft: &Draft,
    order: &Nest,
    errors: &mut Vec<Diagnostic>,
    cycles: &mut Vec<Cycle>,
    broken: &mut [bool],
) {
    let mut seen: Vec<&Shift> = Vec::new();
    for (index, shift) in draft.shifts.iter().enumerate() {
        let is_same = |other: &&Shift| (other.from, other.to, &other.steps) == (shift.from, shift.to, &shift.steps);
        if seen.iter().any(is_same) {
            let (to, from) = (&draft.nodes[shift.to].name, spelled(draft, shift));
            let message = format!("node `{to}` names `{from}` twice in its `after` list");
            let diagnostic = Diagnostic::new(Code::DuplicateDependency, Subject::Shift(index), message);
            errors.push(diagnostic.help(format!("remove the second `{from}`")));
        }
        seen.push(shift);
    }
    for body in 0..draft.bodies.len() {
        let inside = |shift: &Shift| draft.nodes[shift.from].body == body && draft.nodes[shift.to].body == body;
        if draft.shifts.iter().any(inside) {
            let graph = Reduced::new(draft, order, body);
            if let Some((component, edges)) = graph.any_cycle() {
                for &item in component.iter().filter(|&&item| item < draft.nodes.len()) {
                    broken[item] = true;
                }
                let mut links: Vec<Link> = edges.iter().filter_map(|&edge| graph.edges[edge].link).collect();
                let diagnostic = cyclic(draft, &component, &links);
                links.reverse(); // edges between iterations first
                cycles.push(Cycle::report(diagnostic, links, errors));
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
    /// The number of items.
    items: usize,
    /// The loops around each item.
    loops: Vec<Vec<usize>>,
    edges: Vec<Apart>,
}

struct Apart {
    from: usize,
    to: usize,
    /// The edge of the draft; `None` for the order of a `for`'s iterations.
    link: Option<Link>,
    /// For each loop around both, the number of `to` minus that of `from`.
    by: Vec<i64>,
}

impl Reduced {
    fn new(draft: &Draft, order: &Nest, body: usize) -> Self {
        let nodes = draft.nodes.len();
        let inside = |node: usize| draft.nodes[node].body == body;
        let of_node = |node| {
            if inside(node) {
                draft.loops_in_body(node)
            } else {
                Vec::new()
            }
        };
        let mut loops: Vec<Vec<usize>> = (0..nodes).map(of_node).collect();
        let common = |loops: &[Vec<usize>], a: usize, b: usize| {
            loops[a].iter().zip(&loops[b]).take_while(|(a, b)| a == b).count()
        };
        let mut edges = Vec::new();
        for (index, edge) in draft
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| inside(edge.from) && order.before(edge.from, edge.to))
        {
            let by = vec![0; common(&loops, edge.from, edge.to)];
            edges.push(Apart {
                from: edge.from,
                to: edge.to,
                link: Some(Link::Edge(index)),
                by,
            });
        }
        for (index, shift) in draft
            .shifts
            .iter()
            .enumerate()
            .filter(|(_, shift)| inside(shift.from) && inside(shift.to))
        {
            let common = common(&loops, shift.from, shift.to).min(shift.steps.len());
            let steps = &shift.steps[shift.steps.len() - common..];
            let by = steps.iter().map(|step| -step).collect();
            edges.push(Apart {
                from: shift.from,
                to: shift.to,
                link: Some(Link::Shift(index)),
                by,
            });
        }
        for (number, for_loop) in draft.loops.iter().enumerate() {
            let mut around = Vec::new();
            for node in (0..nodes).filter(|_| !for_loop.parallel) {
                if let Some(depth) = loops[node].iter().position(|&other| other == number) {
                    around = loops[node][..=depth].to_vec();
                    let mut by = vec![0; depth + 1];
                    edges.push(Apart {
                        from: node,
                        to: nodes + number,
                        link: None,
                        by: by.clone(),
                    });
                    by[depth] = 1;
                    edges.push(Apart {
                        from: nodes + number,
                        to: node,
                        link: None,
                        by,
                    });
                }
            }
            loops.push(around);
        }
        Self {
            items: loops.len(),
            loops,
            edges,
        }
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
        let plain: Vec<crate::Edge> = edges
            .iter()
            .map(|&edge| crate::Edge {
                from: self.edges[edge].from,
                to: self.edges[edge].to,
            })
            .collect();
        for component in tarjan_scc(&petgraph(self.items, &plain)) {
            let component: Vec<usize> = component.into_iter().map(|item| item.index()).collect();
            let inside = |edge: &&usize| {
                let Apart { from, to, .. } = self.edges[**edge];
                component.contains(&from) && component.contains(&to)
            };
            let edges: Vec<usize> = edges.iter().filter(inside).copied().collect();
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
            let common = around.iter().zip(&self.loops[item]).take_while(|(a, b)| a == b).count();
            around.truncate(common);
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
            let single = factors.iter().filter(|&&factor| factor != 0).count() == 1;
            let mut done = done.to_vec();
            if single {
                done.extend(
                    factors
                        .iter()
                        .position(|&factor| factor != 0)
                        .map(|place| around[open[place]]),
                );
            } else if tight.len() == edges.len() {
                continue;
            }
            return self.cycle(&tight, &done);
        }
        Some((component.to_vec(), edges.to_vec()))
    }

    /// The edges that a walk of weight 0 from an item back to itself can use; `None` if some walk back to an item has a
    /// negative weight.
    fn tight(&self, component: &[usize], edges: &[usize], weight: impl Fn(usize) -> i64) -> Option<Vec<usize>> {
        let mut potential = vec![0_i64; self.items];
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
fn factors(loops: usize) -> Vec<Vec<i64>> {
    let choices = 2 * MAX_FACTOR + 1;
    let count = u32::try_from(loops)
        .ok()
        .and_then(|loops| choices.checked_pow(loops))
        .unwrap_or(0)
        .min(625);
    let mut all: Vec<Vec<i64>> = (0..count)
        .map(|code| {
            (0..loops)
                .scan(code, |rest, _| {
                    Some(std::mem::replace(rest, *rest / choices) % choices - MAX_FACTOR)
                })
                .collect()
        })
        .collect();
    for place in 0..loops {
        for sign in [-1, 1] {
            let mut single = vec![0; loops];
            single[place] = sign;
            all.retain(|other| *other != single);
            all.insert(0, single);
        }
    }
    all.retain(|factors| factors.iter().any(|&factor| factor != 0));
    all
}

/// The mistake of a cycle of these items with these edges.
fn cyclic(draft: &Draft, component: &[usize], links: &[Link]) -> Diagnostic {
    let name = |node: usize| format!("`{}`", draft.nodes[node].name);
    let mut nodes: Vec<usize> = component
        .iter()
        .copied()
        .filter(|&item| item < draft.nodes.len())
        .collect();
    nodes.sort_unstable();
    let names: Vec<String> = nodes.iter().map(|&node| name(node)).collect();
    let message = match &names[..] {
        [only] => format!("iterations of {only} run after each other in a cycle"),
        [others @ .., last] => format!(
            "iterations of {} and {last} run after each other in a cycle",
            others.join(", ")
        ),
        [] => "iterations run after each other in a cycle".to_owned(),
    };
    let told = links.iter().map(|link| match *link {
        Link::Edge(index) => {
            let edge = draft.edges[index];
            format!("{} runs after {}", name(edge.to), name(edge.from))
        }
        Link::Shift(index) => {
            let shift = &draft.shifts[index];
            let earlier = spelled(draft, shift);
            format!(
                "{} runs after `{earlier}`{}",
                name(shift.to),
                line_of_shift(draft, index)
            )
        }
    });
    let told: Vec<String> = told.collect();
    Diagnostic::new(Code::Cycle, Subject::Node(nodes.first().copied().unwrap_or(0)), message)
        .note(told.join(", "))
        .note("in some iteration each of them waits for another one, so none could ever start")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeKind, check};

    /// Nodes in `each i { each j { .. } }`, and edges between iterations.
    fn draft(nodes: &[&'static str], edges: &[(usize, usize)], shifts: &[(usize, usize, [i64; 2])]) -> Draft {
        let mut draft = Draft::new("Test");
        let outer = draft.each("i", None);
        let inner = draft.each("j", Some(outer));
        for name in nodes {
            let node = draft.node(*name, NodeKind::Join);
            draft.nodes[node].in_loop = Some(inner);
        }
        for &(from, to) in edges {
            draft.edge(from, to);
        }
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
        let one = |shifts: &[(usize, usize, [i64; 2])]| is_cyclic(&draft(&["a"], &[], shifts));
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
    }

    #[test]
    fn walks_over_several_nodes_are_summed() {
        let two = |shifts: &[(usize, usize, [i64; 2])]| is_cyclic(&draft(&["a", "b"], &[(0, 1)], shifts));
        assert!(!two(&[(1, 0, [-1, 0])]));
        assert!(!two(&[(0, 1, [1, 0]), (1, 0, [-2, 0])]));
        assert!(two(&[(0, 1, [1, 0]), (1, 0, [-1, 0])]));
        let error = &check(&draft(&["a", "b"], &[], &[(0, 1, [1, 0]), (1, 0, [-1, 0])])).errors[0];
        assert_eq!(
            error.to_string(),
            "iterations of `a` and `b` run after each other in a cycle [cycle]\n\
             note: `b` runs after `a(i + 1, j)`, `a` runs after `b(i - 1, j)`\n\
             note: in some iteration each of them waits for another one, so none could ever start\n\
             help: remove one of these edges, for example: remove `b(i - 1, j)` from the `after` list of `a`"
        );
    }

    #[test]
    fn a_for_is_run_as_one() {
        let mut draft = Draft::new("Test");
        let outer = draft.each("i", None);
        let inner = draft.for_loop("j", Some(outer));
        for (name, for_loop) in [("a", inner), ("b", inner), ("m", outer)] {
            let node = draft.node(name, NodeKind::Join);
            draft.nodes[node].in_loop = Some(for_loop);
        }
        draft.shift(2, 1, [-1]);
        assert!(!is_cyclic(&draft));
        draft.shift(0, 2, [1]);
        assert!(is_cyclic(&draft), "`m` runs between iterations of the `for`");
    }

    #[test]
    fn an_edge_is_written_once() {
        let draft = draft(&["a"], &[], &[(0, 0, [-1, 0]), (0, 0, [-1, 0])]);
        let errors = check(&draft).errors;
        assert_eq!(errors.len(), 1);
        assert_eq!(
            (errors[0].code, errors[0].subject),
            (Code::DuplicateDependency, Subject::Shift(1))
        );
        assert_eq!(
            errors[0].message,
            "node `a` names `a(i - 1, j)` twice in its `after` list"
        );
    }
}
