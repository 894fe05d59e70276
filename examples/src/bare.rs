//! The nodes of a graph once more, added, instantiated and launched by bare driver calls, to compare with.

use graph_runtime::cudarc::driver::sys::CUgraphNodeType::{
    self, CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET,
};
use graph_runtime::cudarc::driver::{DriverError, sys};
use graph_runtime::{AnyGraph, RawGraph};
use std::collections::HashMap;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null, null_mut};

/// The kinds of nodes that are added.
const KINDS: [CUgraphNodeType; 3] = [
    CU_GRAPH_NODE_TYPE_KERNEL,
    CU_GRAPH_NODE_TYPE_MEMCPY,
    CU_GRAPH_NODE_TYPE_MEMSET,
];

/// A graph of the same nodes and edges as another, whose memory and kernels it uses.
#[derive(Debug)]
pub(crate) struct Bare {
    stream: sys::CUstream,
    graph: sys::CUgraph,
    exec: sys::CUgraphExec,
}

/// A driver call, as a `Result`.
macro_rules! driver {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the context of the graph is current. Every handle is one that an earlier call made, or the graph's
        // own; those that `drop` destroys are null until then. Pointers are to locals and fields that outlive the call.
        unsafe { sys::$function($($argument),*) }.result()
    };
}

impl Bare {
    /// Makes the graph. `None` on the emulator, and if there are nodes other than kernels, copies and memsets.
    ///
    /// # Errors
    /// The error of the driver call that failed.
    ///
    /// # Safety
    /// The other graph lives longer, and neither changes nor runs while this one runs.
    pub(crate) unsafe fn of(other: &impl AnyGraph) -> Result<Option<Self>, DriverError> {
        let Some(raw) = other.raw() else {
            return Ok(None);
        };
        let mut context = null_mut();
        driver!(cuStreamGetCtx(raw.stream, &mut context))?;
        driver!(cuCtxSetCurrent(context))?;
        let mut bare = Self {
            stream: null_mut(),
            graph: null_mut(),
            exec: null_mut(),
        };
        Ok(bare.build(raw, context)?.then_some(bare))
    }

    /// Whether the graph could be built.
    fn build(&mut self, other: RawGraph, context: sys::CUcontext) -> Result<bool, DriverError> {
        let RawGraph { graph: other, exec, .. } = other;
        driver!(cuStreamCreate(&mut self.stream, 1))?;
        driver!(cuGraphCreate(&mut self.graph, 0))?;
        let mut count = 0;
        driver!(cuGraphGetNodes(other, null_mut(), &mut count))?;
        let mut nodes = vec![null_mut(); count];
        driver!(cuGraphGetNodes(other, nodes.as_mut_ptr(), &mut count))?;
        let mut added = HashMap::new();
        for node in nodes {
            let Some(new) = self.add(node, exec, context)? else {
                return Ok(false);
            };
            added.insert(node, new);
        }
        driver!(cuGraphGetEdges_v2(
            other,
            null_mut(),
            null_mut(),
            null_mut(),
            &mut count
        ))?;
        if count > 0 {
            // SAFETY: all of it is numbers.
            let mut data = vec![unsafe { zeroed::<sys::CUgraphEdgeData>() }; count];
            let (mut from, mut to) = (vec![null_mut(); count], vec![null_mut(); count]);
            let (first, second) = (from.as_mut_ptr(), to.as_mut_ptr());
            driver!(cuGraphGetEdges_v2(other, first, second, data.as_mut_ptr(), &mut count))?;
            for node in from.iter_mut().chain(&mut to) {
                *node = added[node];
            }
            let (first, second) = (from.as_ptr(), to.as_ptr());
            driver!(cuGraphAddDependencies_v2(
                self.graph,
                first,
                second,
                data.as_ptr(),
                count
            ))?;
        }
        // SAFETY: numbers, null pointers, and a result whose zero is a value.
        let mut params = unsafe { zeroed::<sys::CUDA_GRAPH_INSTANTIATE_PARAMS>() };
        driver!(cuGraphInstantiateWithParams(&mut self.exec, self.graph, &mut params))?;
        driver!(cuGraphUpload(self.exec, self.stream))?;
        self.synchronize()?;
        Ok(true)
    }

    /// Adds a node as `node` is in `exec`, without edges; `None` if it is of another kind.
    fn add(
        &self,
        node: sys::CUgraphNode,
        exec: sys::CUgraphExec,
        context: sys::CUcontext,
    ) -> Result<Option<sys::CUgraphNode>, DriverError> {
        let (mut new, mut kind, mut enabled) = (null_mut(), CU_GRAPH_NODE_TYPE_KERNEL, 1);
        driver!(cuGraphNodeGetType(node, &mut kind))?;
        if !KINDS.contains(&kind) {
            return Ok(None);
        }
        driver!(cuGraphNodeGetEnabled(exec, node, &mut enabled))?;
        match kind {
            _ if enabled == 0 => driver!(cuGraphAddEmptyNode(&mut new, self.graph, null(), 0))?,
            CU_GRAPH_NODE_TYPE_KERNEL => {
                // SAFETY: numbers and pointers that may be null.
                let mut params = unsafe { zeroed::<sys::CUDA_KERNEL_NODE_PARAMS>() };
                driver!(cuGraphKernelNodeGetParams_v2(node, &mut params))?;
                driver!(cuGraphAddKernelNode_v2(&mut new, self.graph, null(), 0, &params))?;
                driver!(cuGraphKernelNodeCopyAttributes(new, node))?;
            }
            CU_GRAPH_NODE_TYPE_MEMCPY => {
                let mut params = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
                driver!(cuGraphMemcpyNodeGetParams(node, params.as_mut_ptr()))?;
                driver!(cuGraphAddMemcpyNode(
                    &mut new,
                    self.graph,
                    null(),
                    0,
                    params.as_ptr(),
                    context
                ))?;
            }
            _ => {
                // SAFETY: numbers.
                let mut params = unsafe { zeroed::<sys::CUDA_MEMSET_NODE_PARAMS>() };
                driver!(cuGraphMemsetNodeGetParams(node, &mut params))?;
                driver!(cuGraphAddMemsetNode(&mut new, self.graph, null(), 0, &params, context))?;
            }
        }
        Ok(Some(new))
    }

    /// Launches the graph.
    ///
    /// # Errors
    /// The error of the driver call that failed.
    pub(crate) fn launch(&mut self) -> Result<(), DriverError> {
        driver!(cuGraphLaunch(self.exec, self.stream))
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// The error of the driver call that failed.
    pub(crate) fn synchronize(&mut self) -> Result<(), DriverError> {
        driver!(cuStreamSynchronize(self.stream))
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // Building may have failed at any call: handles that it did not make are null. A program that ends needs no
        // errors of destroying.
        if !self.exec.is_null() {
            let _ = self.synchronize();
            let _ = driver!(cuGraphExecDestroy(self.exec));
        }
        if !self.graph.is_null() {
            let _ = driver!(cuGraphDestroy(self.graph));
        }
        if !self.stream.is_null() {
            let _ = driver!(cuStreamDestroy_v2(self.stream));
        }
    }
}
