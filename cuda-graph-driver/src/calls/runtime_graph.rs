//! CUDA's runtime library, as far as graphs are concerned: each call does what the driver's call of the same purpose
//! does. Two functions changed in CUDA 13 without a new name.

use super::calls;
use super::executable;
use super::graph;
use super::launch::{FunctionParams, KernelParams};
use super::node::{self, CallParams};
use crate::argument::{In, Out, Text};
use crate::code::refuse;
use crate::code::{self, Done, NOT_SUPPORTED, fail};
use crate::graph::EdgeData;
use crate::handle::Handle;
use crate::settings::SETTINGS;
use crate::state::{current, state};
use crate::work::{CopyWords, Fill};
use std::ffi::c_char;

/// `struct cudaMemcpy3DParms`: an array, a position, and a pointer with pitch, width and height, of the source and of
/// the target; the extent and the kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct RuntimeCopy {
    sides: [[usize; 8]; 2],
    extent: [usize; 3],
    kind: u32,
}

/// The driver's parameters of a kernel node, of `struct cudaKernelNodeParams`: as the driver's before CUDA 12, but with
/// a kernel. Nobody may pass a function instead of one.
fn of_kernel(params: In<FunctionParams>) -> Done<KernelParams> {
    let params = params.get()?;
    let function = *state().kernel(params.function)?;
    Ok(KernelParams::from(FunctionParams { function, ..params }))
}

/// The driver's parameters of a copy.
fn of_copy(params: In<RuntimeCopy>) -> Done<CopyWords> {
    let RuntimeCopy { sides, extent, kind } = params.get()?;
    // If an array takes part, widths are in its texels.
    let texel = {
        let state = state();
        let array = sides.iter().map(|side| side[0]).find(|array| *array != 0);
        let array = array.map(|array| state.array(array)).transpose()?;
        array.map_or(1, |array| {
            usize::from(array.channels) * usize::from(array.channel.bytes())
        })
    };
    if kind > 4 {
        return refuse(format!("there is no kind {kind} of copies"));
    }
    // 0: host to host, 1: host to device, 2: device to host, 3: device to device, 4: as the addresses say.
    let mut words = [0; 25];
    for (first, is_host, [array, x, y, z, pointer, pitch, _, height]) in
        [(0, kind < 2, sides[0]), (11, kind.is_multiple_of(2), sides[1])]
    {
        let memory = match (array != 0, kind == 4, is_host) {
            (true, ..) => 3,
            (false, true, _) => 4,
            (false, false, true) => 1,
            (false, false, false) => 2,
        };
        let side = &mut words[first..first + 11];
        side[..5].copy_from_slice(&[x * if array != 0 { texel } else { 1 }, y, z, 0, memory]);
        side[if memory == 1 { 5 } else { 6 }] = pointer;
        side[7..].copy_from_slice(&[array, 0, pitch, height]);
    }
    words[22..].copy_from_slice(&extent);
    words[22] *= texel;
    Ok(words)
}

/// Some functions have the names of others in CUDA 13.
fn only_in(is_13: bool) -> Done {
    match is_13 == (SETTINGS.version >= 13_000) {
        true => Ok(()),
        false => fail(
            NOT_SUPPORTED,
            "this version of CUDA does not have the function, or with other parameters",
        ),
    }
}

