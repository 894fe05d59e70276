//! Graphs, and questions about them.

use super::calls;
use crate::argument::{In, Out, Text};
use crate::code::refuse;
use crate::code::{Done, fail};
use crate::graph::{EdgeData, Graph};
use crate::handle::Handle;
use crate::rules;
use crate::state::{Object, State, state};
use crate::work::Work;
use std::fmt::Write;

/// Writes a list that the caller has room for, and its length. Without room for a list, only the length.
fn list<T: Copy>(values: &[T], out: Out<T>, count: Out<usize>) -> Done {
    if !out.is_null() {
        out.put_list(values.iter().copied(), count.get()?)?;
    }
    count.put(values.len())
}

/// Writes edges, if the caller has room for them, and their number.
fn edges(found: &[(Handle, Handle, EdgeData)], outs: [Out<Handle>; 2], data: Out<EdgeData>, count: Out<usize>) -> Done {
    let room = if outs[0].is_null() { 0 } else { count.get()? };
    outs[0].put_list(found.iter().map(|edge| edge.0), room)?;
    outs[1].put_list(found.iter().map(|edge| edge.1), room)?;
    if data.is_null() {
        if found.iter().any(|edge| edge.2 != [0; 8]) && room > 0 {
            return fail(911, "the edges have data"); // CUDA_ERROR_LOSSY_QUERY
        }
    } else {
        data.put_list(found.iter().map(|edge| edge.2), room)?;
    }
    count.put(found.len())
}

fn all_edges(state: &State, graph: Handle) -> Done<Vec<(Handle, Handle, EdgeData)>> {
    let mut found = Vec::new();
    for &node in &state.graph(graph)?.nodes {
        let after = &state.node(node)?.after;
        found.extend(after.iter().map(|(before, data)| (*before, node, *data)));
    }
    Ok(found)
}

/// The edges to a node, or from it.
fn edges_of(node: Handle, from: bool) -> Done<Vec<(Handle, Handle, EdgeData)>> {
    let state = state();
    let mut found = all_edges(&state, state.node(node)?.graph)?;
    found.retain(|edge| if from { edge.0 == node } else { edge.1 == node });
    Ok(found)
}

/// The ends of edges that are not the node itself, and their data.
fn ends(node: Handle, from: bool, out: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) -> Done {
    let found = edges_of(node, from)?;
    let other: Vec<(Handle, Handle, EdgeData)> = found
        .into_iter()
        .map(|edge| (if from { edge.1 } else { edge.0 }, node, edge.2))
        .collect();
    let room = if out.is_null() { 0 } else { count.get()? };
    out.put_list(other.iter().map(|edge| edge.0), room)?;
    if !data.is_null() {
        data.put_list(other.iter().map(|edge| edge.2), room)?;
    }
    count.put(other.len())
}

/// The name of a node's type.
fn kind(work: &Work) -> &'static str {
    match work {
        Work::Kernel(_) | Work::Collective(_) => "KERNEL",
        Work::Copy(_) => "MEMCPY",
        Work::Fill(_) => "MEMSET",
        Work::Call(_) => "HOST",
        Work::Child(_) => "CHILD_GRAPH",
        Work::Empty => "EMPTY",
        Work::Wait(_) => "EVENT_WAIT",
        Work::Record(_) => "EVENT_RECORD",
        Work::Conditional(_) => "CONDITIONAL",
        Work::Allocate(_) => "MEM_ALLOC",
        Work::Free(_) => "MEM_FREE",
        Work::Batch(_) => "BATCH_MEM_OP",
    }
}

/// A dimension of a launch in a file of CUDA's: what is more than a number is in braces.
fn dimensions(of: [u32; 3]) -> String {
    match of {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("\\{{{x},{y}\\}}"),
        [x, y, z] => format!("\\{{{x},{y},{z}\\}}"),
    }
}

/// The number of a node in its graph.
fn local_id(state: &State, node: Handle) -> Done<usize> {
    let graph = state.node(node)?.graph;
    let found = state.graph(graph)?.nodes.iter().position(|other| *other == node);
    found.map_or_else(|| refuse("the graph has lost the node"), Ok)
}

