//! Options of the emulator.

/// Options of the [emulator](crate::Device::emulator_with): how it runs graphs, and which mistakes it reports.
///
/// With any options, the emulator finds every access out of bounds, misaligned, through a null pointer, to freed memory
/// or to memory that was not passed to the kernel, every store to memory passed as `&`, deadlocks and divergent
/// barriers. The `check_` options find more. They cost time, so they are off by default. A finding is an
/// [`Error::Fault`](crate::Error::Fault), which names graph, node, kernel, block, thread, the line in the PTX, the
/// memory and, if the PTX tells, the line in the source.
///
/// More fields may come: end literals with `..Default::default()`.
///
/// ```
/// use graph_runtime::{Device, EmulatorOptions};
///
/// let device = Device::emulator_with(EmulatorOptions {
///     seed: Some(3),
///     check_shared_races: true,
///     ..Default::default()
/// });
/// assert!(device.is_emulator());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatorOptions {
    /// The most instructions that the warps of a block may execute, together; a launch that exceeds it ends with a
    /// fault. It ends a block that waits for a later block: blocks start in order, and only `threads` of them run at a
    /// time. `None` is no limit. The default is 2^33, some minutes of one processor.
    pub step_limit: Option<u64>,
    /// The most iterations of all `while` nodes in one launch of a graph, together; a launch that exceeds it ends with
    /// a fault. (On a GPU nothing ends a `while` whose condition stays set.) `None` is no limit. The default is 2^24,
    /// some minutes if the bodies are small.
    pub iteration_limit: Option<u64>,
    /// The number of host threads that run the blocks of a kernel. `None`: the threads of rayon's current pool, by
    /// default one for each processor.
    pub threads: Option<usize>,
    /// If given, nodes run in a random order that the graph allows. Each launch draws another order; the same seed
    /// gives the same sequence of orders. `None`: all launches use one order.
    pub seed: Option<u64>,
    /// Whether to find reads of memory that nothing has written: in a block's shared memory, and in `scratch` memory
    /// since the launch began.
    pub check_uninitialized: bool,
    /// Whether to find races in a block's shared memory: two threads touch the same bytes, one of them writes, and
    /// there is no barrier in between. Two accesses do not race if both are atomic or `volatile`, if one is atomic and
    /// the other a load, or if both store the same value. Atomic accesses order others as locks do.
    pub check_shared_races: bool,
    /// Whether to find races between nodes: two nodes touch the same bytes, one of them writes, and the graph does not
    /// order them. `build` rules this out for memory that nodes name; this also finds memory that kernels reach by
    /// pointers stored in memory.
    pub check_unordered: bool,
}

impl Default for EmulatorOptions {
    fn default() -> Self {
        Self {
            step_limit: Some(1 << 33),
            iteration_limit: Some(1 << 24),
            threads: None,
            seed: None,
            check_uninitialized: false,
            check_shared_races: false,
            check_unordered: false,
        }
    }
}
