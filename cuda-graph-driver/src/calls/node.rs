//! Adding nodes, and their parameters.

use super::calls;
use super::launch::{FunctionParams, KernelParams, launch};
use crate::argument::{In, Out};
use crate::code::refuse;
use crate::code::{Done, NOT_SUPPORTED, fail};
use crate::graph::{EdgeData, Graph, PLAIN};
use crate::handle::Handle;
use crate::module::Attributes;
use crate::rules;
use crate::state::{Object, State, state};
use crate::work::{Batch, Call, Conditional, Copy, CopyWords, Fill, Operation, Work};
use std::ffi::c_void;

/// `CUDA_HOST_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct CallParams {
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: usize,
}

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct BatchParams {
    context: Handle,
    count: u32,
    operations: usize,
    flags: u32,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`: the properties of a pool, which is none here, and what follows them.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct AllocationParams {
    pool: [u64; 11],
    accesses: [u64; 2],
    bytes: usize,
    address: u64,
}

/// The place of a node's own parameters in `CUgraphNodeParams`, and of what comes after a context's handle in those of
/// a copy.
const OWN: usize = 16;
const COPY: usize = 16;
/// The most bodies of a conditional node.
const MAX_BODIES: usize = 4096;

/// The nodes that a new one comes after.
pub(super) fn after(nodes: In<Handle>, data: In<EdgeData>, count: usize) -> Done<Vec<(Handle, EdgeData)>> {
    let data = if data.is_null() {
        vec![PLAIN; count]
    } else {
        data.list(count)?
    };
    Ok(nodes.list(count)?.into_iter().zip(data).collect())
}

pub(super) fn kernel(state: &State, params: In<KernelParams>, attributes: &Attributes) -> Done<Work> {
    let launch = launch(state, &params.get()?)?;
    launch.check(attributes)?;
    Ok(Work::Kernel(launch))
}

pub(super) fn copy(state: &State, words: In<CopyWords>) -> Done<Work> {
    let copy = Copy {
        words: words.get()?,
        bytes: None,
    };
    copy.check(state)?;
    Ok(Work::Copy(copy))
}

pub(super) fn fill(state: &State, params: In<Fill>) -> Done<Work> {
    let fill = params.get()?;
    fill.check(state)?;
    Ok(Work::Fill(fill))
}

pub(super) fn call(params: In<CallParams>) -> Done<Work> {
    let CallParams { function, data } = params.get()?;
    match function {
        Some(function) => Ok(Work::Call(Call { function, data })),
        None => refuse("the function is null"),
    }
}

fn batch(params: In<BatchParams>) -> Done<Work> {
    let params = params.get()?;
    let operations: Vec<Operation> = In::of(params.operations).list(params.count as usize)?;
    Ok(Work::Batch(Batch {
        operations: operations.into(),
        flags: params.flags,
        context: params.context,
    }))
}

/// Adds a node.
fn add(
    out: Out<Handle>,
    graph: Handle,
    after: Vec<(Handle, EdgeData)>,
    work: impl FnOnce(&mut State) -> Done<Work>,
) -> Done {
    let mut state = state();
    state.graph(graph)?;
    let work = work(&mut state)?;
    let node = state.add_node_with(graph, after, work, Attributes::new())?;
    out.put(node)
}

fn add_child(
    state: &mut State,
    out: Out<Handle>,
    graph: Handle,
    after: Vec<(Handle, EdgeData)>,
    child: Handle,
) -> Done {
    let has = |kind: fn(&Work) -> bool| {
        let mut nodes = state.graph(child).into_iter().flat_map(|graph| &graph.nodes);
        nodes.any(|node| state.node(*node).is_ok_and(|node| kind(&node.work)))
    };
    state.graph(graph)?;
    state.graph(child)?;
    if has(|work| matches!(work, Work::Conditional(_))) {
        return rules::CONDITIONAL_IN_CHILD.refuse();
    }
    if has(|work| matches!(work, Work::Allocate(_) | Work::Free(_))) {
        return rules::ALLOCATION_IN_CHILD.refuse();
    }
    let is_body = state.graph(graph)?.is_body;
    let copy = state.clone_graph(child, Some(0))?;
    match state.add_node_with(graph, after, Work::Child(copy), Attributes::new()) {
        Ok(node) => {
            let copy = state.graph_mut(copy)?;
            (copy.owner, copy.is_body) = (Some(node), is_body);
            out.put(node)
        }
        Err(failure) => {
            state.destroy_graph(copy)?;
            Err(failure)
        }
    }
}

/// Adds a conditional node, whose bodies' handles are written into the parameters.
fn add_conditional(out: Out<Handle>, graph: Handle, after: Vec<(Handle, EdgeData)>, params: Out<u64>) -> Done {
    let own = params.at::<u64>(OWN);
    let (handle, kind, size) = (own.get()?, own.at::<u32>(8).get()?, own.at::<u32>(12).get()? as usize);
    let fits = match kind {
        0 => (1..=2).contains(&size),
        1 => size == 1,
        2 => (1..=MAX_BODIES).contains(&size),
        _ => false,
    };
    if !fits {
        return rules::CONDITIONAL_SIZE.refuse();
    }
    let mut state = state();
    if !state.is_handle_of(handle, graph) {
        return refuse(format!("{handle} is no conditional handle of this graph"));
    }
    let bodies: Vec<Handle> = (0..size).map(|_| state.add(Object::Graph(Graph::default()))).collect();
    let bodies: &'static [Handle] = Vec::leak(bodies); // CUDA tells an address, which stays as long as the node
    let work = Work::Conditional(Conditional {
        handle,
        kind,
        bodies: bodies.into(),
    });
    let added = state.add_node_with(graph, after, work, Attributes::new());
    for &body in bodies {
        match &added {
            Ok(node) => {
                let body = state.graph_mut(body)?;
                (body.owner, body.is_body) = (Some(*node), true);
            }
            Err(_) => state.remove(body),
        }
    }
    own.at::<*const Handle>(16).put(bodies.as_ptr())?;
    out.put(added?)
}

/// Adds a node of any kind: `CUgraphNodeParams` begins with the number of its type.
fn add_any(out: Out<Handle>, graph: Handle, after: Vec<(Handle, EdgeData)>, params: Out<u64>) -> Done {
    let kind = params.at::<u32>(0).get()?;
    let own = In::from_out(params).at::<u64>(OWN);
    if kind == 13 {
        return add_conditional(out, graph, after, params);
    }
    if kind == 4 {
        let child = own.at::<Handle>(0).get()?;
        return add_child(&mut state(), out, graph, after, child);
    }
    add(out, graph, after, |state| match kind {
        0 => kernel(state, own.at(0), &Attributes::new()),
        1 => copy(state, own.at(COPY)),
        2 => fill(state, own.at(0)),
        3 => call(own.at(0)),
        5 => Ok(Work::Empty),
        6 => event(state, own.at::<Handle>(0).get()?).map(Work::Wait),
        7 => event(state, own.at::<Handle>(0).get()?).map(Work::Record),
        kind => fail(
            NOT_SUPPORTED,
            format!("nodes of the type {kind} are not supported here"),
        ),
    })
}

fn event(state: &State, event: Handle) -> Done<Handle> {
    state.event(event).map(|_| event)
}

/// The parameters of a node as a value of their type.
fn params<T: std::marker::Copy>(node: Handle, out: Out<T>, tell: impl Fn(&Work) -> Option<T>) -> Done {
    let state = state();
    match tell(&state.node(node)?.work) {
        Some(params) => out.put(params),
        None => rules::PARAMS_OF_OTHER.refuse(),
    }
}

/// Changes the work of a node to other work of its kind.
fn set(node: Handle, work: impl FnOnce(&State) -> Done<Work>) -> Done {
    let mut state = state();
    let new = work(&state)?;
    let known = state.node_mut(node)?;
    if known.work.node_type() != new.node_type() {
        return refuse("the node is of another kind");
    }
    known.work = new;
    Ok(())
}

calls! {
    Context cuGraphAddKernelNode_v2(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<KernelParams>,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |state| kernel(state, params, &Attributes::new()))
    }
    Context cuGraphAddKernelNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<FunctionParams>,
    ) {
        let params = params.get()?.into();
        add(out, graph, after(nodes, In::null(), count)?, |state| kernel(state, In::from(&params), &Attributes::new()))
    }
    Context cuGraphAddMemcpyNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<CopyWords>, _context: Handle,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |state| copy(state, params))
    }
    Context cuGraphAddMemsetNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Fill>, _context: Handle,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |state| fill(state, params))
    }
    Context cuGraphAddHostNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<CallParams>,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |_| call(params))
    }
    Context cuGraphAddEmptyNode(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize) {
        add(out, graph, after(nodes, In::null(), count)?, |_| Ok(Work::Empty))
    }
    Context cuGraphAddEventRecordNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, recorded: Handle,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |state| event(state, recorded).map(Work::Record))
    }
    Context cuGraphAddEventWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, awaited: Handle,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |state| event(state, awaited).map(Work::Wait))
    }
    Context cuGraphAddChildGraphNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, child: Handle,
    ) {
        add_child(&mut state(), out, graph, after(nodes, In::null(), count)?, child)
    }
    Context cuGraphAddNode(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: Out<u64>) {
        add_any(out, graph, after(nodes, In::null(), count)?, params)
    }
    Context cuGraphAddNode_v2(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize, params: Out<u64>,
    ) {
        add_any(out, graph, after(nodes, data, count)?, params)
    }
    Context cuGraphAddBatchMemOpNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<BatchParams>,
    ) {
        add(out, graph, after(nodes, In::null(), count)?, |_| batch(params))
    }
    Context cuGraphBatchMemOpNodeGetParams(node: Handle, out: Out<BatchParams>) {
        params(node, out, |work| match work {
            Work::Batch(batch) => Some(BatchParams {
                context: batch.context,
                count: batch.operations.len() as u32,
                operations: batch.operations.as_ptr().expose_provenance(),
                flags: batch.flags,
            }),
            _ => None,
        })
    }
    Context cuGraphMemAllocNodeGetParams(node: Handle, out: Out<AllocationParams>) {
        params(node, out, |work| match work {
            Work::Allocate(block) => Some(AllocationParams {
                pool: [0; 11],
                accesses: [0; 2],
                bytes: block.bytes,
                address: block.address,
            }),
            _ => None,
        })
    }
    Context cuGraphMemFreeNodeGetParams(node: Handle, out: Out<u64>) {
        params(node, out, |work| match work {
            Work::Free(address) => Some(*address),
            _ => None,
        })
    }
    Context cuGraphNodeGetParams(node: Handle, out: Out<[u64; 32]>) {
        params(node, out, |work| match work {
            Work::Conditional(conditional) => {
                let mut words = [0; 32];
                words[0] = 13;
                words[2] = conditional.handle;
                words[3] = u64::from(conditional.kind) | (conditional.bodies.len() as u64) << 32;
                words[4] = conditional.bodies.as_ptr().expose_provenance() as u64;
                Some(words)
            }
            _ => None,
        })
    }
    Context cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: In<[u8; 64]>) {
        let value = value.get()?;
        let mut state = state();
        match state.node_mut(node)? {
            crate::graph::Node { work: Work::Kernel(launch), attributes, .. } => {
                let mut changed = attributes.clone();
                changed.insert(attribute, value);
                launch.check(&changed)?;
                *attributes = changed;
                Ok(())
            }
            _ => rules::ATTRIBUTE_OF_OTHER.refuse(),
        }
    }
    Context cuGraphKernelNodeGetAttribute(node: Handle, attribute: u32, out: Out<[u8; 64]>) {
        let state = state();
        match state.node(node)? {
            crate::graph::Node { work: Work::Kernel(_), attributes, .. } => {
                out.put(attributes.get(&attribute).copied().unwrap_or([0; 64]))
            }
            _ => rules::ATTRIBUTE_OF_OTHER.refuse(),
        }
    }
    Context cuGraphKernelNodeGetParams_v2(node: Handle, out: Out<KernelParams>) {
        params(node, out, |work| match work {
            Work::Kernel(launch) => Some(KernelParams {
                function: launch.handles[0],
                grid: launch.grid,
                block: launch.block,
                shared: launch.shared,
                arguments: launch.arguments.pointers.as_ptr().expose_provenance(),
                extra: 0,
                kernel: launch.handles[1],
                context: launch.function.module.context,
            }),
            _ => None,
        })
    }
    Context cuGraphMemcpyNodeGetParams(node: Handle, out: Out<CopyWords>) {
        params(node, out, |work| match work {
            Work::Copy(copy) => Some(copy.words),
            _ => None,
        })
    }
    Context cuGraphMemsetNodeGetParams(node: Handle, out: Out<Fill>) {
        params(node, out, |work| match work {
            Work::Fill(fill) => Some(*fill),
            _ => None,
        })
    }
    Context cuGraphHostNodeGetParams(node: Handle, out: Out<CallParams>) {
        params(node, out, |work| match work {
            Work::Call(call) => Some(CallParams { function: Some(call.function), data: call.data }),
            _ => None,
        })
    }
    Context cuGraphEventRecordNodeGetEvent(node: Handle, out: Out<Handle>) {
        params(node, out, |work| match work {
            Work::Record(event) => Some(*event),
            _ => None,
        })
    }
    Context cuGraphEventWaitNodeGetEvent(node: Handle, out: Out<Handle>) {
        params(node, out, |work| match work {
            Work::Wait(event) => Some(*event),
            _ => None,
        })
    }
    Context cuGraphKernelNodeSetParams_v2(node: Handle, new: In<KernelParams>) {
        set(node, |state| kernel(state, new, &Attributes::new()))
    }
    Context cuGraphMemcpyNodeSetParams(node: Handle, new: In<CopyWords>) { set(node, |state| copy(state, new)) }
    Context cuGraphMemsetNodeSetParams(node: Handle, new: In<Fill>) { set(node, |state| fill(state, new)) }
    Context cuGraphHostNodeSetParams(node: Handle, new: In<CallParams>) { set(node, |_| call(new)) }
}
