//! Artificial delays before nodes, which bring missing edges to light: see
//! [`Device::with_delays`](crate::Device::with_delays). And the kernels that take the time between nodes.

use super::add::{ONE_THREAD, launch};
use super::builtin::Builtin;
use super::kernels::Kernels;
use super::predicated::TestArgument;
use crate::backend::random::Random;
use crate::devices::cuda::Cuda;
use crate::driver::{CUgraph, CUgraphNode};
use crate::error::CudaError;
use graph_ptx::GuardForm;
use std::ffi::c_void;

/// The longest delay, in nanoseconds: many times the duration of a small kernel.
const MAX_NANOSECONDS: u64 = 50_000;

/// The delay before a node, in nanoseconds. Seed and node determine it.
fn nanoseconds(seed: u64, node: usize) -> u64 {
    Random::new(seed, node as u64).next() % MAX_NANOSECONDS
}

/// Adds the kernel that delays `node`, after all that the node runs after. The caller then adds the node after this
/// kernel alone.
///
/// # Safety
///
/// The graph and the nodes in `after` live and belong together, the context is current, and `kernels` outlive the
/// graph.
pub(super) unsafe fn add(
    cuda: &Cuda,
    graph: CUgraph,
    after: &[CUgraphNode],
    kernels: &Kernels,
    seed: u64,
    node: usize,
) -> Result<CUgraphNode, CudaError> {
    // SAFETY: by the caller's promise.
    unsafe { add_delay(cuda, graph, after, kernels, nanoseconds(seed, node)) }
}

/// Adds a kernel that does next to nothing.
///
/// # Safety
///
/// As for [`add`]; [`Builtin::Delay`] is loaded.
pub(super) unsafe fn add_empty(
    cuda: &Cuda,
    graph: CUgraph,
    after: &[CUgraphNode],
    kernels: &Kernels,
) -> Result<CUgraphNode, CudaError> {
    // SAFETY: by the caller's promise.
    unsafe { add_delay(cuda, graph, after, kernels, 0) }
}

/// Adds a kernel that takes so many nanoseconds.
///
/// # Safety
///
/// As for [`add_empty`].
pub(super) unsafe fn add_delay(
    cuda: &Cuda,
    graph: CUgraph,
    after: &[CUgraphNode],
    kernels: &Kernels,
    mut time: u64,
) -> Result<CUgraphNode, CudaError> {
    let mut arguments = [(&raw mut time).cast::<c_void>()];
    let params = launch(
        kernels.builtin(Builtin::Delay, GuardForm::default()),
        &ONE_THREAD,
        &mut arguments,
    );
    // SAFETY: by the caller's promise; the argument is copied by the call (fact 6 of `CudaExecutable`).
    unsafe { cuda.api().add_kernel_node(graph, after, &params) }
}

/// The form of the guard of a kernel that takes the time and waits for those before it.
pub(super) const WAITING_STAMP: GuardForm = GuardForm {
    waits: true,
    ..GuardForm::tests(1)
};

/// A kernel that writes the GPU's clock, in nanoseconds, to an address in device memory.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub(super) address: u64,
    /// If the kernel waits for those before it, as predicated ones do: the address of a word that is always 0.
    pub(super) waits: Option<u64>,
}

/// Adds a kernel that takes the time, after a node. If it waits, a programmatic edge leads to it.
///
/// # Safety
///
/// As for [`add_empty`]; the memory at the address has eight bytes, and outlives every launch of the graph. If the
/// kernel waits, the node before it is a kernel's, [`Builtin::Stamp`] is loaded with [`WAITING_STAMP`], and the word,
/// which has four bytes, lives as long.
pub(super) unsafe fn add_stamp(
    cuda: &Cuda,
    graph: CUgraph,
    after: Option<CUgraphNode>,
    kernels: &Kernels,
    mut stamp: Stamp,
) -> Result<CUgraphNode, CudaError> {
    let mut test = TestArgument {
        address: stamp.waits.unwrap_or(0),
        number: 0,
        equal: 1,
    };
    // The kernel that does not wait has one parameter less; CUDA does not read the other pointer then.
    let mut arguments = [(&raw mut stamp.address).cast::<c_void>(), (&raw mut test).cast()];
    let guard = stamp.waits.map_or(GuardForm::default(), |_| WAITING_STAMP);
    let kernel = kernels.builtin(Builtin::Stamp, guard);
    let params = launch(kernel, &ONE_THREAD, &mut arguments);
    let (plain, early) = match stamp.waits {
        Some(_) => (None, after),
        None => (after, None),
    };
    // SAFETY: by the caller's promise; arguments are copied by the call.
    let added = unsafe { cuda.api().add_kernel_node(graph, plain.as_slice(), &params) }?;
    if let Some(early) = early {
        // SAFETY: by the caller's promise; both are kernel nodes, between which no edge was added.
        unsafe { cuda.api().add_programmatic(graph, &[early], added) }?;
    }
    Ok(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_differ_by_node_and_by_seed() {
        let of = |seed| (0..100).map(|node| nanoseconds(seed, node)).collect::<Vec<_>>();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        let mut distinct = of(7);
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 90 && distinct.iter().all(|&time| time < MAX_NANOSECONDS));
    }
}
