//! Runs PTX kernels on the CPU, exactly as a GPU would and with every access checked.
//!
//! A [`Module`] is PTX decoded once; [`Module::launch`] runs one of its kernels over a grid. A kernel may access the
//! [`Buffer`]s that its [`Launch`] names, and the variables of its module. Any other access ends the launch with a
//! [`Fault`] that names the kernel, block, thread, line and buffer.
//!
//! A warp is 32 lanes that execute one decoded instruction together. Registers are arrays of lanes, so an instruction
//! is a loop that vectorises. Lanes that part at a branch run one group at a time, the smallest program counter first,
//! and meet again when their counters are equal. As long as all threads of a block are at one instruction, all warps
//! execute it in lockstep. Then values that are the same in all threads, or grow evenly from one thread to the next,
//! are computed once.
//!
//! # What is exact
//!
//! Integers, IEEE operations with their rounding modes, and conversions give the bits that a GPU gives, except for the
//! sign and the bits of a NaN where PTX leaves them open. Approximate functions (`ex2`, `sin`, `rsqrt.approx`) are
//! within the errors that the PTX manual states.
//!
//! In `mma` and `wmma`, products are exact, and sums are rounded once, from double precision. Integers, and sums that
//! `f32` holds exactly, agree with the hardware bit for bit. The hardware adds other sums in its own order; they differ
//! by at most `k + 1` units in the last place of the largest term.
//!
//! Floating-point atomics of several blocks are added in the order in which the blocks execute them, as on a GPU. All
//! other results are the same in every run.
//!
//! # Checks and limits
//!
//! [`Options`] adds checks of shared memory, of memory that was not written, and of work that runs at the same time;
//! a limit of steps, a deadline, and counts of bank conflicts and of divergent branches.
//!
//! A kernel is [refused](Kernel::refused) if it, or a function that it may call, has an instruction that the emulator
//! does not have: cubes and mipmaps, `wgmma`, sparse and one-bit matrices, copies by tensor maps, copies
//! to several blocks of a cluster at once. The other kernels of its module run. The blocks of a cluster take turns on
//! one host thread, and access each other's shared memory; the checks take their threads for those of one block.
//!
//! A [`Texture`] is memory that a kernel reads by `tex` and `tld4`, and a [`Surface`] is memory that it accesses by
//! `suld` and `sust`. A CUDA array is linear memory here, with an [`Extent`].
//!
//! ```
//! use graph_emulator::{Access, Buffer, Launch, Memory, Module, Options};
//!
//! let memory = Memory::new();
//! let module = Module::load(&memory, r#"
//!     .version 7.0
//!     .target sm_70
//!     .address_size 64
//!     .visible .entry double(.param .u64 data) {
//!         .reg .b32 %r<3>;
//!         .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [data];
//!         mov.u32 %r1, %tid.x;
//!         mul.wide.u32 %rd2, %r1, 4;
//!         add.s64 %rd3, %rd1, %rd2;
//!         ld.global.u32 %r2, [%rd3];
//!         add.u32 %r2, %r2, %r2;
//!         st.global.u32 [%rd3], %r2;
//!         ret;
//!     }
//! "#)?;
//! let data = memory.allocate("data", 16)?;
//! data.write(0, &[1, 0, 0, 0, 2, 0, 0, 0])?;
//! module.launch("double", &Launch {
//!     grid: [1, 1, 1],
//!     block: [4, 1, 1],
//!     shared_bytes: 0,
//!     arguments: &[&data.address().to_le_bytes()],
//!     buffers: &[Buffer { name: "data", address: data.address(), len: 16, access: Access::ReadWrite }],
//!     textures: &[],
//!     surfaces: &[],
//!     options: &Options::default(),
//! })?;
//! let mut bytes = [0; 8];
//! data.read(0, &mut bytes)?;
//! assert_eq!(bytes, [2, 0, 0, 0, 4, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// Whether the emulator was compiled without optimisation (`opt-level = 0`). It is dozens of times slower then.
pub const IS_UNOPTIMIZED: bool = cfg!(unoptimized);

mod run;
mod exec;
mod sanitize;
mod state;
mod memory;
mod decode;
mod code;
mod fault;
mod softfloat;

pub use fault::{Fault, FaultKind, FaultyAccess, LoadError, Operation};
pub use graph_ptx::Channel;
pub use memory::footprint::{Conflict, Footprint};
pub use memory::texture::{Addressing, Extent, Filter, Surface, Texture};
pub use memory::view::{Access, Buffer};
pub use memory::{Allocation, Memory, MemoryError};
pub use run::launch::{Launch, MAX_TOGETHER, Report};
pub use run::module::{Kernel, Module};
pub use run::parsed::{Parameter, Parsed};
pub use state::context::{Conditional, Options, Printer, Unordered};
pub use state::floats::FloatMemory;
