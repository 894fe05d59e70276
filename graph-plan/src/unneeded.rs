//! The edges of a plan that no access to memory needs.

use crate::{Edge, Family, Mode, NodeKind, Order, Plan, PlanNode};
use std::collections::BTreeMap;
use std::fmt;

/// The edges of a graph that no conflict of its nodes needs: [`Plan::unneeded_edges`] returns them. Shown as text, it
/// has a line for each edge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnneededEdges {
    /// The edges, as nodes `(from, to)` of the plan, in the order of `to`.
    pub edges: Vec<(usize, usize)>,
    /// For each node, the nodes that it has to run directly after: all that conflicts need, reduced. These may be
    /// edges that the plan has by way of unneeded ones.
    pub after: Vec<Vec<usize>>,
    /// The length in nodes of the longest path of the graph itself, as it is.
    pub levels: usize,
    /// The same, if nodes run after those of `after` alone.
    pub needed_levels: usize,
    names: Vec<String>,
}

impl UnneededEdges {
    /// Whether every edge is needed.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }
}

impl fmt::Display for UnneededEdges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "every edge is needed");
        }
        for &(from, to) in &self.edges {
            writeln!(f, "{} -> {}", self.names[from], self.names[to])?;
        }
        let count = self.edges.len();
        let edges = if count == 1 { "this edge is" } else { "these edges are" };
        let (before, after) = (self.levels, self.needed_levels);
        write!(
            f,
            "{edges} not needed: the longest path has {before} nodes, and {after} without them"
        )
    }
}

impl Plan {
    /// The edges that no two accesses to the same memory need, as when independent work was captured on one stream.
    ///
    /// Two nodes conflict if both touch one resource and one of them writes it, unless both update it by atomic
    /// operations alone. Edges are needed as far as they order nodes that conflict. Parts of memory are not told apart,
    /// nor are [views](Plan::views) of one memory that overlap, and a node is taken to conflict with all others if its
    /// effects may reach further than its accesses say: host calls, captured and raw work, events, and collectives. So
    /// no edge that is found here orders any data; an edge that is not found may be unneeded, too.
    ///
    /// ```
    /// use graph_plan::{Draft, Memory, Mode, NodeKind, Plan, Region, check};
    ///
    /// // Two chains of two kernels, captured on one stream.
    /// let mut draft = Draft::new("Captured");
    /// let memory = ["x", "y"].map(|name| draft.resource(name, Memory::Device));
    /// for (index, chain) in [0, 0, 1, 1].into_iter().enumerate() {
    ///     let node = draft.node(format!("k{index}"), NodeKind::Kernel);
    ///     draft.access(node, memory[chain], Region::Whole, Mode::ReadWrite);
    ///     if index > 0 {
    ///         draft.edge(index - 1, index);
    ///     }
    /// }
    /// let unneeded = Plan::of(&draft, &check(&draft), |_| 64).unneeded_edges();
    /// assert_eq!(unneeded.edges, [(1, 2)]);
    /// assert_eq!((unneeded.levels, unneeded.needed_levels), (4, 2));
    /// ```
    pub fn unneeded_edges(&self) -> UnneededEdges {
        let count = self.nodes.len();
        let nodes = self.nodes.iter().enumerate();
        let edges: Vec<Edge> = nodes
            .flat_map(|(to, node)| node.after.iter().map(move |&from| Edge { from, to }))
            .collect();
        // A plan is checked, so its edges form no cycle.
        let Some(order) = Order::new(count, &edges) else {
            return self.all_needed();
        };
        let needed = self.needed(&order);
        let Some(needed_order) = Order::new(count, &needed) else {
            return self.all_needed();
        };
        let mut after = vec![Vec::new(); count];
        let mut redundant = needed_order.redundant().iter().peekable();
        for (index, edge) in needed.iter().enumerate() {
            if redundant.next_if(|&&first| first == index).is_none() {
                after[edge.to].push(edge.from);
            }
        }
        let joined = self.around_joins(&edges);
        let is_needed = |edge: &Edge| {
            let (before, behind) = (&joined.0[edge.from], &joined.1[edge.to]);
            before
                .iter()
                .any(|&from| behind.iter().any(|&to| needed_order.before(from, to)))
        };
        let unneeded = edges.iter().filter(|edge| !is_needed(edge));
        let outermost = (0..count).filter(|&node| self.nodes[node].body == 0);
        let is_node = |node: &usize| self.nodes[*node].kind != NodeKind::Join;
        UnneededEdges {
            edges: unneeded.map(|edge| (edge.from, edge.to)).collect(),
            after,
            levels: self.levels(),
            needed_levels: outermost
                .filter(is_node)
                .map(|node| needed_order.level(node) + 1)
                .max()
                .unwrap_or(0),
            names: self.names(),
        }
    }

    fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.to_string()).collect()
    }

    fn all_needed(&self) -> UnneededEdges {
        UnneededEdges {
            edges: Vec::new(),
            after: self.nodes.iter().map(|node| node.after.to_vec()).collect(),
            levels: self.levels(),
            needed_levels: self.levels(),
            names: self.names(),
        }
    }

    /// The pairs of ordered nodes that conflict, without those that two others imply.
    fn needed(&self, order: &Order) -> Vec<Edge> {
        let reach = self.reach();
        let mut needed = Vec::new();
        for body in 0..self.bodies.len() {
            let mut members: Vec<usize> = self.members(body).collect();
            members.sort_by_key(|&node| self.nodes[node].level);
            // The nodes so far that touch each resource, and whether they write it.
            let mut touched: BTreeMap<usize, Vec<(usize, Touch)>> = BTreeMap::new();
            let mut unknown: Vec<usize> = Vec::new();
            for (index, &to) in members.iter().enumerate() {
                let is_join = |node: usize| self.nodes[node].kind == NodeKind::Join;
                if reach[to].is_unknown {
                    let others = members[..index].iter().rev().filter(|&&from| !is_join(from));
                    add_nearest(
                        order,
                        to,
                        others.map(|&from| (from, reach[from].is_unknown)),
                        &mut needed,
                    );
                } else if !is_join(to) {
                    add_nearest(order, to, unknown.iter().rev().map(|&from| (from, true)), &mut needed);
                }
                for (&resource, &touch) in &reach[to].touches {
                    let before = touched.entry(resource).or_default();
                    let others = before.iter().rev().filter(|(_, earlier)| touch.conflicts(*earlier));
                    let others = others.map(|&(from, earlier)| (from, earlier == Touch::Write));
                    add_nearest(order, to, others, &mut needed);
                    before.push((to, touch));
                }
                if reach[to].is_unknown {
                    unknown.push(to);
                }
            }
        }
        needed
    }

    /// The memory that each node touches, in its bodies, too.
    fn reach(&self) -> Vec<Reach> {
        let own = |node: &PlanNode| Reach {
            is_unknown: is_unknown(node.kind),
            ..Reach::default()
        };
        let mut reach: Vec<Reach> = self.nodes.iter().map(own).collect();
        // The nodes of a body come after the node whose body it is.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            for access in node.accesses.iter() {
                let touch = match access.mode {
                    Mode::Read => Touch::Read,
                    Mode::Atomic => Touch::Atomic,
                    Mode::Write | Mode::ReadWrite | Mode::Mapped => Touch::Write,
                };
                reach[index].add(self.memory_of(access.resource), touch);
            }
            if let Some(owner) = self.bodies[node.body].node {
                let inner = reach[index].clone();
                reach[owner].is_unknown |= inner.is_unknown;
                inner
                    .touches
                    .into_iter()
                    .for_each(|(resource, touch)| reach[owner].add(resource, touch));
            }
        }
        reach
    }

    /// For each node as the start of an edge, the nodes whose order the edge hands on: those before it, if it is a
    /// join. For each node as the end of an edge, those after it.
    fn around_joins(&self, edges: &[Edge]) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&node| self.nodes[node].level);
        let is_join = |node: usize| self.nodes[node].kind == NodeKind::Join;
        let own = |node: usize| if is_join(node) { Vec::new() } else { vec![node] };
        let mut before: Vec<Vec<usize>> = (0..self.nodes.len()).map(own).collect();
        let mut behind = before.clone();
        let mut next = vec![Vec::new(); self.nodes.len()];
        edges.iter().for_each(|edge| next[edge.from].push(edge.to));
        let merged = |lists: &[Vec<usize>], nodes: &[usize]| {
            let mut merged: Vec<usize> = nodes.iter().flat_map(|&node| &lists[node]).copied().collect();
            merged.sort_unstable();
            merged.dedup();
            merged
        };
        for &join in order.iter().filter(|&&node| is_join(node)) {
            before[join] = merged(&before, &self.nodes[join].after);
        }
        for &join in order.iter().rev().filter(|&&node| is_join(node)) {
            behind[join] = merged(&behind, &next[join]);
        }
        (before, behind)
    }
}

