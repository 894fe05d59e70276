//! Executable graphs: making, changing and launching them.

use super::calls;
use super::launch::{FunctionParams, KernelParams};
use super::node::{CallParams, call, copy, fill, kernel};
use crate::argument::{In, Out};
use crate::code::refuse;
use crate::code::{Done, INVALID_VALUE, NOT_SUPPORTED, fail};
use crate::graph::{Exec, places};
use crate::handle::Handle;
use crate::memory::Kind;
use crate::rules::{self, Rule};
use crate::settings::SETTINGS;
use crate::state::{Object, State, state};
use crate::work::{Copy, CopyWords, Fill, Work};
use std::collections::HashMap;
use std::sync::Arc;

/// The flags: free what earlier launches have left, upload, launches by the device, priorities of nodes.
const AUTO_FREE: u64 = 1;
const BY_DEVICE: u64 = 4;
const FLAGS: u64 = 0b1111;

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`: the flags, a stream, the node at fault and the reason.
const NODE: usize = 16;
const RESULT: usize = 24;

/// Makes an executable graph. The error comes with the node at fault.
fn instantiate(state: &mut State, graph: Handle, flags: u64) -> Result<Handle, (Handle, u32)> {
    let mut bodies = HashMap::new();
    state.bodies(graph, &mut bodies)?;
    let has_once = bodies.values().flat_map(|body| &body.nodes);
    let is_single = has_once
        .clone()
        .any(|step| matches!(step.work, Work::Conditional(_) | Work::Allocate(_)));
    if is_single && state.graph(graph).is_ok_and(|graph| graph.instances > 0) {
        return Err((0, NOT_SUPPORTED));
    }
    if let Ok(graph) = state.graph_mut(graph) {
        graph.instances += 1;
    }
    let defaults = state
        .handles(graph)
        .into_iter()
        .filter_map(|(handle, value)| Some((handle, value?)));
    let defaults = defaults.collect();
    let places = places(&bodies);
    Ok(state.add(Object::Exec(Exec {
        root: graph,
        bodies: Arc::new(bodies),
        places,
        conditions: Arc::default(),
        defaults,
        last: None,
        flags,
        frees: flags & AUTO_FREE != 0,
    })))
}

/// Makes an executable graph, and tells about it as far as the caller wants.
fn make(out: Out<Handle>, graph: Handle, flags: u64, node: Out<Handle>, result: Out<u32>) -> Done {
    let mut state = state();
    state.graph(graph)?;
    if flags & !FLAGS != 0 {
        return rules::UNKNOWN_FLAGS.refuse();
    }
    if flags & AUTO_FREE != 0 && flags & BY_DEVICE != 0 {
        return rules::FLAGS_APART.refuse();
    }
    if state.graph(graph)?.owner.is_some() {
        return refuse("the graph belongs to a node");
    }
    match instantiate(&mut state, graph, flags) {
        Ok(exec) => {
            result.offer(0)?;
            node.offer(0)?;
            out.put(exec)
        }
        Err((at, code)) => {
            result.offer(if code == INVALID_VALUE { 2 } else { 1 })?; // an invalid structure, or an error
            node.offer(at)?;
            fail(code, "the graph cannot be instantiated")
        }
    }
}

/// Changes a step of an executable graph.
fn set(exec: Handle, node: Handle, of_other: Rule, new: impl FnOnce(&State, &Work) -> Done<Work>) -> Done {
    let mut state = state();
    let Some(step) = state.exec(exec)?.step(node) else {
        return rules::NODE_OF_ANOTHER_GRAPH.refuse();
    };
    let old = step.work.clone();
    let is_like = |work: &Work| work.node_type() == old.node_type();
    let work = new(&state, &old)?;
    if !is_like(&work) {
        return of_other.refuse();
    }
    state.exec_mut(exec)?.step_mut(node)?.work = work;
    Ok(())
}

/// Changes a kernel, whose attributes stay.
fn set_kernel(exec: Handle, node: Handle, params: In<KernelParams>) -> Done {
    set(exec, node, rules::SET_KERNEL_OF_OTHER, |state, _| {
        let attributes = state.exec(exec)?.step(node).map(|step| step.attributes.clone());
        kernel(state, params, &attributes.unwrap_or_default())
    })
}

/// The kinds of memory of both sides of a copy, `None` for memory that CUDA does not know.
pub(super) fn mappings(state: &State, copy: &Copy) -> [(bool, Option<Kind>); 2] {
    let kinds = copy.kinds();
    let addresses = copy.addresses();
    [0, 1].map(|side| {
        let kind = state.blocks.at(addresses[side] as u64).map(|block| block.kind);
        // A variable is device memory, too.
        let kind = kind.map(|kind| if kind == Kind::Variable { Kind::Device } else { kind });
        (kinds[side] == 3, kind)
    })
}

/// Refuses what CUDA does not change in a copy.
pub(super) fn check_copy(state: &State, old: &Copy, new: &Copy) -> Done {
    if !old.is_one_row() || !new.is_one_row() {
        return rules::SET_COPY_ROWS.refuse();
    }
    let (before, after) = (mappings(state, old), mappings(state, new));
    let is_gone = |side: usize| before[side].1.is_none() && !before[side].0 && old.kinds()[side] != 1;
    for side in 0..2 {
        if before[side] != after[side] && !is_gone(side) {
            return rules::SET_COPY_KIND.refuse();
        }
    }
    Ok(())
}

pub(super) fn check_fill(old: &Fill, new: &Fill) -> Done {
    if old.height > 1 || new.height > 1 {
        return rules::SET_FILL_ROWS.refuse();
    }
    Ok(())
}

/// Enables or disables a node.
fn enable(exec: Handle, node: Handle, enabled: bool) -> Done {
    let mut state = state();
    let step = state.exec_mut(exec)?.step_mut(node)?;
    match step.work {
        Work::Kernel(_) | Work::Copy(_) | Work::Fill(_) => {
            step.enabled = enabled;
            Ok(())
        }
        _ => rules::ENABLED_OF_OTHER_KINDS.refuse(),
    }
}

calls! {
    Context cuGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64) {
        make(out, graph, flags, Out::null(), Out::null())
    }
    Context cuGraphInstantiateWithParams(out: Out<Handle>, graph: Handle, params: Out<u64>) {
        let flags = params.get()?;
        make(out, graph, flags, params.at(NODE), params.at(RESULT))
    }
    AnyContext cuGraphExecDestroy(exec: Handle) {
        let mut state = state();
        let root = state.exec(exec)?.root;
        if let Some(graph) = state.graph_if_there(root) {
            graph.instances = graph.instances.saturating_sub(1);
        }
        state.remove(exec);
        Ok(())
    }
    Context cuGraphExecGetFlags(exec: Handle, out: Out<u64>) { out.put(state().exec(exec)?.flags) }
    Context cuGraphUpload(exec: Handle, stream: Handle) {
        let mut state = state();
        state.exec(exec)?;
        let handle = state.stream_handle(stream)?;
        state.check_not_capturing(handle)
    }
    Nothing cuGraphLaunch(exec: Handle, stream: Handle) {
        if crate::state::IN_FUNCTION.get() {
            return fail(crate::code::NOT_PERMITTED, "a host function makes no calls");
        }
        state().launch(exec, stream, SETTINGS.captures_launches)
    }
    Context cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: In<KernelParams>) {
        set_kernel(exec, node, params)
    }
    Context cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: In<FunctionParams>) {
        set_kernel(exec, node, In::from(&params.get()?.into()))
    }
    Context cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, params: In<CopyWords>, _context: Handle) {
        set(exec, node, rules::SET_COPY_OF_OTHER, |state, old| {
            let new = copy(state, params)?;
            if let (Work::Copy(old), Work::Copy(new)) = (old, &new) {
                check_copy(state, old, new)?;
            }
            Ok(new)
        })
    }
    Context cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, params: In<Fill>, _context: Handle) {
        set(exec, node, rules::SET_FILL_OF_OTHER, |state, old| {
            let new = fill(state, params)?;
            if let (Work::Fill(old), Work::Fill(new)) = (old, &new) {
                check_fill(old, new)?;
            }
            Ok(new)
        })
    }
    Context cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: In<CallParams>) {
        set(exec, node, rules::SET_CALL_OF_OTHER, |_, _| call(params))
    }
    Context cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Handle) {
        set(exec, node, rules::SET_CALL_OF_OTHER, |state, _| state.event(event).map(|_| Work::Record(event)))
    }
    Context cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Handle) {
        set(exec, node, rules::SET_CALL_OF_OTHER, |state, _| state.event(event).map(|_| Work::Wait(event)))
    }
    Context cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32) { enable(exec, node, enabled != 0) }
    Context cuGraphNodeGetEnabled(exec: Handle, node: Handle, out: Out<u32>) {
        let state = state();
        match state.exec(exec)?.step(node) {
            Some(step) => out.put(u32::from(step.enabled)),
            None => rules::NODE_OF_ANOTHER_GRAPH.refuse(),
        }
    }
}