/// The number of a graph or of an executable graph.
fn id(graph: Handle) -> u32 {
    graph as u32
}

/// Draws a graph and the graphs in it, in CUDA's form; of each node, it has only what tools read.
fn draw(state: &State, graph: Handle, text: &mut String) -> Done {
    let nodes = state.graph(graph)?.nodes.clone();
    let own = id(graph);
    let _ = writeln!(
        text,
        "subgraph cluster_{own} {{\nlabel=\"graph_{own}\" graph[style=\"dashed\"];"
    );
    for (number, &node) in nodes.iter().enumerate() {
        let work = &state.node(node)?.work;
        let order = format!("{number} (topoId: {})", nodes.len() - 1 - number);
        let _ = match work {
            Work::Kernel(launch) => {
                let (grid, block) = (dimensions(launch.grid), dimensions(launch.block));
                let (name, shared) = (&launch.function.name, launch.shared);
                let function = launch.handles[0].max(launch.handles[1]);
                writeln!(
                    text,
                    "\"graph_{own}_node_{number}\"[style=\"bold\" shape=\"record\" label=\"{{KERNEL\n\
                     | {{ID | {order} | {name}\\<\\<\\<{grid},{block},{shared}\\>\\>\\>}}\n\
                     | {{{{node handle | func handle}} | {{0x{node:016X} | 0x{function:016X}}}}}\n}}\"];"
                )
            }
            Work::Call(_) => writeln!(
                text,
                "\"graph_{own}_node_{number}\"[style=\"solid\" shape=\"rectangle\" label=\"{order}\nHOST\n\
                 node handle: 0x{node:016X}\n\"];"
            ),
            other => writeln!(
                text,
                "\"graph_{own}_node_{number}\"[style=\"solid\" shape=\"record\" label=\"{{\n{}\n\
                 | {{{{ID | node handle}} | {{{order} | 0x{node:016X}}}}}\n}}\"];",
                kind(other)
            ),
        };
        for inner in state.inner(node) {
            draw(state, inner, text)?;
        }
    }
    for (from, to, _) in all_edges(state, graph)? {
        let (from, to) = (local_id(state, from)?, local_id(state, to)?);
        let _ = writeln!(
            text,
            "\"graph_{own}_node_{from}\" -> \"graph_{own}_node_{to}\" [headlabel=0];"
        );
    }
    text.push_str("}\n");
    Ok(())
}

fn add_edges(graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize) -> Done {
    let (from, to) = (from.list(count)?, to.list(count)?);
    let data = if data.is_null() {
        vec![[0; 8]; count]
    } else {
        data.list(count)?
    };
    let edges = from
        .into_iter()
        .zip(to)
        .zip(data)
        .map(|((from, to), data)| (from, to, data));
    let edges: Vec<(Handle, Handle, EdgeData)> = edges.collect();
    state().add_edges(graph, &edges)
}

fn remove_edges(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) -> Done {
    let mut state = state();
    state.graph(graph)?;
    for (from, to) in from.list(count)?.into_iter().zip(to.list(count)?) {
        let after = &mut state.node_mut(to)?.after;
        match after.iter().position(|(before, _)| *before == from) {
            Some(at) => drop(after.remove(at)),
            None => return refuse("there is no such edge"),
        }
    }
    Ok(())
}