/// Adds edges from the nodes that come before `to`, the latest of them first. Nodes that come with `true` conflict with
/// all others of the list, so those that come before them are implied.
fn add_nearest(order: &Order, to: usize, others: impl Iterator<Item = (usize, bool)>, needed: &mut Vec<Edge>) {
    let mut found: Vec<usize> = Vec::new();
    for (from, meets_all) in others {
        if order.before(from, to) && !found.iter().any(|&later| order.before(from, later)) {
            needed.push(Edge { from, to });
            if meets_all {
                found.push(from);
            }
        }
    }
}

/// The way in which a node touches a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Read,
    Atomic,
    Write,
}

impl Touch {
    fn conflicts(self, other: Touch) -> bool {
        !matches!(
            (self, other),
            (Touch::Read, Touch::Read) | (Touch::Atomic, Touch::Atomic)
        )
    }
}

/// The effects of a node.
#[derive(Clone, Default)]
struct Reach {
    touches: BTreeMap<usize, Touch>,
    /// Whether it may have other effects, too.
    is_unknown: bool,
}

impl Reach {
    fn add(&mut self, resource: usize, touch: Touch) {
        let known = self.touches.entry(resource).or_insert(touch);
        if *known != touch {
            *known = Touch::Write;
        }
    }
}

/// Whether the effects of such a node reach further than its accesses say.
fn is_unknown(kind: NodeKind) -> bool {
    match kind.family() {
        Family::Kernel | Family::Copy | Family::Join | Family::Child | Family::Conditional => false,
        Family::Call | Family::Library | Family::Event | Family::Collective => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_draft::draft_of;
    use crate::{Draft, Memory, Region, View, Views, check};
    use proptest::prelude::*;

    /// A plan of nodes that touch resources, with these edges.
    fn plan(nodes: &[(NodeKind, &[(usize, Mode)])], resources: usize, edges: &[(usize, usize)]) -> Plan {
        let mut draft = Draft::new("Example");
        for index in 0..resources {
            draft.resource(format!("r{index}"), Memory::Device);
        }
        for (index, (kind, accesses)) in nodes.iter().enumerate() {
            let node = draft.node(format!("n{index}"), *kind);
            for &(resource, mode) in accesses.iter() {
                draft.access(node, resource, Region::Whole, mode);
            }
        }
        for &(from, to) in edges {
            draft.edge(from, to);
        }
        Plan::of(&draft, &check(&draft), |_| 64)
    }

    /// Edges between nodes that touch one memory under two names are needed.
    #[test]
    fn views_of_one_memory_need_their_order() {
        let writes = |resource| (NodeKind::Kernel, [(resource, Mode::ReadWrite)]);
        let nodes = [writes(0), writes(1), writes(2)];
        let nodes: Vec<_> = nodes.iter().map(|(kind, accesses)| (*kind, &accesses[..])).collect();
        let plan = plan(&nodes, 3, &[(0, 1), (1, 2)]);
        assert_eq!(plan.unneeded_edges().edges, [(0, 1), (1, 2)]);
        let view = |resource, start| View {
            resource,
            start,
            bytes: 64,
        };
        let viewed = plan.clone().with_views(&Views::new([vec![view(0, 0), view(1, 32)]]));
        assert_eq!(viewed.unneeded_edges().edges, [(1, 2)]);
        let viewed = plan.with_views(&Views::new([vec![view(0, 0), view(2, 32)]]));
        let unneeded = viewed.unneeded_edges();
        assert_eq!(
            unneeded.edges,
            [(0, 1), (1, 2)],
            "a node between them needs none of both"
        );
        assert_eq!(unneeded.after, [vec![], vec![], vec![0]]);
    }

    #[test]
    fn edges_between_chains_of_one_stream_are_found() {
        let accesses: Vec<[(usize, Mode); 1]> = (0..128).map(|index| [(index / 16, Mode::ReadWrite)]).collect();
        let nodes: Vec<_> = accesses
            .iter()
            .map(|accesses| (NodeKind::Kernel, &accesses[..]))
            .collect();
        let edges: Vec<_> = (1..128).map(|to| (to - 1, to)).collect();
        let unneeded = plan(&nodes, 8, &edges).unneeded_edges();
        let between: Vec<_> = (1..8).map(|chain| (16 * chain - 1, 16 * chain)).collect();
        assert_eq!(unneeded.edges, between);
        assert_eq!((unneeded.levels, unneeded.needed_levels), (128, 16));
        assert_eq!((&unneeded.after[16], &unneeded.after[17]), (&vec![], &vec![16]));
    }

    fn unneeded(text: &str) -> UnneededEdges {
        let draft = draft_of(text);
        Plan::of(&draft, &check(&draft), |_| 64).unneeded_edges()
    }

    #[test]
    fn what_edges_hand_on_replaces_them() {
        let unneeded = unneeded("device x, y; memset a: x=; then memset b: y=; then memset c: x=;");
        assert_eq!(unneeded.edges, [(0, 1), (1, 2)]);
        assert_eq!(unneeded.after, [vec![], vec![], vec![0]]);
        let text = "a -> b\nb -> c\nthese edges are not needed: the longest path has 3 nodes, and 2 without them";
        assert_eq!(unneeded.to_string(), text);
    }

    #[test]
    fn joins_hand_order_on_and_host_calls_need_it() {
        let between = |node: &str| unneeded(&format!("device x; kernel a: x=; then {node} b; then kernel c: x=;"));
        assert!(between("join").is_empty() && between("call").is_empty());
        assert_eq!(unneeded("device x; kernel a: x=; then join b;").edges, [(0, 1)]);
    }

    #[test]
    fn reads_and_atomic_updates_need_no_order() {
        for (one, other, is_needed) in [
            ("x", "x", false),
            ("x+", "x+", false),
            ("x+", "x", true),
            ("x", "x=", true),
            ("x!", "x!", true),
        ] {
            let found = unneeded(&format!("device x; kernel a: {one}; then kernel b: {other};"));
            assert_eq!(found.is_empty(), is_needed, "{one} {other}");
        }
    }

    proptest! {
        /// An oracle with all pairs: what is needed orders all conflicts, and no edge that is found orders one.
        #[test]
        fn all_conflicts_stay_ordered(
            touches in prop::collection::vec((0_usize..4, 0_usize..4, 0_usize..8), 2..14),
            pairs in prop::collection::vec((0_usize..14, 1_usize..5), 0..24),
        ) {
            let modes = [Mode::Read, Mode::Write, Mode::ReadWrite, Mode::Atomic];
            let accesses: Vec<_> = touches.iter().map(|&(memory, mode, _)| [(memory, modes[mode])]).collect();
            let kinds = touches.iter().map(|&(_, _, kind)| match kind {
                0 => NodeKind::Call,
                1 => NodeKind::Join,
                _ => NodeKind::Kernel,
            });
            let count = touches.len();
            let nodes = kinds.zip(&accesses).map(|(kind, accesses)| match kind {
                NodeKind::Join => (kind, &[][..]),
                _ => (kind, &accesses[..]),
            });
            let nodes: Vec<_> = nodes.collect();
            let edges: Vec<_> = pairs.into_iter().map(|(from, step)| (from, from + step)).filter(|edge| edge.1 < count).collect();
            let plan = plan(&nodes, 4, &edges);
            let unneeded = plan.unneeded_edges();
            let ordered = |after: &dyn Fn(usize) -> Vec<usize>| {
                let mut before = vec![vec![false; count]; count];
                for to in 0..count {
                    for from in after(to) {
                        before[to][from] = true;
                        let earlier = before[from].clone();
                        before[to].iter_mut().zip(earlier).for_each(|(known, earlier)| *known |= earlier);
                    }
                }
                before
            };
            let before = ordered(&|to| plan.nodes[to].after.to_vec());
            let needed = ordered(&|to| unneeded.after[to].clone());
            let kind = |node: usize| nodes[node].0;
            let conflict = |one: usize, other: usize| {
                if kind(one) == NodeKind::Join || kind(other) == NodeKind::Join {
                    return false;
                }
                if kind(one) == NodeKind::Call || kind(other) == NodeKind::Call {
                    return true;
                }
                let (one, other) = (accesses[one][0], accesses[other][0]);
                let both = |mode: Mode| one.1 == mode && other.1 == mode;
                one.0 == other.0 && !both(Mode::Read) && !both(Mode::Atomic)
            };
            for to in 0..count {
                for from in 0..to {
                    prop_assert!(!(before[to][from] && conflict(from, to)) || needed[to][from], "{from} {to}");
                    prop_assert!(!needed[to][from] || before[to][from], "{from} {to}");
                }
                for &from in plan.nodes[to].after.iter() {
                    let found = unneeded.edges.contains(&(from, to));
                    let joins = kind(from) == NodeKind::Join || kind(to) == NodeKind::Join;
                    prop_assert!(joins || found != needed[to][from], "{from} {to}");
                }
            }
        }
    }
}
