//! The two interfaces by which graphs are built and launched: that of the driver and, with the feature `cudart`, that
//! of the runtime library. They differ in names and in the shapes of parameters, and make the same graphs.

use super::attribute::NodeAttribute;
use super::conditional::{ConditionalHandle, ConditionalType};
use super::copy::Copy3d;
use super::graph::{InstantiateError, KernelNodeParams, MemsetNodeParams, UpdateError};
use super::loaded::{KernelHandle, LoadedModule};
#[cfg(feature = "cudart")]
use super::runtime;
use super::{CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUstream, module};
use crate::error::CudaError;
use std::ffi::{CStr, c_void};

/// The interface by which a graph is built and launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GraphApi {
    /// `cuGraphAddKernelNode_v2` and its kin.
    #[default]
    Driver,
    /// `cudaGraphAddKernelNode` and its kin. The library must be present ([`runtime::present`]).
    #[cfg(feature = "cudart")]
    Runtime,
}

/// Declares the calls that both interfaces have: the method, the path of the driver's function in `driver`, and CUDA's
/// names. The runtime's function has the method's name.
macro_rules! calls {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty:
       $module:ident::$function:ident, $driver:literal, $runtime:literal;)*) => {
        impl GraphApi {
            $(
                #[doc = concat!("`", $driver, "` or `", $runtime, "`")]
                ///
                /// # Safety
                ///
                /// The arguments are as CUDA asks. For the runtime, their context is current, and primary.
                #[inline]
                pub(crate) unsafe fn $method(self, $($argument: $type),*) -> $result {
                    match self {
                        // SAFETY: by the caller's promise.
                        GraphApi::Driver => unsafe { super::$module::$function($($argument),*) },
                        #[cfg(feature = "cudart")]
                        // SAFETY: as above.
                        GraphApi::Runtime => unsafe { runtime::$method($($argument),*) },
                    }
                }
            )*
        }

        /// CUDA's names of the calls.
        #[expect(dead_code, reason = "not every call is announced")]
        pub(crate) struct Names {
            $(pub(crate) $method: &'static str,)*
        }

        impl Names {
            const DRIVER: Self = Self { $($method: $driver,)* };
            #[cfg(feature = "cudart")]
            const RUNTIME: Self = Self { $($method: $runtime,)* };
        }
    };
}

