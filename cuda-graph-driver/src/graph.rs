//! Graphs and their nodes, and what executable graphs have of them.

use crate::code::Done;
use crate::handle::Handle;
use crate::module::Attributes;
use crate::queue::Mark;
use crate::rules;
use crate::work::{Conditions, Work};
use std::collections::HashMap;
use std::sync::Arc;

/// The data of an edge: the ports, the type, and five reserved bytes.
pub(crate) type EdgeData = [u8; 8];
pub(crate) const PLAIN: EdgeData = [0; 8];

#[derive(Clone, Default)]
pub(crate) struct Graph {
    /// In the order in which they were added.
    pub(crate) nodes: Vec<Handle>,
    /// The node that it is a body or the child of.
    pub(crate) owner: Option<Handle>,
    /// Whether it is the body of a conditional node, or in one.
    pub(crate) is_body: bool,
    /// The conditional handles that were made for it, with their default values if launches begin with them.
    pub(crate) handles: Vec<(u64, Option<u32>)>,
    /// The executable graphs of it, if it has conditional nodes.
    pub(crate) instances: usize,
}

pub(crate) struct Node {
    pub(crate) graph: Handle,
    pub(crate) work: Work,
    pub(crate) after: Vec<(Handle, EdgeData)>,
    pub(crate) attributes: Attributes,
}

/// A node of an executable graph.
#[derive(Clone)]
pub(crate) struct Step {
    /// The node that it was made of.
    pub(crate) node: Handle,
    pub(crate) work: Work,
    pub(crate) attributes: Attributes,
    /// The nodes before it, as indices.
    pub(crate) after: Vec<usize>,
    pub(crate) enabled: bool,
}

/// The nodes of an executable graph, or of a body of it.
#[derive(Clone, Default)]
pub(crate) struct Body {
    pub(crate) nodes: Vec<Step>,
}

/// An executable graph.
pub(crate) struct Exec {
    pub(crate) root: Handle,
    /// The bodies by the graphs that they were made of, the whole graph among them.
    pub(crate) bodies: Arc<HashMap<Handle, Arc<Body>>>,
    /// The places of the nodes: a body, and an index in it.
    pub(crate) places: HashMap<Handle, (Handle, usize)>,
    pub(crate) conditions: Conditions,
    /// The values that conditions have when a launch begins.
    pub(crate) defaults: Vec<(u64, u32)>,
    pub(crate) last: Option<Mark>,
    pub(crate) flags: u64,
    /// Whether memory that a launch has allocated is freed by the next one.
    pub(crate) frees: bool,
}

impl Exec {
    /// A step, by the node that it was made of.
    pub(crate) fn step(&self, node: Handle) -> Option<&Step> {
        let (body, index) = self.places.get(&node)?;
        self.bodies.get(body)?.nodes.get(*index)
    }

    /// As [`Exec::step`], to be changed for later launches.
    pub(crate) fn step_mut(&mut self, node: Handle) -> Done<&mut Step> {
        let Some((body, index)) = self.places.get(&node) else {
            return rules::NODE_OF_ANOTHER_GRAPH.refuse();
        };
        let body = Arc::make_mut(&mut self.bodies).get_mut(body);
        match body.and_then(|body| Arc::make_mut(body).nodes.get_mut(*index)) {
            Some(step) => Ok(step),
            None => rules::NODE_OF_ANOTHER_GRAPH.refuse(),
        }
    }
}

/// The places of all nodes.
pub(crate) fn places(bodies: &HashMap<Handle, Arc<Body>>) -> HashMap<Handle, (Handle, usize)> {
    let steps = bodies.iter().flat_map(|(graph, body)| {
        body.nodes
            .iter()
            .enumerate()
            .map(|(index, step)| (step.node, (*graph, index)))
    });
    steps.collect()
}
