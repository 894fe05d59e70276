//! Random number generators: their states, and one whose state several graphs share.

use crate::error::{Result, Site};
use crate::in_flight::uses::{ClaimKind, Terms};
use crate::ownership::block::{Piece, SharedMemory};
use crate::ownership::device_memory::KernelMemory;
use crate::shape::NO_LENGTHS;
use bytemuck::{Pod, Zeroable};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The state of an `rng`, which a kernel takes as `&[Philox]`: the point in the sequence of a Philox 4x32-10 generator
/// at which its threads begin to draw.
///
/// In CUDA C++ it is `struct { unsigned long long seed, offset; }`. The kernel passes it to
/// `curand_init(seed, thread, offset, &state)`, or to a Philox of its own. Source: Salmon et al., "Parallel random
/// numbers: as easy as 1, 2, 3" (SC 2011).
///
/// It is plain data, so that a program can store it: an `rng` that begins with a stored state
/// ([`GraphBuilder::rng`](crate::GraphBuilder::rng)) continues the sequence there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Philox {
    /// The key of the generator.
    pub seed: u64,
    /// The number of 32-bit numbers that each thread skips.
    pub offset: u64,
}

// SAFETY: all zeroes is a value of both fields.
unsafe impl Zeroable for Philox {}
// SAFETY: `repr(C)`, two fields of eight bytes that are `Pod`, so without padding.
unsafe impl Pod for Philox {}

/// A random number generator on a device, whose state several graphs share:
/// [`Device::generator`](crate::Device::generator) makes one. It stands where an `rng` takes a seed.
///
/// Each launch, of whichever graph and on whatever stream, begins to draw where the launch before it has ended. So no
/// two launches draw the same numbers, and the same launches in the same order draw the same numbers again, on a GPU
/// and on the emulator. It is a counted handle: a clone refers to the same state.
///
/// ```
/// use graph_runtime::{Device, Philox, cuda_graph, cuda_kernels};
///
/// #[cuda_kernels("tests/kernels/rng.ptx")]
/// unsafe extern "C" {
///     #[requires(threads <= out.len() && draws <= 64 && threads * draws <= out.len())]
///     safe fn draw_numbers(rng: &[Philox], out: &mut [u32], draws: u32);
/// }
///
/// let device = Device::emulator();
/// let generator = device.generator(42)?;
/// let build = || cuda_graph! { &device =>
///     rng    noise = &generator, draws 4;
///     device drawn: [u32; 256];
///     kernel draw  = draw_numbers<<<1, 64>>>(&noise, &mut drawn, 4);
/// };
/// let (mut first, mut second) = (build()?, build()?);
/// first.launch()?;
/// let saved = generator.state()?;                  // waits for the launch
/// assert_eq!(saved, Philox { seed: 42, offset: 4 });
/// second.launch()?;                                // draws the next numbers
/// assert_ne!(first.drawn()?.read()?, second.drawn()?.read()?);
/// generator.set_state(saved)?;
/// first.launch()?;                                 // draws those of `second` again
/// assert_eq!(first.drawn()?.read()?, second.drawn()?.read()?);
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// Graphs that share a generator do not run at the same time: each launch waits, on the GPU, for the one before it.
#[derive(Clone)]
pub struct Generator {
    /// The memory of one `Philox`.
    piece: Piece<KernelMemory>,
    /// The seed of that, which only the host changes, under a claim to write.
    seed: Arc<AtomicU64>,
}

impl Generator {
    /// Makes a generator of memory of the size of a [`Philox`], which begins in the state `begin`.
    pub(crate) fn new(memory: KernelMemory, begin: Philox) -> Result<Self> {
        let generator = Self {
            piece: Piece::new(memory, size_of::<Philox>(), NO_LENGTHS, Terms::Owned),
            seed: Arc::default(),
        };
        generator.set_state(begin)?;
        Ok(generator)
    }

    /// Waits for launches that draw, and returns the state at which the next launch begins.
    ///
    /// # Errors
    /// [`Error::Cuda`](crate::Error::Cuda) if a launch failed on CUDA; [`Error::InUse`](crate::Error::InUse) in a host
    /// function, while another thread or a launch uses the generator.
    pub fn state(&self) -> Result<Philox> {
        let _claim = self.piece.hold(false, ClaimKind::Call, site)?;
        let mut state = Philox::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut state);
        self.piece.block.read(self.piece.start, bytes, site)?;
        Ok(state)
    }

    /// Waits for launches that draw, and makes the next launch begin at `state`.
    ///
    /// # Errors
    /// As [`Generator::state`].
    pub fn set_state(&self, state: Philox) -> Result<()> {
        let _claim = self.piece.hold(true, ClaimKind::Call, site)?;
        let bytes = bytemuck::bytes_of(&state);
        self.piece.block.write(self.piece.start, bytes, site)?;
        self.seed.store(state.seed, Relaxed);
        Ok(())
    }

    /// The seed. Unlike [`Generator::state`], this waits for nothing.
    pub fn seed(&self) -> u64 {
        self.seed.load(Relaxed)
    }

    /// Starts again with this seed, at the offset 0. Waits for launches that draw.
    ///
    /// # Errors
    /// As [`Generator::state`].
    pub fn reseed(&self, seed: u64) -> Result<()> {
        self.set_state(Philox { seed, offset: 0 })
    }

    /// The memory of the state, for a graph to share.
    pub(crate) fn memory(&self) -> SharedMemory {
        SharedMemory::Device(self.piece.clone())
    }

    /// Whether both are handles to one state.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.piece.block, &other.piece.block)
    }
}

fn site() -> Site {
    Site::default().at_memory("generator")
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Generator(seed {})", self.seed())
    }
}

/// The beginning of an `rng`: a seed, a state, or a generator.
#[derive(Clone, Debug)]
pub(crate) enum Beginning {
    /// The graph has a generator of its own, which begins here.
    Own(Philox),
    /// The graph shares a generator.
    Shared(Generator),
}

pub(crate) mod sealed {
    /// A beginning that has no use outside this crate.
    #[derive(Debug)]
    pub struct RngBeginning(pub(crate) super::Beginning);

    pub trait Seed {
        fn begin(self) -> RngBeginning;
    }
}

/// A value that an `rng` begins with: `u64`, a seed; [`Philox`], a state that the graph's own generator begins in;
/// [`Generator`] or `&Generator`, which the graph shares.
#[diagnostic::on_unimplemented(
    message = "an `rng` cannot begin with `{Self}`",
    label = "no seed",
    note = "it begins with a seed (`u64`), a state (`Philox`), or a `Generator` that several graphs share"
)]
pub trait Seed: sealed::Seed {}

#[diagnostic::do_not_recommend]
impl Seed for u64 {}

impl sealed::Seed for u64 {
    fn begin(self) -> sealed::RngBeginning {
        Philox { seed: self, offset: 0 }.begin()
    }
}

#[diagnostic::do_not_recommend]
impl Seed for Philox {}

impl sealed::Seed for Philox {
    fn begin(self) -> sealed::RngBeginning {
        sealed::RngBeginning(Beginning::Own(self))
    }
}

#[diagnostic::do_not_recommend]
impl Seed for Generator {}

impl sealed::Seed for Generator {
    fn begin(self) -> sealed::RngBeginning {
        sealed::RngBeginning(Beginning::Shared(self))
    }
}

#[diagnostic::do_not_recommend]
impl Seed for &Generator {}

impl sealed::Seed for &Generator {
    fn begin(self) -> sealed::RngBeginning {
        self.clone().begin()
    }
}
