//! Graphs: adding to them, copying and removing them.

use crate::code::{Done, INVALID_VALUE};
use crate::graph::{Body, EdgeData, Graph, Node, PLAIN, Step};
use crate::handle::Handle;
use crate::module::Attributes;
use crate::rules;
use crate::state::{Object, State};
use crate::work::{Conditional, Work};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl State {
    /// Adds a node after others.
    pub(crate) fn add_node(
        &mut self,
        graph: Handle,
        after: &[Handle],
        work: Work,
        attributes: Attributes,
    ) -> Done<Handle> {
        let after: Vec<(Handle, EdgeData)> = after.iter().map(|&node| (node, PLAIN)).collect();
        self.add_node_with(graph, after, work, attributes)
    }

    /// Adds a node after others, by edges with data.
    pub(crate) fn add_node_with(
        &mut self,
        graph: Handle,
        after: Vec<(Handle, EdgeData)>,
        work: Work,
        attributes: Attributes,
    ) -> Done<Handle> {
        let found = self.graph(graph)?;
        let mut seen = HashSet::new();
        for (before, _) in &after {
            if !found.nodes.contains(before) {
                return rules::FOREIGN_DEPENDENCY.refuse();
            }
            if !seen.insert(*before) {
                return rules::DEPENDENCY_TWICE.refuse();
            }
        }
        let node = Node {
            graph,
            work,
            after,
            attributes,
        };
        let node = self.add(Object::Node(node));
        self.graph_mut(graph)?.nodes.push(node);
        Ok(node)
    }

    /// Adds edges.
    pub(crate) fn add_edges(&mut self, graph: Handle, edges: &[(Handle, Handle, EdgeData)]) -> Done {
        for &(from, to, data) in edges {
            let nodes = &self.graph(graph)?.nodes;
            if !nodes.contains(&from) || !nodes.contains(&to) {
                return rules::FOREIGN_EDGE.refuse();
            }
            if from == to {
                return rules::EDGE_TO_ITSELF.refuse();
            }
            if data[2] == 1 && ![from, to].iter().all(|node| self.is_kernel(*node)) {
                return rules::PROGRAMMATIC_BETWEEN_OTHERS.refuse();
            }
            let after = &mut self.node_mut(to)?.after;
            if after.iter().any(|(before, _)| *before == from) {
                return rules::EDGE_TWICE.refuse();
            }
            after.push((from, data));
        }
        Ok(())
    }

    fn is_kernel(&self, node: Handle) -> bool {
        self.node(node).is_ok_and(|node| matches!(node.work, Work::Kernel(_)))
    }

    /// The nodes before some nodes, and these.
    pub(crate) fn ancestors(&self, nodes: &[Handle]) -> HashSet<Handle> {
        let (mut found, mut open) = (HashSet::new(), nodes.to_vec());
        while let Some(node) = open.pop() {
            if found.insert(node)
                && let Ok(node) = self.node(node)
            {
                open.extend(node.after.iter().map(|(before, _)| *before));
            }
        }
        found
    }

    /// The graphs that belong to a node.
    pub(crate) fn inner(&self, node: Handle) -> Vec<Handle> {
        match self.node(node).map(|node| &node.work) {
            Ok(Work::Child(graph)) => vec![*graph],
            Ok(Work::Conditional(conditional)) => conditional.bodies.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Removes a graph with all its nodes and their graphs.
    pub(crate) fn destroy_graph(&mut self, graph: Handle) -> Done {
        let nodes = std::mem::take(&mut self.graph_mut(graph)?.nodes);
        self.remove(graph);
        nodes.into_iter().try_for_each(|node| self.destroy_node(node))
    }

    pub(crate) fn destroy_node(&mut self, node: Handle) -> Done {
        self.node(node)?;
        let inner = self.inner(node);
        self.remove(node);
        inner.into_iter().try_for_each(|graph| self.destroy_graph(graph))
    }

    /// Copies a graph. Returns the copy.
    pub(crate) fn clone_graph(&mut self, graph: Handle, owner: Option<Handle>) -> Done<Handle> {
        let original = self.graph(graph)?.clone();
        let is_body = original.is_body;
        let copy = self.add(Object::Graph(Graph {
            owner,
            is_body,
            handles: original.handles.clone(),
            ..Graph::default()
        }));
        let mut pairs = HashMap::new();
        for handle in original.nodes {
            let (work, after, attributes) = {
                let node = self.node(handle)?;
                (node.work.clone(), node.after.clone(), node.attributes.clone())
            };
            let after = after
                .into_iter()
                .filter_map(|(before, data)| Some((*pairs.get(&before)?, data)));
            let node = Node {
                graph: copy,
                work: Work::Empty,
                after: after.collect(),
                attributes,
            };
            let node = self.add(Object::Node(node));
            let work = match work {
                Work::Child(child) => Work::Child(self.clone_graph(child, Some(node))?),
                Work::Conditional(conditional) => {
                    let bodies = conditional
                        .bodies
                        .iter()
                        .map(|&body| self.clone_graph(body, Some(node)));
                    let bodies = bodies.collect::<Done<Vec<Handle>>>()?.into();
                    Work::Conditional(Conditional { bodies, ..conditional })
                }
                other => other,
            };
            self.node_mut(node)?.work = work;
            self.graph_mut(copy)?.nodes.push(node);
            pairs.insert(handle, node);
        }
        // Edges to nodes that were added later.
        let late: Vec<(Handle, Vec<(Handle, EdgeData)>)> = pairs
            .iter()
            .filter_map(|(old, new)| {
                let after = &self.node(*old).ok()?.after;
                let after = after
                    .iter()
                    .filter_map(|(before, data)| Some((*pairs.get(before)?, *data)));
                Some((*new, after.collect()))
            })
            .collect();
        for (node, after) in late {
            self.node_mut(node)?.after = after;
        }
        Ok(copy)
    }

    /// The parts of an executable graph for a graph and those in it. Refuses circles, with the node at fault.
    pub(crate) fn bodies(&self, graph: Handle, all: &mut HashMap<Handle, Arc<Body>>) -> Result<(), (Handle, u32)> {
        let Ok(found) = self.graph(graph) else {
            return Err((0, INVALID_VALUE));
        };
        let places: HashMap<Handle, usize> = found.nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let mut steps = Vec::with_capacity(found.nodes.len());
        for &handle in &found.nodes {
            let Ok(node) = self.node(handle) else {
                return Err((handle, INVALID_VALUE));
            };
            if found.is_body && matches!(node.work, Work::Call(_) | Work::Wait(_) | Work::Record(_)) {
                return Err((handle, rules::NODE_IN_BODY.code));
            }
            let after = node.after.iter().filter_map(|(before, _)| places.get(before).copied());
            steps.push(Step {
                node: handle,
                work: node.work.clone(),
                attributes: node.attributes.clone(),
                after: after.collect(),
                enabled: true,
            });
            for inner in self.inner(handle) {
                self.bodies(inner, all)?;
            }
        }
        if let Some(node) = circle(&steps) {
            return Err((node, INVALID_VALUE));
        }
        all.insert(graph, Arc::new(Body { nodes: steps }));
        Ok(())
    }

    /// The conditional handles of a graph and of the graphs in it.
    pub(crate) fn handles(&self, graph: Handle) -> Vec<(u64, Option<u32>)> {
        let Ok(found) = self.graph(graph) else {
            return Vec::new();
        };
        let inner = found.nodes.iter().flat_map(|&node| self.inner(node));
        let inner: Vec<(u64, Option<u32>)> = inner.flat_map(|graph| self.handles(graph)).collect();
        found.handles.iter().copied().chain(inner).collect()
    }
}

/// A node of a circle, if there is one.
fn circle(steps: &[Step]) -> Option<Handle> {
    let mut missing: Vec<usize> = steps.iter().map(|step| step.after.len()).collect();
    let mut later = vec![Vec::new(); steps.len()];
    for (index, step) in steps.iter().enumerate() {
        step.after.iter().for_each(|&before| later[before].push(index));
    }
    let mut ready: Vec<usize> = (0..steps.len()).filter(|&step| missing[step] == 0).collect();
    while let Some(step) = ready.pop() {
        for &next in &later[step] {
            missing[next] -= 1;
            if missing[next] == 0 {
                ready.push(next);
            }
        }
    }
    let left = missing.iter().position(|missing| *missing > 0)?;
    Some(steps[left].node)
}
