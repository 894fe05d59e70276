//! The two interfaces by which graphs are built and launched: that of the driver and, with the feature `cudart`, that
//! of the runtime library. They differ in names and in the shapes of parameters, and make the same graphs.

use super::calls::{call, result};
use super::conditional_node::{ConditionalHandle, ConditionalType, NodeParams};
use super::copy::{Copy3d, CopyParams};
use super::edge::{EdgeData, programmatic};
use super::graph::{ExecutableError, InstantiateParams, KernelNodeParams, MemsetNodeParams, UpdateInfo};
use super::host_function::HostNode;
use super::loaded_module::{KernelHandle, LoadedModule};
use super::node_attribute::NodeAttribute;
#[cfg(feature = "cudart")]
use super::runtime_library;
#[cfg(feature = "cudart")]
use super::runtime_structs::{CopyNode, KernelNode};
use super::types::{CUkernelNodeAttrID, CUkernelNodeAttrValue};
use super::{CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUkernel, CUstream, module};
use crate::error::CudaError;
use std::ffi::{CStr, c_char, c_uint};
use std::mem::offset_of;
use std::ptr;

/// The interface by which a graph is built and launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GraphApi {
    /// `cuGraphAddKernelNode_v2` and its kin.
    #[default]
    Driver,
    /// `cudaGraphAddKernelNode` and its kin. The library must be present ([`runtime_library::present`]).
    #[cfg(feature = "cudart")]
    Runtime,
}

/// The calls of the driver that have rows in the table below.
struct DriverCalls;

/// The calls of the runtime that have rows in the table below.
#[cfg(feature = "cudart")]
struct RuntimeCalls;

/// Makes a call of one interface or of the other, in an `unsafe fn` for this call.
macro_rules! choose {
    ($api:expr, $call:ident($($argument:expr),*)) => {
        match $api {
            // SAFETY: by the promise of the caller of the function that this is in.
            GraphApi::Driver => unsafe { DriverCalls::$call($($argument),*) },
            #[cfg(feature = "cudart")]
            // SAFETY: as above.
            GraphApi::Runtime => unsafe { RuntimeCalls::$call($($argument),*) },
        }
    };
}