calls! {
    Context cuGraphCreate(out: Out<Handle>, flags: u32) {
        if flags != 0 {
            return refuse(format!("there are no flags {flags} of graphs"));
        }
        out.put(state().add(Object::Graph(Graph::default())))
    }
    AnyContext cuGraphDestroy(graph: Handle) {
        let mut state = state();
        if state.graph(graph)?.owner.is_some() {
            return refuse("the graph belongs to a node");
        }
        state.destroy_graph(graph)
    }
    Context cuGraphClone(out: Out<Handle>, graph: Handle) { out.put(state().clone_graph(graph, None)?) }
    Context cuGraphDestroyNode(node: Handle) {
        let mut state = state();
        let graph = state.node(node)?.graph;
        let nodes = &mut state.graph_mut(graph)?.nodes;
        nodes.retain(|other| *other != node);
        for other in nodes.clone() {
            state.node_mut(other)?.after.retain(|(before, _)| *before != node);
        }
        state.destroy_node(node)
    }
    Context cuGraphGetNodes(graph: Handle, out: Out<Handle>, count: Out<usize>) {
        let nodes = state().graph(graph)?.nodes.clone();
        if !out.is_null() && count.get()? == 0 {
            return refuse("there is a list without room");
        }
        list(&nodes, out, count)
    }
    Context cuGraphGetRootNodes(graph: Handle, out: Out<Handle>, count: Out<usize>) {
        let roots: Vec<Handle> = {
            let state = state();
            let nodes = state.graph(graph)?.nodes.iter().copied();
            nodes.filter(|node| state.node(*node).is_ok_and(|node| node.after.is_empty())).collect()
        };
        list(&roots, out, count)
    }
    Context cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
        let found = all_edges(&state(), graph)?;
        edges(&found, [from, to], Out::null(), count)
    }
    Context cuGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) {
        let found = all_edges(&state(), graph)?;
        edges(&found, [from, to], data, count)
    }
    Context cuGraphNodeGetDependencies(node: Handle, out: Out<Handle>, count: Out<usize>) {
        ends(node, false, out, Out::null(), count)
    }
    Context cuGraphNodeGetDependencies_v2(node: Handle, out: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) {
        ends(node, false, out, data, count)
    }
    Context cuGraphNodeGetDependentNodes(node: Handle, out: Out<Handle>, count: Out<usize>) {
        ends(node, true, out, Out::null(), count)
    }
    Context cuGraphNodeGetDependentNodes_v2(node: Handle, out: Out<Handle>, data: Out<EdgeData>, count: Out<usize>) {
        ends(node, true, out, data, count)
    }
    Context cuGraphNodeGetType(node: Handle, out: Out<u32>) { out.put(state().node(node)?.work.node_type()) }
    Context cuGraphAddDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        add_edges(graph, from, to, In::null(), count)
    }
    Context cuGraphAddDependencies_v2(graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize) {
        add_edges(graph, from, to, data, count)
    }
    Context cuGraphRemoveDependencies(graph: Handle, from: In<Handle>, to: In<Handle>, count: usize) {
        remove_edges(graph, from, to, count)
    }
    Context cuGraphRemoveDependencies_v2(
        graph: Handle, from: In<Handle>, to: In<Handle>, _data: In<EdgeData>, count: usize,
    ) {
        remove_edges(graph, from, to, count)
    }
    Context cuGraphChildGraphNodeGetGraph(node: Handle, out: Out<Handle>) {
        let child = match state().node(node)?.work {
            Work::Child(graph) => Some(graph),
            _ => None,
        };
        match child {
            Some(graph) => out.put(graph),
            None => rules::CHILD_OF_OTHER.refuse(),
        }
    }
    Context cuGraphConditionalHandleCreate(out: Out<u64>, graph: Handle, _context: Handle, default: u32, flags: u32) {
        let mut state = state();
        state.conditional += 1;
        let handle = state.conditional;
        let default = (flags & 1 == 1).then_some(default);
        state.graph_mut(graph)?.handles.push((handle, default));
        out.put(handle)
    }
    Context cuGraphGetId(graph: Handle, out: Out<u32>) {
        state().graph(graph)?;
        out.put(id(graph))
    }
    Context cuGraphExecGetId(exec: Handle, out: Out<u32>) {
        state().exec(exec)?;
        out.put(id(exec))
    }
    Context cuGraphNodeGetToolsId(node: Handle, out: Out<u64>) {
        let state = state();
        let graph = u64::from(id(state.node(node)?.graph));
        out.put(graph << 32 | local_id(&state, node)? as u64)
    }
    Context cuGraphDebugDotPrint(graph: Handle, path: Text, _flags: u32) {
        let mut text = "digraph dot {\n".to_owned();
        draw(&state(), graph, &mut text)?;
        text.push_str("}\n");
        match std::fs::write(path.get()?, text) {
            Ok(()) => Ok(()),
            Err(error) => fail(304, error.to_string()), // CUDA_ERROR_OPERATING_SYSTEM
        }
    }
}
