//! Graphs, their nodes, and executable graphs.

use super::*;

api! {
    bound cuGraphCreate(out: *mut Handle, _flags: u32) { put(out, state().add(Object::Graph { nodes: Vec::new() })) }
    bound cuGraphDestroy(graph: Handle) {
        state().remove_graph(CALL, graph);
        0
    }
    bound cuGraphAddKernelNode_v2(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const Handle
    ) {
        let mut state = state();
        state.function(CALL, *params); // the first field
        let added = state.add_node(CALL, out, graph, after, count, (KERNEL, 0));
        state.note(added, out, params.cast(), LAUNCH)
    }
    bound cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: *const [u8; 64]) {
        match state().objects.get_mut(&node) {
            Some(Object::Node { kind: KERNEL, attributes, .. }) => attributes.insert(attribute, *value),
            other => mistake(CALL, &format!("{node:#x} is no kernel: {other:?}")),
        };
        0
    }
    bound cuGraphKernelNodeGetAttribute(node: Handle, attribute: u32, out: *mut [u8; 64]) {
        match state().objects.get(&node) {
            Some(Object::Node { kind: KERNEL, attributes, .. }) => {
                put(out, attributes.get(&attribute).copied().unwrap_or([0; 64]))
            }
            other => mistake(CALL, &format!("{node:#x} is no kernel: {other:?}")),
        }
    }
    bound cuGraphKernelNodeGetParams_v2(node: Handle, out: *mut c_void) { state().params(CALL, node, KERNEL, out) }
    bound cuGraphMemcpyNodeGetParams(node: Handle, out: *mut c_void) { state().params(CALL, node, MEMCPY, out) }
    bound cuGraphMemsetNodeGetParams(node: Handle, out: *mut c_void) { state().params(CALL, node, MEMSET, out) }
    bound cuFuncGetName(out: *mut *const c_char, function: Handle) {
        match state().objects.get(&function) {
            Some(Object::Function { name, .. }) => put(out, name.as_ptr()), // nobody removes functions
            other => mistake(CALL, &format!("{function:#x} is no function: {other:?}")),
        }
    }
    bound cuGraphAddMemcpyNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void, _context: Handle
    ) {
        let mut state = state();
        let added = state.add_node(CALL, out, graph, after, count, (MEMCPY, 0));
        state.note(added, out, params, COPY)
    }
    bound cuGraphAddMemsetNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void, _context: Handle
    ) {
        let mut state = state();
        let added = state.add_node(CALL, out, graph, after, count, (MEMSET, 0));
        state.note(added, out, params, SET)
    }
    bound cuGraphAddHostNode(out: *mut Handle, graph: Handle, after: *const Handle, count: usize, params: *const c_void) {
        let mut state = state();
        let added = state.add_node(CALL, out, graph, after, count, (HOST, 0));
        state.note(added, out, params, FUNCTION)
    }
    bound cuGraphAddEmptyNode(out: *mut Handle, graph: Handle, after: *const Handle, count: usize) {
        state().add_node(CALL, out, graph, after, count, (EMPTY, 0))
    }
    bound cuGraphAddEventRecordNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
    ) {
        let mut state = state();
        state.event(CALL, event);
        state.add_node(CALL, out, graph, after, count, (RECORD, 0))
    }
    bound cuGraphAddEventWaitNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, event: Handle
    ) {
        let mut state = state();
        state.event(CALL, event);
        state.add_node(CALL, out, graph, after, count, (WAIT, 0))
    }
    bound cuGraphAddChildGraphNode(
        out: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle
    ) {
        let mut state = state();
        state.nodes(CALL, child);
        state.add_node(CALL, out, graph, after, count, (CHILD, 1))
    }
    bound cuGraphChildGraphNodeGetGraph(node: Handle, out: *mut Handle) {
        match state().node(CALL, node) {
            (CHILD, &[graph]) => put(out, graph),
            _ => INVALID_VALUE,
        }
    }
    bound cuGraphConditionalHandleCreate(out: *mut u64, graph: Handle, _context: Handle, _default: u32, _flags: u32) {
        state().nodes(CALL, graph);
        put(out, 1)
    }
    bound cuGraphAddNode_v2(
        out: *mut Handle, graph: Handle, after: *const Handle, _data: *const c_void, count: usize, params: *mut u8
    ) {
        let mut state = state();
        // `size` and `phGraph_out` of `CUDA_CONDITIONAL_NODE_PARAMS`, which begins at byte 16.
        let size = params.add(16 + 12).cast::<u32>().read();
        let added = state.add_node(CALL, out, graph, after, count, (CONDITIONAL, size as usize));
        let (_, graphs) = state.node(CALL, *out);
        params.add(16 + 16).cast::<*const Handle>().write(graphs.as_ptr());
        added
    }
    bound cuGraphAddDependencies_v2(
        graph: Handle, from: *const Handle, to: *const Handle, data: *const u64, count: usize
    ) {
        let mut state = state();
        for index in 0..count {
            let (from, to) = (*from.add(index), *to.add(index));
            let nodes = state.nodes(CALL, graph);
            if !nodes.contains(&from) || !nodes.contains(&to) {
                mistake(CALL, "not nodes of the graph");
            }
            if let Some(Object::Node { after, .. }) = state.objects.get_mut(&to) {
                after.push((from, *data.add(index)));
            }
        }
        0
    }
    bound cuGraphGetNodes(graph: Handle, out: *mut Handle, count: *mut usize) {
        let mut state = state();
        let nodes = state.nodes(CALL, graph);
        if !out.is_null() {
            let room = (*count).min(nodes.len());
            ptr::copy_nonoverlapping(nodes.as_ptr(), out, room);
        }
        put(count, nodes.len())
    }
    bound cuGraphNodeGetDependencies_v2(node: Handle, out: *mut Handle, data: *mut u64, count: *mut usize) {
        let state = state();
        let Some(Object::Node { after, .. }) = state.objects.get(&node) else {
            mistake(CALL, "this is no node");
        };
        if !out.is_null() {
            for (index, (before, edge)) in after.iter().take(*count).enumerate() {
                put(out.add(index), *before);
                put(data.add(index), *edge);
            }
        }
        put(count, after.len())
    }
    bound cuGraphNodeGetType(node: Handle, out: *mut u32) { put(out, state().node(CALL, node).0) }
    bound cuGraphMemcpyNodeSetParams(node: Handle, params: *const c_void) { state().change(CALL, node, params, COPY) }
    bound cuGraphMemsetNodeSetParams(node: Handle, params: *const c_void) { state().change(CALL, node, params, SET) }
    bound cuGraphInstantiateWithParams(out: *mut Handle, graph: Handle, _params: *mut c_void) {
        let mut state = state();
        let nodes = state.copy_of(CALL, graph);
        let exec = state.add(Object::Exec { nodes: nodes.len() });
        late::instantiated(exec, nodes.into_iter());
        put(out, exec)
    }
    bound cuGraphInstantiateWithFlags(out: *mut Handle, graph: Handle, _flags: u64) {
        cuGraphInstantiateWithParams(out, graph, ptr::null_mut())
    }
    bound cuGraphExecDestroy(exec: Handle) {
        let mut state = state();
        state.exec(CALL, exec);
        state.remove(CALL, exec);
        0
    }
    bound cuGraphExecUpdate_v2(exec: Handle, graph: Handle, _info: *mut c_void) {
        let state = state();
        let nodes = state.copy_of(CALL, graph);
        if state.exec(CALL, exec) != nodes.len() {
            return UPDATE_FAILURE;
        }
        late::instantiated(exec, nodes.into_iter());
        0
    }
    bound cuGraphDebugDotPrint(graph: Handle, _path: *const c_char, _flags: u32) {
        state().nodes(CALL, graph);
        0
    }
    bound cuGraphUpload(exec: Handle, stream: Handle) {
        let mut state = state();
        state.exec(CALL, exec);
        state.queue(CALL, stream).err().unwrap_or(0)
    }
    free cuGraphLaunch(exec: Handle, stream: Handle) {
        let mut state = state();
        state.exec(CALL, exec);
        let (capture, _) = state.stream(CALL, stream);
        if *capture != 0 && !*CAPTURES_LAUNCHES {
            *capture = 2;
            return CAPTURE_UNSUPPORTED;
        }
        match state.queue(CALL, stream) {
            Ok(true) => late::launch(exec, stream),
            Ok(false) => {}
            Err(code) => return code,
        }
        0
    }
    bound cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: *const Handle) {
        state().function(CALL, *params); // the first field
        cuGraphExecKernelNodeSetParams_v2(exec, node, params.cast())
    }
    bound cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, _params: *const c_void) {
        let state = state();
        state.exec(CALL, exec);
        state.node(CALL, node);
        0
    }
    bound cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, params: *const c_void, _context: Handle) {
        late::set(exec, node, params, SET);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
    bound cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, params: *const c_void, _context: Handle) {
        late::set(exec, node, params, COPY);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
    bound cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, params: *const c_void) {
        late::set(exec, node, params, FUNCTION);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
    bound cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32) {
        late::enable(exec, node, enabled != 0);
        cuGraphExecKernelNodeSetParams_v2(exec, node, ptr::null())
    }
}