/// Declares the calls that both interfaces have: for each, a method of [`GraphApi`], the function of the driver, and
/// the function of the runtime, each with its parameters as in [`calls`](super::calls::calls). The calls of `nodes` add
/// a node to a graph. The calls of `parts` have no method: methods that are written out below make them.
macro_rules! graph_calls {
    (
        nodes:
        $(
            $(#[$node_meta:meta])*
            fn $node:ident($($node_argument:ident: $node_type:ty),*)
                = $node_driver:ident $(($($node_parameters:tt)*))?, $node_runtime:ident $(($($node_others:tt)*))?;
        )*
        calls:
        $(
            $(#[$meta:meta])*
            fn $method:ident($($argument:ident: $type:ty),*) $(-> $out:ident: $result:ty)?
                = $driver:ident $(($($parameters:tt)*))?, $runtime:ident $(($($others:tt)*))?;
        )*
        parts:
        $(
            $(#[$part_meta:meta])*
            fn $part:ident($($part_argument:ident: $part_type:ty),*) $(-> $part_out:ident: $part_result:ty)?
                = $part_driver:ident $(($($part_parameters:tt)*))?, $part_runtime:ident $(($($part_others:tt)*))?
                $(, $newer:ident)?;
        )*
    ) => {
        impl DriverCalls {
            $(call! {
                {super::library::find, super::error::error, CudaError, driver} [] {$(#[$node_meta])*} $node
                [graph: CUgraph, after: &[CUgraphNode]] ($($node_argument: $node_type),*) [node: CUgraphNode] $node_driver
                [
                    node: *mut CUgraphNode = &mut node, graph: CUgraph,
                    dependencies: *const CUgraphNode = after.as_ptr(), count: usize = after.len()
                ]
                [$(($($node_parameters)*))?]
            })*
            $(call! {
                {super::library::find, super::error::error, CudaError, driver} [] {$(#[$meta])*} $method [] ($($argument: $type),*) [$($out: $result)?] $driver []
                [$(($($parameters)*))?]
            })*
            $(call! {
                {super::library::find, super::error::error, CudaError, driver} [$($newer)?] {$(#[$part_meta])*} $part [] ($($part_argument: $part_type),*)
                [$($part_out: $part_result)?] $part_driver []
                [$(($($part_parameters)*))?]
            })*
        }

        #[cfg(feature = "cudart")]
        #[expect(unused_variables, reason = "the runtime is told no context")]
        impl RuntimeCalls {
            $(call! {
                {runtime_library::find, runtime_library::error, CudaError, runtime} [] {$(#[$node_meta])*} $node
                [graph: CUgraph, after: &[CUgraphNode]] ($($node_argument: $node_type),*) [node: CUgraphNode] $node_runtime
                [
                    node: *mut CUgraphNode = &mut node, graph: CUgraph,
                    dependencies: *const CUgraphNode = after.as_ptr(), count: usize = after.len()
                ]
                [$(($($node_others)*))?]
            })*
            $(call! {
                {runtime_library::find, runtime_library::error, CudaError, runtime} [] {$(#[$meta])*} $method [] ($($argument: $type),*) [$($out: $result)?] $runtime []
                [$(($($others)*))?]
            })*
            $(call! {
                {runtime_library::find, runtime_library::error, CudaError, runtime} [$($newer)?] {$(#[$part_meta])*} $part [] ($($part_argument: $part_type),*)
                [$($part_out: $part_result)?] $part_runtime []
                [$(($($part_others)*))?]
            })*
        }

        impl GraphApi {
            $(method! {
                {$(#[$node_meta])*} $node_driver $node_runtime
                $node(graph: CUgraph, after: &[CUgraphNode] $(, $node_argument: $node_type)*) -> [CUgraphNode]
            })*
            $(method! {
                {$(#[$meta])*} $driver $runtime $method($($argument: $type),*) -> [$($result)?]
            })*
        }

        /// CUDA's names of the calls that have rows, for both interfaces.
        #[cfg(feature = "fault-injection")]
        pub(super) const NAMES: &[&str] = &[
            $(stringify!($node_driver), stringify!($node_runtime),)*
            $(stringify!($driver), stringify!($runtime),)*
            $(stringify!($part_driver), stringify!($part_runtime),)*
        ];

        /// CUDA's names of the calls.
        #[expect(dead_code, reason = "not every call is announced")]
        pub(crate) struct Names {
            $(pub(crate) $node: &'static str,)*
            $(pub(crate) $method: &'static str,)*
            $(pub(crate) $part: &'static str,)*
        }

        impl Names {
            const DRIVER: Self = Self {
                $($node: stringify!($node_driver),)*
                $($method: stringify!($driver),)*
                $($part: stringify!($part_driver),)*
            };
            #[cfg(feature = "cudart")]
            const RUNTIME: Self = Self {
                $($node: stringify!($node_runtime),)*
                $($method: stringify!($runtime),)*
                $($part: stringify!($part_runtime),)*
            };
        }
    };
}

/// A method of [`GraphApi`] for a call of both interfaces.
macro_rules! method {
    (
        {$(#[$meta:meta])*} $driver:ident $runtime:ident
        $method:ident($($argument:ident: $type:ty),*) -> [$($result:ty)?]
    ) => {
        #[doc = concat!("`", stringify!($driver), "` or `", stringify!($runtime), "`")]
        ///
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// The arguments are as CUDA asks. For the runtime, their context is current, and primary.
        #[inline]
        pub(crate) unsafe fn $method(self, $($argument: $type),*) -> Result<result!($($result)?), CudaError> {
            choose!(self, $method($($argument),*))
        }
    };
}

graph_calls! {
    nodes:
    fn add_empty_node() = cuGraphAddEmptyNode, cudaGraphAddEmptyNode;
    /// The node has a copy of `child`.
    fn add_child_node(child: CUgraph) = cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode;
    fn add_record_node(event: CUevent) = cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode;
    fn add_wait_node(event: CUevent) = cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode;
    fn add_host_node(params: &HostNode)
        = cuGraphAddHostNode(params: *const HostNode as *const sys::CUDA_HOST_NODE_PARAMS),
        cudaGraphAddHostNode(params: *const HostNode);
    fn add_memset_node(params: &MemsetNodeParams, context: CUcontext)
        = cuGraphAddMemsetNode(params: *const MemsetNodeParams as *const sys::CUDA_MEMSET_NODE_PARAMS, context: CUcontext),
        cudaGraphAddMemsetNode(params: *const MemsetNodeParams);
    fn add_memcpy_node(copy: &Copy3d, context: CUcontext)
        = cuGraphAddMemcpyNode(params: *const CopyParams as *const sys::CUDA_MEMCPY3D = &copy.of_driver(), context: CUcontext),
        cudaGraphAddMemcpyNode(params: *const CopyNode = &CopyNode::new(copy));

    calls:
    fn create() -> graph: CUgraph
        = cuGraphCreate(graph: *mut CUgraph = &mut graph, flags: c_uint = 0),
        cudaGraphCreate(graph: *mut CUgraph = &mut graph, flags: c_uint = 0);
    fn destroy(graph: CUgraph) = cuGraphDestroy, cudaGraphDestroy;
    fn child(node: CUgraphNode) -> graph: CUgraph
        = cuGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph = &mut graph),
        cudaGraphChildGraphNodeGetGraph(node: CUgraphNode, graph: *mut CUgraph = &mut graph);
    fn destroy_executable(exec: CUgraphExec) = cuGraphExecDestroy, cudaGraphExecDestroy;
    /// The flags are the same for both.
    fn print(graph: CUgraph, path: &CStr, flags: u32)
        = cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char = path.as_ptr(), flags: c_uint),
        cudaGraphDebugDotPrint(graph: CUgraph, path: *const c_char = path.as_ptr(), flags: c_uint);
    fn upload(exec: CUgraphExec, stream: CUstream) = cuGraphUpload, cudaGraphUpload;
    fn launch(exec: CUgraphExec, stream: CUstream) = cuGraphLaunch, cudaGraphLaunch;
    fn set_memset_node(exec: CUgraphExec, node: CUgraphNode, params: &MemsetNodeParams, context: CUcontext)
        = cuGraphExecMemsetNodeSetParams(
            exec: CUgraphExec, node: CUgraphNode,
            params: *const MemsetNodeParams as *const sys::CUDA_MEMSET_NODE_PARAMS, context: CUcontext,
        ),
        cudaGraphExecMemsetNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const MemsetNodeParams);
    fn set_memcpy_node(exec: CUgraphExec, node: CUgraphNode, copy: &Copy3d, context: CUcontext)
        = cuGraphExecMemcpyNodeSetParams(
            exec: CUgraphExec, node: CUgraphNode, params: *const CopyParams as *const sys::CUDA_MEMCPY3D = &copy.of_driver(), context: CUcontext,
        ),
        cudaGraphExecMemcpyNodeSetParams(
            exec: CUgraphExec, node: CUgraphNode, params: *const CopyNode = &CopyNode::new(copy),
        );
    fn set_host_node(exec: CUgraphExec, node: CUgraphNode, params: &HostNode)
        = cuGraphExecHostNodeSetParams(
            exec: CUgraphExec, node: CUgraphNode, params: *const HostNode as *const sys::CUDA_HOST_NODE_PARAMS,
        ),
        cudaGraphExecHostNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const HostNode);
    /// Changes the graph itself, not an executable one.
    fn move_memset_node(node: CUgraphNode, params: &MemsetNodeParams)
        = cuGraphMemsetNodeSetParams(
            node: CUgraphNode, params: *const MemsetNodeParams as *const sys::CUDA_MEMSET_NODE_PARAMS,
        ),
        cudaGraphMemsetNodeSetParams(node: CUgraphNode, params: *const MemsetNodeParams);
    /// Changes the graph itself, not an executable one.
    fn move_memcpy_node(node: CUgraphNode, copy: &Copy3d)
        = cuGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const CopyParams as *const sys::CUDA_MEMCPY3D = &copy.of_driver()),
        cudaGraphMemcpyNodeSetParams(node: CUgraphNode, params: *const CopyNode = &CopyNode::new(copy));
    fn set_node_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: bool)
        = cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint = u32::from(enabled)),
        cudaGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint = u32::from(enabled));
    /// The attributes and their values are the same for both.
    fn set_attribute(node: CUgraphNode, attribute: NodeAttribute)
        = cuGraphKernelNodeSetAttribute(
            node: CUgraphNode,
            name: CUkernelNodeAttrID as sys::CUkernelNodeAttrID = attribute.name(),
            value: *const CUkernelNodeAttrValue as *const sys::CUkernelNodeAttrValue = &attribute.value(),
        ),
        cudaGraphKernelNodeSetAttribute(
            node: CUgraphNode,
            name: CUkernelNodeAttrID = attribute.name(),
            value: *const CUkernelNodeAttrValue = &attribute.value(),
        );

    parts:
    fn add_kernel_node(graph: CUgraph, after: &[CUgraphNode], params: &KernelNodeParams) -> node: CUgraphNode
        = cuGraphAddKernelNode_v2(
            node: *mut CUgraphNode = &mut node, graph: CUgraph, dependencies: *const CUgraphNode = after.as_ptr(),
            count: usize = after.len(), params: *const KernelNodeParams as *const sys::CUDA_KERNEL_NODE_PARAMS,
        ),
        cudaGraphAddKernelNode(
            node: *mut CUgraphNode = &mut node, graph: CUgraph, dependencies: *const CUgraphNode = after.as_ptr(),
            count: usize = after.len(), params: *const KernelNode = &KernelNode::new(params),
        );
    /// The driver's function has a second version, which takes more time and makes the same change. This first one,
    /// which the library keeps for programs made before CUDA 12, reads the beginning of the same structure (see below):
    /// all but `kern` and `ctx`. By CUDA's header, the second one reads `kern` only if `func` is null, and ignores
    /// `ctx` unless `func` is null. It is not null: the driver gets kernels as functions ([`GraphApi::of_kernel`]).
    fn set_kernel_node(exec: CUgraphExec, node: CUgraphNode, params: &KernelNodeParams)
        = cuGraphExecKernelNodeSetParams(exec: CUgraphExec, node: CUgraphNode, params: *const KernelNodeParams),
        cudaGraphExecKernelNodeSetParams(
            exec: CUgraphExec, node: CUgraphNode, params: *const KernelNode = &KernelNode::new(params),
        ), newer;
    fn instantiate(graph: CUgraph, params: &mut InstantiateParams) -> exec: CUgraphExec
        = cuGraphInstantiateWithParams(
            exec: *mut CUgraphExec = &mut exec, graph: CUgraph,
            params: *mut InstantiateParams as *mut sys::CUDA_GRAPH_INSTANTIATE_PARAMS,
        ),
        cudaGraphInstantiateWithParams(
            exec: *mut CUgraphExec = &mut exec, graph: CUgraph, params: *mut InstantiateParams,
        );
    fn update(exec: CUgraphExec, graph: CUgraph, info: &mut UpdateInfo)
        = cuGraphExecUpdate_v2(
            exec: CUgraphExec, graph: CUgraph, info: *mut UpdateInfo as *mut sys::CUgraphExecUpdateResultInfo,
        ),
        cudaGraphExecUpdate(exec: CUgraphExec, graph: CUgraph, info: *mut UpdateInfo);
    fn create_handle(graph: CUgraph, context: CUcontext) -> handle: ConditionalHandle
        = cuGraphConditionalHandleCreate(
            handle: *mut u64 = &mut handle, graph: CUgraph, context: CUcontext, default: c_uint = 0, flags: c_uint = 0,
        ),
        cudaGraphConditionalHandleCreate(
            handle: *mut u64 = &mut handle, graph: CUgraph, default: c_uint = 0, flags: c_uint = 0,
        ), newer;
    /// All edges are plain ones, without data.
    fn add_conditional_node(graph: CUgraph, after: &[CUgraphNode], params: &mut NodeParams) -> node: CUgraphNode
        = cuGraphAddNode_v2(
            node: *mut CUgraphNode = &mut node, graph: CUgraph, dependencies: *const CUgraphNode = after.as_ptr(),
            data: *const EdgeData = ptr::null(), count: usize = after.len(), params: *mut NodeParams,
        ),
        cudaGraphAddNode(
            node: *mut CUgraphNode = &mut node, graph: CUgraph, dependencies: *const CUgraphNode = after.as_ptr(),
            data: *const EdgeData = ptr::null(), count: usize = after.len(),
            params: *mut NodeParams = params.without_context(),
        ), newer;
    fn add_programmatic(graph: CUgraph, from: &[CUgraphNode], to: &[CUgraphNode], data: &[EdgeData])
        = cuGraphAddDependencies_v2(
            graph: CUgraph, from: *const CUgraphNode = from.as_ptr(), to: *const CUgraphNode = to.as_ptr(),
            data: *const EdgeData = data.as_ptr(), count: usize = from.len(),
        ),
        cudaGraphAddDependencies(
            graph: CUgraph, from: *const CUgraphNode = from.as_ptr(), to: *const CUgraphNode = to.as_ptr(),
            data: *const EdgeData = data.as_ptr(), count: usize = from.len(),
        ), newer;
}

const _: () = {
    // The structure of the first version of `set_kernel_node` has 56 bytes, up to the end of `extra`.
    assert!(offset_of!(KernelNodeParams, extra) == 48 && offset_of!(KernelNodeParams, kern) == 56);
    assert!(offset_of!(KernelNodeParams, ctx) == 64);
};

/// Calls whose parameters, or whose errors, are not those of a row. As the calls above, each asks that the arguments
/// are as CUDA asks and that, for the runtime, their context is current, and primary.
impl GraphApi {
    /// The interface that takes a kernel, of which this is the handle for the runtime: null for functions that others
    /// have loaded, which only the driver takes.
    fn of_kernel(self, kernel: CUkernel) -> Self {
        if kernel.is_null() { Self::Driver } else { self }
    }

    /// `cuGraphAddKernelNode_v2` or `cudaGraphAddKernelNode`
    pub(crate) unsafe fn add_kernel_node(
        self,
        graph: CUgraph,
        after: &[CUgraphNode],
        params: &KernelNodeParams,
    ) -> Result<CUgraphNode, CudaError> {
        choose!(self.of_kernel(params.kern), add_kernel_node(graph, after, params))
    }

    /// `cuGraphExecKernelNodeSetParams` or `cudaGraphExecKernelNodeSetParams`
    #[inline]
    pub(crate) unsafe fn set_kernel_node(
        self,
        exec: CUgraphExec,
        node: CUgraphNode,
        params: &KernelNodeParams,
    ) -> Result<(), CudaError> {
        choose!(self.of_kernel(params.kern), set_kernel_node(exec, node, params))
    }

    /// `cuGraphInstantiateWithParams` or `cudaGraphInstantiateWithParams`
    pub(crate) unsafe fn instantiate(self, graph: CUgraph, flags: u64) -> Result<CUgraphExec, ExecutableError> {
        let mut params = InstantiateParams::new(flags);
        choose!(self, instantiate(graph, &mut params)).map_err(|error| params.failed(error))
    }

    /// `cuGraphExecUpdate_v2` or `cudaGraphExecUpdate`: later launches of `exec` run the nodes of `graph`, which has
    /// the same shape
    pub(crate) unsafe fn update(self, exec: CUgraphExec, graph: CUgraph) -> Result<(), ExecutableError> {
        let mut info = UpdateInfo::new();
        choose!(self, update(exec, graph, &mut info)).map_err(|error| info.failed(error))
    }

    /// `cuGraphConditionalHandleCreate` or `cudaGraphConditionalHandleCreate`, without a default value: a kernel must
    /// set it before its node runs
    pub(crate) unsafe fn create_handle(
        self,
        graph: CUgraph,
        context: CUcontext,
    ) -> Result<ConditionalHandle, CudaError> {
        choose!(self, create_handle(graph, context))
    }

    /// `cuGraphAddNode_v2` or `cudaGraphAddNode` of a conditional node with `size` bodies, which it returns: graphs
    /// that belong to the node
    pub(crate) unsafe fn add_conditional_node(
        self,
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: ConditionalHandle,
        kind: ConditionalType,
        size: usize,
        context: CUcontext,
    ) -> Result<(CUgraphNode, Vec<CUgraph>), CudaError> {
        let mut params = NodeParams::new(handle, kind, size, context);
        let node = choose!(self, add_conditional_node(graph, after, &mut params))?;
        // SAFETY: the call has succeeded.
        Ok((node, unsafe { params.bodies() }))
    }

    /// `cuGraphAddDependencies_v2` or `cudaGraphAddDependencies` of programmatic edges from each of `before` to `node`
    pub(crate) unsafe fn add_programmatic(
        self,
        graph: CUgraph,
        before: &[CUgraphNode],
        node: CUgraphNode,
    ) -> Result<(), CudaError> {
        let (to, data) = programmatic(before, node);
        choose!(self, add_programmatic(graph, before, &to, &data))
    }
}

impl GraphApi {
    /// The interface that the environment asks for.
    pub(crate) fn of_environment() -> Self {
        #[cfg(feature = "cudart")]
        if std::env::var_os("CUDA_GRAPH_RUNTIME_API").is_some_and(|value| !value.is_empty() && value != "0") {
            return GraphApi::Runtime;
        }
        GraphApi::Driver
    }

    /// Whether a launch needs its context to be current. The runtime would make another one.
    #[inline]
    pub(crate) fn needs_context(self) -> bool {
        match self {
            GraphApi::Driver => false,
            #[cfg(feature = "cudart")]
            GraphApi::Runtime => true,
        }
    }

    /// CUDA's names of the calls.
    pub(crate) fn names(self) -> &'static Names {
        match self {
            GraphApi::Driver => &Names::DRIVER,
            #[cfg(feature = "cudart")]
            GraphApi::Runtime => &Names::RUNTIME,
        }
    }

    /// The name of the call that loads modules.
    pub(crate) fn load_name(self) -> &'static str {
        match self {
            GraphApi::Driver => "cuModuleLoadData",
            #[cfg(feature = "cudart")]
            GraphApi::Runtime => "cuLibraryLoadData",
        }
    }

    /// The name of the call that finds a kernel.
    pub(crate) fn function_name(self) -> &'static str {
        match self {
            GraphApi::Driver => "cuModuleGetFunction",
            #[cfg(feature = "cudart")]
            GraphApi::Runtime => "cuLibraryGetKernel",
        }
    }

    /// Loads a module into the current context.
    ///
    /// # Safety
    ///
    /// A context is current. The image is PTX with a zero at its end, or a cubin.
    pub(crate) unsafe fn load(self, image: &[u8]) -> Result<LoadedModule, CudaError> {
        match self {
            // SAFETY: by the caller's promise; the image outlives the call.
            GraphApi::Driver => unsafe { module::load(image) }.map(LoadedModule::of_driver),
            #[cfg(feature = "cudart")]
            // SAFETY: as above.
            GraphApi::Runtime => unsafe { LoadedModule::of_runtime(image) },
        }
    }

    /// As [`GraphApi::load`], after that has failed; an error comes with the messages of the driver's PTX compiler.
    ///
    /// # Safety
    ///
    /// As for [`GraphApi::load`].
    pub(crate) unsafe fn load_explained(self, image: &[u8]) -> Result<LoadedModule, (CudaError, String)> {
        // SAFETY: by the caller's promise.
        let loaded = unsafe { module::load_explained(image) }?;
        match self {
            GraphApi::Driver => Ok(LoadedModule::of_driver(loaded)),
            // A library may be compiled later than it is loaded, so it is given no memory for messages.
            #[cfg(feature = "cudart")]
            GraphApi::Runtime => {
                // SAFETY: it was loaded above, and nobody else knows of it.
                let _ = unsafe { module::unload(loaded) };
                // SAFETY: by the caller's promise.
                unsafe { LoadedModule::of_runtime(image) }.map_err(|error| (error, String::new()))
            }
        }
    }
}

impl KernelHandle {
    /// The interface that adds nodes of the kernel: the driver's if the runtime does not take it.
    pub(crate) fn api(self, api: GraphApi) -> GraphApi {
        api.of_kernel(self.kernel)
    }
}
