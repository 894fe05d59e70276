//! Options of the emulator.

/// Options of the [emulator](crate::Device::emulator_with): how it runs graphs, and which mistakes it reports.
///
/// Whatever these say, it finds every access out of bounds, misaligned, through a null pointer, to freed memory or to
/// memory that was not passed to the kernel, every store to memory passed as `&`, deadlocks and divergent barriers. The
/// checks here cost time, so they are off unless asked for. A finding is an [`Error::Fault`](crate::Error::Fault) which
/// names graph, node, kernel, block, thread, the PTX line, the source line where the PTX has it, and the memory.
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
    /// The most instructions of warps that a block may execute; beyond, the launch ends with a fault. It is what ends a
    /// block that waits for one which has not started, since blocks run in order, as many at a time as there are
    /// threads. The default is 2^33, some minutes of one processor.
    pub step_limit: Option<u64>,
    /// The most iterations of all `while` nodes in one launch of a graph, together; beyond, the launch ends with a
    /// fault. On a GPU nothing ends a `while` whose condition stays set. The default is 2^24, minutes of the smallest
    /// bodies.
    pub iteration_limit: Option<u64>,
    /// Host threads that run the blocks of a kernel; without, as many as the host has.
    pub threads: Option<usize>,
    /// Run nodes in a random order that the graph allows, another one at each launch, and the same ones for the same
    /// seed. Without, in the order that the graph gives.
    pub seed: Option<u64>,
    /// Find reads of shared memory that no thread of the block has written.
    pub check_uninitialized: bool,
    /// Find threads of a block that touch the same shared memory, one of them writing, with no barrier in between;
    /// accesses that are all atomic or `volatile` may meet, loads may meet atomic ones, and atomic ones order others as
    /// locks do.
    pub check_shared_races: bool,
    /// Find nodes that touch the same bytes, one of them writing, though the graph does not order them. Building a
    /// graph rules this out for the memory that nodes name; this finds the rest, reached by pointers in memory.
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
