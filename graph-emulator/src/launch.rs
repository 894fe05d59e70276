//! Launching a kernel: what a launch consists of, and running its grid.

/// A kernel launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// The bytes of each argument, in the order of the kernel's parameters.
    pub arguments: &'a [&'a [u8]],
    /// The memory that the kernel may reach, besides its module's variables.
    pub buffers: &'a [Buffer<'a>],
    /// Limits and checks.
    pub options: &'a Options,
}

/// A range of an [`Allocation`](crate::Allocation) passed to a kernel.
///
/// Ranges may be adjacent or overlap; where they overlap, what any of them permits is permitted.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    /// Its name in fault messages.
    pub name: &'a str,
    /// The address of its first byte.
    pub address: u64,
    /// Its size in bytes.
    pub len: usize,
    /// What the kernel may do with it.
    pub access: Access,
}

/// What a kernel may do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Load only.
    Read,
    /// Load, store and atomic operations.
    ReadWrite,
}

/// Limits and checks of a launch.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most warp instructions that one block may execute before the launch ends with
    /// [`FaultKind::StepLimit`](crate::FaultKind::StepLimit); no limit without.
    pub step_limit: Option<u64>,
    /// Host threads to run blocks on; without, as many as rayon's current pool has.
    pub threads: Option<usize>,
}