/// Hands a call on to the driver's.
fn driver(code: u32) -> Done {
    match code {
        0 => Ok(()),
        code => fail(code, ""),
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> u32 {
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(asked: u32) -> *const c_char {
    code::runtime_name(asked).as_ptr()
}

/// Declares functions that do what the driver's of the same purpose do, with the same arguments.
macro_rules! same {
    ($($name:ident = $module:ident::$driver:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        calls! {
            $(Context $name($($argument: $type),*) { driver($module::$driver($($argument),*)) })*

            Nothing cudaRuntimeGetVersion(out: Out<i32>) { out.put(SETTINGS.runtime_version) }
            Context cudaGraphAddKernelNode(
                out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<FunctionParams>,
            ) {
                let params = of_kernel(params)?;
                driver(node::cuGraphAddKernelNode_v2(out, graph, nodes, count, In::from(&params)))
            }
            Context cudaGraphAddMemcpyNode(
                out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<RuntimeCopy>,
            ) {
                let params = of_copy(params)?;
                let context = current().unwrap_or_default();
                driver(node::cuGraphAddMemcpyNode(out, graph, nodes, count, In::from(&params), context))
            }
            Context cudaGraphAddMemsetNode(
                out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<Fill>,
            ) {
                driver(node::cuGraphAddMemsetNode(out, graph, nodes, count, params, current().unwrap_or_default()))
            }
            Context cudaGraphConditionalHandleCreate(out: Out<u64>, graph: Handle, default: u32, flags: u32) {
                let context = current().unwrap_or_default();
                driver(graph::cuGraphConditionalHandleCreate(out, graph, context, default, flags))
            }
            Context cudaGraphAddNode(
                out: Out<Handle>, graph: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize, params: Out<u64>,
            ) {
                only_in(true)?;
                driver(node::cuGraphAddNode_v2(out, graph, nodes, data, count, params))
            }
            Context cudaGraphAddNode_v2(
                out: Out<Handle>, graph: Handle, nodes: In<Handle>, data: In<EdgeData>, count: usize, params: Out<u64>,
            ) {
                only_in(false)?;
                driver(node::cuGraphAddNode_v2(out, graph, nodes, data, count, params))
            }
            Context cudaGraphAddDependencies(
                graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize,
            ) {
                only_in(true)?;
                driver(graph::cuGraphAddDependencies_v2(graph, from, to, data, count))
            }
            Context cudaGraphAddDependencies_v2(
                graph: Handle, from: In<Handle>, to: In<Handle>, data: In<EdgeData>, count: usize,
            ) {
                only_in(false)?;
                driver(graph::cuGraphAddDependencies_v2(graph, from, to, data, count))
            }
            Context cudaGraphMemcpyNodeSetParams(node: Handle, params: In<RuntimeCopy>) {
                let params = of_copy(params)?;
                driver(node::cuGraphMemcpyNodeSetParams(node, In::from(&params)))
            }
            Context cudaGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: In<FunctionParams>) {
                let params = of_kernel(params)?;
                driver(executable::cuGraphExecKernelNodeSetParams_v2(exec, node, In::from(&params)))
            }
            Context cudaGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, params: In<Fill>) {
                let context = current().unwrap_or_default();
                driver(executable::cuGraphExecMemsetNodeSetParams(exec, node, params, context))
            }
            Context cudaGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, params: In<RuntimeCopy>) {
                let (params, context) = (of_copy(params)?, current().unwrap_or_default());
                driver(executable::cuGraphExecMemcpyNodeSetParams(exec, node, In::from(&params), context))
            }
        }
    };
}

use super::update;

same! {
    cudaGraphCreate = graph::cuGraphCreate(out: Out<Handle>, flags: u32);
    cudaGraphDestroy = graph::cuGraphDestroy(graph: Handle);
    cudaGraphAddHostNode = node::cuGraphAddHostNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, params: In<CallParams>,
    );
    cudaGraphAddEmptyNode = node::cuGraphAddEmptyNode(out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize);
    cudaGraphAddEventRecordNode = node::cuGraphAddEventRecordNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    );
    cudaGraphAddEventWaitNode = node::cuGraphAddEventWaitNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, event: Handle,
    );
    cudaGraphAddChildGraphNode = node::cuGraphAddChildGraphNode(
        out: Out<Handle>, graph: Handle, nodes: In<Handle>, count: usize, child: Handle,
    );
    cudaGraphChildGraphNodeGetGraph = graph::cuGraphChildGraphNodeGetGraph(node: Handle, out: Out<Handle>);
    cudaGraphKernelNodeSetAttribute = node::cuGraphKernelNodeSetAttribute(node: Handle, attribute: u32, value: In<[u8; 64]>);
    cudaGraphMemsetNodeSetParams = node::cuGraphMemsetNodeSetParams(node: Handle, params: In<Fill>);
    cudaGraphInstantiateWithParams = executable::cuGraphInstantiateWithParams(out: Out<Handle>, graph: Handle, params: Out<u64>);
    cudaGraphExecUpdate = update::cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: Out<u32>);
    cudaGraphExecDestroy = executable::cuGraphExecDestroy(exec: Handle);
    cudaGraphDebugDotPrint = graph::cuGraphDebugDotPrint(graph: Handle, path: Text, flags: u32);
    cudaGraphUpload = executable::cuGraphUpload(exec: Handle, stream: Handle);
    cudaGraphLaunch = executable::cuGraphLaunch(exec: Handle, stream: Handle);
    cudaGraphExecHostNodeSetParams = executable::cuGraphExecHostNodeSetParams(
        exec: Handle, node: Handle, params: In<CallParams>,
    );
    cudaGraphNodeSetEnabled = executable::cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32);
}
