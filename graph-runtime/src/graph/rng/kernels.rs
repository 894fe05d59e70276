//! The built-in kernels that start and advance the states of an `rng`.

use crate::cuda_kernels;
use crate::kernel::{KernelCall, Launch};
use crate::memory::Philox;
use crate::shape::place::{OnDevice, Place};

/// The maximum number of threads in a block: `most` in `rng.cu` has room for as many.
const MAX_THREADS: usize = 256;

/// The kernels touch as many states, of four words each, as `count` says.
#[cuda_kernels("kernels/rng.ptx")]
unsafe extern "C" {
    /// Sets states to begin where their generator is.
    fn graph_runtime_rng_start(generator: &[Philox], states: &mut [u64], count: u64);
    /// Advances the states of one body.
    fn graph_runtime_rng_advance(states: &mut [u64], count: u64, scope: u64, step: u64);
    /// Advances the generator and the states at the end of a launch, in one block of a power of two of threads.
    fn graph_runtime_rng_finish(generator: &mut [Philox], states: &mut [u64], count: u64, step: u64);
}

/// The memory of a generator in a graph, and the states of its uses.
pub(crate) struct States {
    pub(crate) generator: Place<Philox, OnDevice>,
    pub(crate) states: Place<[u64], OnDevice>,
    /// The number of states.
    pub(crate) count: usize,
    /// The number that all uses together draw at most.
    pub(crate) step: u64,
}

impl States {
    /// One thread for each state.
    fn launch(&self) -> Launch {
        Launch::new(self.count.div_ceil(MAX_THREADS), self.count.min(MAX_THREADS))
    }

    /// The launch that sets all states to begin where the generator is.
    pub(crate) fn start(&mut self) -> (Launch, KernelCall<3>) {
        // SAFETY: there are `count` states, and any launch will do.
        let call = unsafe { graph_runtime_rng_start::call(&self.generator, &mut self.states, self.count as u64) };
        (self.launch(), call)
    }

    /// The launch that advances the states of `scope`.
    pub(crate) fn advance(&mut self, scope: usize) -> (Launch, KernelCall<4>) {
        let (count, scope) = (self.count as u64, scope as u64);
        // SAFETY: there are `count` states, and any launch will do.
        let call = unsafe { graph_runtime_rng_advance::call(&mut self.states, count, scope, self.step) };
        (self.launch(), call)
    }

    /// The launch that advances the generator past all draws, and sets all states to begin there.
    pub(crate) fn finish(&mut self) -> (Launch, KernelCall<4>) {
        let (generator, count) = (&mut self.generator, self.count as u64);
        // SAFETY: there are `count` states, and the launch is as it must be: one block of a power of two of threads,
        // for which the kernel's shared memory has room.
        let call = unsafe { graph_runtime_rng_finish::call(generator, &mut self.states, count, self.step) };
        (Launch::new(1, self.count.next_power_of_two().min(MAX_THREADS)), call)
    }
}