calls! {
    create() -> Result<CUgraph, CudaError>: graph::create, "cuGraphCreate", "cudaGraphCreate";
    destroy(graph: CUgraph) -> Result<(), CudaError>: graph::destroy, "cuGraphDestroy", "cudaGraphDestroy";
    add_kernel_node(graph: CUgraph, after: &[CUgraphNode], params: &KernelNodeParams) -> Result<CUgraphNode, CudaError>:
        graph::add_kernel_node, "cuGraphAddKernelNode_v2", "cudaGraphAddKernelNode";
    add_memcpy_node(graph: CUgraph, after: &[CUgraphNode], copy: &Copy3d, context: CUcontext)
        -> Result<CUgraphNode, CudaError>:
        graph::add_memcpy_node, "cuGraphAddMemcpyNode", "cudaGraphAddMemcpyNode";
    add_memset_node(graph: CUgraph, after: &[CUgraphNode], params: &MemsetNodeParams, context: CUcontext)
        -> Result<CUgraphNode, CudaError>:
        graph::add_memset_node, "cuGraphAddMemsetNode", "cudaGraphAddMemsetNode";
    add_empty_node(graph: CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode, CudaError>:
        graph::add_empty_node, "cuGraphAddEmptyNode", "cudaGraphAddEmptyNode";
    add_child_node(graph: CUgraph, after: &[CUgraphNode], child: CUgraph) -> Result<CUgraphNode, CudaError>:
        graph::add_child_node, "cuGraphAddChildGraphNode", "cudaGraphAddChildGraphNode";
    child(node: CUgraphNode) -> Result<CUgraph, CudaError>:
        graph::child, "cuGraphChildGraphNodeGetGraph", "cudaGraphChildGraphNodeGetGraph";
    add_host_node(
        graph: CUgraph,
        after: &[CUgraphNode],
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void
    ) -> Result<CUgraphNode, CudaError>: host::add_node, "cuGraphAddHostNode", "cudaGraphAddHostNode";
    add_record_node(graph: CUgraph, after: &[CUgraphNode], event: CUevent) -> Result<CUgraphNode, CudaError>:
        event::add_record_node, "cuGraphAddEventRecordNode", "cudaGraphAddEventRecordNode";
    add_wait_node(graph: CUgraph, after: &[CUgraphNode], event: CUevent) -> Result<CUgraphNode, CudaError>:
        event::add_wait_node, "cuGraphAddEventWaitNode", "cudaGraphAddEventWaitNode";
    create_handle(graph: CUgraph, context: CUcontext) -> Result<ConditionalHandle, CudaError>:
        conditional::create_handle, "cuGraphConditionalHandleCreate", "cudaGraphConditionalHandleCreate";
    add_conditional_node(
        graph: CUgraph,
        after: &[CUgraphNode],
        handle: ConditionalHandle,
        kind: ConditionalType,
        size: usize,
        context: CUcontext
    ) -> Result<(CUgraphNode, Vec<CUgraph>), CudaError>:
        conditional::add_node, "cuGraphAddNode_v2", "cudaGraphAddNode";
    add_programmatic(graph: CUgraph, before: &[CUgraphNode], node: CUgraphNode) -> Result<(), CudaError>:
        edge::add_programmatic, "cuGraphAddDependencies_v2", "cudaGraphAddDependencies";
    set_attribute(node: CUgraphNode, attribute: NodeAttribute) -> Result<(), CudaError>:
        attribute::set, "cuGraphKernelNodeSetAttribute", "cudaGraphKernelNodeSetAttribute";
    instantiate(graph: CUgraph, flags: u64) -> Result<CUgraphExec, InstantiateError>:
        graph::instantiate, "cuGraphInstantiateWithParams", "cudaGraphInstantiateWithParams";
    update(exec: CUgraphExec, graph: CUgraph) -> Result<(), UpdateError>:
        graph::update, "cuGraphExecUpdate_v2", "cudaGraphExecUpdate";
    destroy_executable(exec: CUgraphExec) -> Result<(), CudaError>:
        graph::destroy_executable, "cuGraphExecDestroy", "cudaGraphExecDestroy";
    print(graph: CUgraph, path: &CStr, flags: u32) -> Result<(), CudaError>:
        graph::print, "cuGraphDebugDotPrint", "cudaGraphDebugDotPrint";
    upload(exec: CUgraphExec, stream: CUstream) -> Result<(), CudaError>:
        graph::upload, "cuGraphUpload", "cudaGraphUpload";
    launch(exec: CUgraphExec, stream: CUstream) -> Result<(), CudaError>:
        graph::launch, "cuGraphLaunch", "cudaGraphLaunch";
    set_kernel_node(exec: CUgraphExec, node: CUgraphNode, params: &KernelNodeParams) -> Result<(), CudaError>:
        graph::set_kernel_node, "cuGraphExecKernelNodeSetParams_v2", "cudaGraphExecKernelNodeSetParams";
    set_memset_node(exec: CUgraphExec, node: CUgraphNode, params: &MemsetNodeParams, context: CUcontext)
        -> Result<(), CudaError>:
        graph::set_memset_node, "cuGraphExecMemsetNodeSetParams", "cudaGraphExecMemsetNodeSetParams";
    set_memcpy_node(exec: CUgraphExec, node: CUgraphNode, copy: &Copy3d, context: CUcontext)
        -> Result<(), CudaError>:
        graph::set_memcpy_node, "cuGraphExecMemcpyNodeSetParams", "cudaGraphExecMemcpyNodeSetParams";
    set_host_node(
        exec: CUgraphExec,
        node: CUgraphNode,
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void
    ) -> Result<(), CudaError>: host::set_node, "cuGraphExecHostNodeSetParams", "cudaGraphExecHostNodeSetParams";
    move_memset_node(node: CUgraphNode, params: &MemsetNodeParams) -> Result<(), CudaError>:
        graph::move_memset_node, "cuGraphMemsetNodeSetParams", "cudaGraphMemsetNodeSetParams";
    move_memcpy_node(node: CUgraphNode, copy: &Copy3d) -> Result<(), CudaError>:
        graph::move_memcpy_node, "cuGraphMemcpyNodeSetParams", "cudaGraphMemcpyNodeSetParams";
    set_node_enabled(exec: CUgraphExec, node: CUgraphNode, enabled: bool) -> Result<(), CudaError>:
        graph::set_node_enabled, "cuGraphNodeSetEnabled", "cudaGraphNodeSetEnabled";
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

    /// The name of the call that loads PTX.
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

    /// Loads PTX into the current context.
    ///
    /// # Safety
    ///
    /// A context is current.
    pub(crate) unsafe fn load(self, image: &CStr) -> Result<LoadedModule, CudaError> {
        match self {
            // SAFETY: by the caller's promise; the image is a string that outlives the call.
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
    pub(crate) unsafe fn load_explained(self, image: &CStr) -> Result<LoadedModule, (CudaError, String)> {
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
        match api {
            GraphApi::Driver => GraphApi::Driver,
            #[cfg(feature = "cudart")]
            GraphApi::Runtime if runtime::takes(self.kernel) => GraphApi::Runtime,
            #[cfg(feature = "cudart")]
            GraphApi::Runtime => GraphApi::Driver,
        }
    }
}
