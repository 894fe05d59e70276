//! Edges between iterations that a program adds call by call.

use super::Loops;
use crate::builder::GraphBuilder;
use crate::error::mistakes;
use crate::graph::node::NodeId;
use std::collections::HashMap;

/// An edge from a node that may not have been added yet.
pub(super) struct EdgeFromName {
    /// The name of the node that runs first, with the numbers of its iteration.
    from: String,
    /// The node that runs after it.
    to: usize,
    programmatic: bool,
}

impl Loops {
    /// The name of a node in another iteration, whose numbers are larger by `steps` than those of the open loops, from
    /// the outermost. `None` if there can be no such iteration.
    fn name_in_iteration(&self, name: &str, steps: &[isize]) -> Option<String> {
        let mut name = name.to_owned();
        for (open, &step) in self.open.iter().zip(steps) {
            name.push_str(&format!("[{}]", open.value.checked_add_signed(step)?));
        }
        Some(name)
    }
}

impl GraphBuilder {
    /// Makes `node` run after the node that `before` is in another iteration of the loops around it.
    ///
    /// `before` is a node of the current iteration. `steps` has a number for each loop around it, from the outermost.
    /// That number is added to the number of the current iteration: `&[-1]` means the node of iteration `i - 1` with
    /// the name of `before`. If there is no such iteration, or if it adds no node of that name, nothing is ordered. The
    /// node may be added later than this call. Loops around a [`child`](GraphBuilder::child) do not count for nodes of
    /// the child.
    ///
    /// `build` fails with [`unknown-node`](graph_plan::Code::UnknownNode) if `before` is not a node of the current
    /// iteration of that many loops, or if a node is another graph's.
    pub fn after_iteration(&mut self, node: NodeId, before: NodeId, steps: &[isize]) {
        self.add_after_iteration(node, before, steps, false);
    }

    /// As [`after_iteration`](Self::after_iteration), by a programmatic edge between two kernels: see
    /// [`after_programmatic`](Self::after_programmatic).
    pub fn after_programmatic_iteration(&mut self, node: NodeId, before: NodeId, steps: &[isize]) {
        self.add_after_iteration(node, before, steps, true);
    }

    fn add_after_iteration(&mut self, node: NodeId, before: NodeId, steps: &[isize], programmatic: bool) {
        let Some((before, node)) = self.ends_of_edge(before, node) else {
            return;
        };
        let is_unknown = before >= self.draft.nodes.len(); // which `build` reports
        if is_unknown || steps.is_empty() && self.draft.name_and_numbers(before).1.is_empty() {
            self.add_edge_between(before, node, programmatic);
            return;
        }
        let current = self.position.loops.as_ref().and_then(|loops| {
            let (name, numbers) = self.draft.name_and_numbers(before);
            (numbers == loops.numbers(steps.len())?).then_some((loops, name))
        });
        let Some((loops, name)) = current else {
            let mistake = mistakes::other_iteration(&self.draft, node, before, steps.len());
            return self.findings.mistake(mistake);
        };
        if let Some(from) = loops.name_in_iteration(name, steps) {
            let edge = EdgeFromName {
                from,
                to: node,
                programmatic,
            };
            self.position.loops_mut().between.push(edge);
        }
    }

    /// Adds the edges of [`GraphBuilder::after_iteration`], once all nodes are known.
    pub(in crate::builder) fn order_between_iterations(&mut self) {
        let Some(loops) = &mut self.position.loops else { return };
        let between = std::mem::take(&mut loops.between);
        if between.is_empty() {
            return;
        }
        let nodes: HashMap<&str, usize> = (0..)
            .zip(&self.draft.nodes)
            .map(|(index, node)| (&*node.name, index))
            .collect();
        let found = |edge: &EdgeFromName| nodes.get(&*edge.from).map(|&from| (from, edge.to, edge.programmatic));
        let found: Vec<(usize, usize, bool)> = between.iter().filter_map(found).collect();
        for (from, to, programmatic) in found {
            self.add_edge_between(from, to, programmatic);
        }
    }

    fn add_edge_between(&mut self, from: usize, to: usize, programmatic: bool) {
        match programmatic {
            true => self.draft.programmatic_edge(from, to),
            false => self.draft.edge(from, to),
        };
    }
}
