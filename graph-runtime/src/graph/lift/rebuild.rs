//! Making another graph of the plan of one that was read.

use super::Lifted;
use crate::driver::adding::NewGraph;
use crate::driver::read_node::ReadNode;
use crate::driver::{CUgraph, EdgeData};
use crate::error::{At, Error, Result, Site};

/// A graph with the nodes of the plan, in its order. If `needed` is given, it has for each node those that conflicts
/// need before it, which replace the plain edges.
///
/// # Safety
///
/// As of [`Lifted::build`].
pub(super) unsafe fn graph(lifted: &Lifted, needed: Option<&[Vec<usize>]>) -> Result<CUgraph> {
    // SAFETY: by the caller's promise.
    Ok(unsafe { body(lifted, None, needed) }?.finish())
}

/// A graph with the nodes that belong to `owner`.
///
/// # Safety
///
/// As of [`Lifted::build`].
unsafe fn body(lifted: &Lifted, owner: Option<usize>, needed: Option<&[Vec<usize>]>) -> Result<NewGraph> {
    let site = || Site::graph(&lifted.plan.name);
    let mut graph = NewGraph::new().at(site)?;
    let nodes = lifted.nodes.iter().enumerate();
    let members: Vec<usize> = nodes
        .filter(|(_, node)| node.owner == owner)
        .map(|(index, _)| index)
        .collect();
    for &index in &members {
        let node = &lifted.nodes[index];
        let site = || Site::graph(&lifted.plan.name).at_node(&node.name);
        let child = match node.work {
            // SAFETY: by the caller's promise.
            ReadNode::Child => Some(unsafe { body(lifted, Some(index), needed) }?),
            _ => None,
        };
        // SAFETY: by the caller's promise.
        let added = unsafe { graph.add(&node.work, child.as_ref()) }.at(site)?;
        added.map_err(|reason| Error::Node {
            site: site(),
            message: format!("it cannot be in another graph: {reason}"),
        })?;
    }
    let mut edges = Vec::new();
    for (to, &index) in members.iter().enumerate() {
        let before = edges_to(lifted, index, needed);
        // The nodes of an edge are in one body.
        let places = before
            .into_iter()
            .filter_map(|(from, data)| Some((members.binary_search(&from).ok()?, to, data)));
        edges.extend(places);
    }
    // SAFETY: the edges are those of a plan, or of a part of its order: none is there twice, and none forms a circle.
    unsafe { graph.add_edges(&edges) }.at(site)?;
    Ok(graph)
}

/// The nodes before a node, with the data of the edges: those of the plan, or its programmatic ones and those that are
/// needed.
fn edges_to(lifted: &Lifted, to: usize, needed: Option<&[Vec<usize>]>) -> Vec<(usize, EdgeData)> {
    let read = &lifted.nodes[to].after;
    let data = |from: usize| {
        let known = read.iter().find(|(before, _)| *before == from);
        known.map_or(EdgeData::PLAIN, |&(_, data)| data)
    };
    match needed {
        None => lifted.plan.nodes[to]
            .after
            .iter()
            .map(|&from| (from, data(from)))
            .collect(),
        Some(needed) => {
            let programmatic = read.iter().filter(|(_, data)| data.is_programmatic()).copied();
            let is_plain = |from: &&usize| !data(**from).is_programmatic();
            let plain = needed[to].iter().filter(is_plain);
            programmatic.chain(plain.map(|&from| (from, EdgeData::PLAIN))).collect()
        }
    }
}
