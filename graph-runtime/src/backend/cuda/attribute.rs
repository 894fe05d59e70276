//! Attributes of kernel nodes: whether the device allows them, and setting them.

use super::kernels::Kernels;
use crate::devices::cuda::Cuda;
use crate::devices::options::InstantiateOptions;
use crate::driver::{
    self, CUdevice_attribute as DeviceAttribute, CUfunction_attribute as FunctionAttribute, CUgraphNode, NodeAttribute,
};
use crate::error::CudaError;
use crate::kernel::KernelFacts;
use crate::program::{KernelAttributes, KernelOp, Program};

/// The first compute capability with clusters.
const CLUSTERS: (i32, i32) = (9, 0);
/// The most blocks in a cluster for which every such device has room (CUDA programming guide, "thread block clusters").
const PORTABLE_CLUSTER: u64 = 8;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE_ON_LAUNCH: u64 = 1;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: u64 = 4;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY`
const USE_NODE_PRIORITY: u64 = 8;

/// The flags to instantiate a graph with.
pub(super) fn flags(program: &Program, options: InstantiateOptions) -> u64 {
    let InstantiateOptions {
        upload: _, // `make_ready` uploads, after it has disabled nodes
        auto_free_on_launch,
        device_launch,
        node_priority,
    } = options;
    let flag = |set, flag| if set { flag } else { 0 };
    flag(auto_free_on_launch, AUTO_FREE_ON_LAUNCH)
        | flag(device_launch, DEVICE_LAUNCH)
        | flag(
            node_priority.unwrap_or_else(|| has_priorities(program)),
            USE_NODE_PRIORITY,
        )
}

/// Whether any node has a priority. CUDA ignores priorities unless a flag asks for them.
fn has_priorities(program: &Program) -> bool {
    let mut attributes = program.ops.iter().filter_map(|op| op.kernel()?.attributes.as_ref());
    attributes.any(|attributes| attributes.priority.is_some())
}

/// Allows a function the clusters in which a node launches it, if they are larger than portable.
pub(super) fn permit(kernels: &Kernels, facts: &KernelFacts, kernel: &KernelOp) -> Result<(), CudaError> {
    let large = |[x, y, z]: [u32; 3]| u64::from(x) * u64::from(y) * u64::from(z) > PORTABLE_CLUSTER;
    if !kernel.cluster().or(facts.limits.required_cluster).is_some_and(large) {
        return Ok(());
    }
    let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    kernels.set(kernels.handles(kernel.function), attribute, 1)
}

/// Refuses attributes that the device does not allow for a node; the error says why. The context is current, and the
/// function is set up for the launch's shared memory ([`Kernels::permit`]): the device's answer depends on it.
pub(super) fn check(cuda: &Cuda, kernels: &Kernels, kernel: &KernelOp) -> Result<(), String> {
    let Some(attributes) = &kernel.attributes else {
        return Ok(());
    };
    let asked = |error: CudaError| format!("cannot be checked: {error}");
    if attributes.cluster.is_some_and(|blocks| blocks != [1; 3]) {
        let (major, minor) = cuda.capability().map_err(asked)?;
        if (major, minor) < CLUSTERS {
            return Err(format!(
                "runs in clusters, which need compute capability 9.0, but the device has {major}.{minor}"
            ));
        }
    }
    if attributes.cooperative {
        check_cooperative(cuda, kernels, kernel)?;
    }
    let Some(priority) = attributes.priority else {
        return Ok(());
    };
    // SAFETY: the context is current.
    let (first, last) = unsafe { driver::node_attribute::priority_range() }.map_err(asked)?;
    if (first..=last).contains(&priority) {
        return Ok(());
    }
    Err(format!(
        "has the priority {priority}, but those of this device are {first} (the first to run) to {last}"
    ))
}

/// Refuses an update of a node if the device does not allow the new launch; the error says why.
pub(super) fn check_change(cuda: &Cuda, kernels: &Kernels, kernel: &KernelOp) -> Result<(), String> {
    if kernel.attributes.is_none() {
        return Ok(());
    }
    let asked = |error: CudaError| format!("cannot be checked: {error}");
    cuda.bind().map_err(asked)?;
    kernels.allow(kernel.function, kernel.config.shared).map_err(asked)?;
    check(cuda, kernels, kernel)
}

/// Refuses a cooperative launch if the device has no room for all its blocks at the same time.
fn check_cooperative(cuda: &Cuda, kernels: &Kernels, kernel: &KernelOp) -> Result<(), String> {
    let asked = |error: CudaError| format!("cannot be checked: {error}");
    let supported = cuda.attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
    if supported.map_err(asked)? == 0 {
        return Err("is launched cooperatively, which the device cannot do".to_owned());
    }
    let config = &kernel.config;
    let threads = config.block_threads();
    let mut each = u32::MAX;
    for handle in kernels.handles(kernel.function) {
        // SAFETY: the function's module is loaded until `unload`; the context is current.
        let room =
            unsafe { driver::node_attribute::active_blocks(handle.function, threads as i32, config.shared as usize) };
        each = each.min(room.map_err(asked)?);
    }
    let processors = cuda.attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    let limit = u128::from(each) * processors.map_err(asked)? as u128;
    if config.blocks() <= limit {
        return Ok(());
    }
    Err(format!(
        "is launched cooperatively in {} blocks of {threads} threads, but the device has room for {limit} at the same time",
        config.blocks()
    ))
}

/// Sets the attributes of a kernel node.
///
/// # Safety
///
/// The node lives, is a kernel node, and the graph that it is in has not been instantiated.
pub(super) unsafe fn set(cuda: &Cuda, node: CUgraphNode, attributes: &KernelAttributes) -> Result<(), CudaError> {
    // SAFETY: by the caller's promise.
    let set = |attribute| unsafe { cuda.api().set_attribute(node, attribute) };
    // Devices without clusters do not know the attribute. On these, a cluster has one block: see `check`.
    if let Some(cluster) = attributes.cluster
        && cuda.capability()? >= CLUSTERS
    {
        set(NodeAttribute::Cluster(cluster))?;
    }
    if attributes.cooperative {
        set(NodeAttribute::Cooperative)?;
    }
    attributes
        .priority
        .map_or(Ok(()), |priority| set(NodeAttribute::Priority(priority)))
}
