//! The kernels of `tests/kernels/`, declared once for all tests, and declarations that are wrong on purpose.

use graph_runtime::kernel::{KernelFacts, Source};
use graph_runtime::private::plan::{Mode, Param, ParamKind};
use graph_runtime::{Atomic, CallArgument, Kernel, KernelCall, Philox, Ptx, cuda_kernels};
use std::mem::MaybeUninit;

/// `scale * x + shift` for the first `n`.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Affine {
    pub(crate) scale: f32,
    pub(crate) shift: f32,
    pub(crate) n: u32,
}

impl Affine {
    pub(crate) const fn new(scale: f32, shift: f32, n: u32) -> Self {
        Self { scale, shift, n }
    }
}

#[cuda_kernels("tests/kernels/test_kernels.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    #[requires(n <= data.len())]
    pub(crate) safe fn scale(data: &mut [f32], factor: f32, n: u32);
    #[requires(n <= x.len() && n <= y.len())]
    pub(crate) safe fn saxpy(a: f32, x: &[f32], y: &mut [f32], n: u32);
    #[requires(n <= x.len() && n <= y.len())]
    pub(crate) safe fn axpy_f64(a: f64, x: &[f64], y: &mut [f64], n: u32);
    #[requires(n <= a.len() && n <= b.len() && n <= out.len())]
    pub(crate) safe fn add(a: &[f32], b: &[f32], out: &mut [f32], n: u32);
    #[requires(threads <= out.len())]
    pub(crate) safe fn fill_index(out: &mut [u32]);
    #[requires(threads <= data.len())]
    pub(crate) safe fn bounded(data: &mut [f32]);
    pub(crate) safe fn matmul(a: &[[f32; 16]; 16], b: &[[f32; 16]; 16], out: &mut [[f32; 16]; 16]);
    #[requires(threads <= input.len() && threads <= out.len())]
    #[requires(shared >= block * 4)]
    pub(crate) safe fn reverse_shared(input: &[f32], out: &mut [f32]);
    /// Both arguments have `affine.n` elements, which a contract cannot say.
    pub(crate) fn copy_struct(affine: Affine, input: &[f32], out: &mut [f32]);
    /// The elements of `index` are below the length of `input`.
    pub(crate) fn gather(index: &[u32], input: &[f32], out: &mut [f32]);
    pub(crate) safe fn slow(count: u64, flag: &mut [u32]);
    pub(crate) safe fn count(out: &mut [u32]);
}

#[cuda_kernels("tests/kernels/conditionals.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    pub(crate) safe fn add_to(data: &mut [u32], value: u32);
    #[requires(threads <= data.len())]
    pub(crate) safe fn add_late(data: &mut [u32], value: u32, steps: u64);
    #[requires(threads <= from.len() && threads <= to.len())]
    pub(crate) safe fn accumulate(from: &[u32], to: &mut [u32]);
    #[requires(threads <= data.len() && threads <= flag.len())]
    pub(crate) safe fn is_below(data: &[u32], limit: u32, flag: &mut [u32]);
    #[requires(threads <= a.len() && threads <= x.len() && threads <= more.len())]
    pub(crate) safe fn newton(a: &[f32], x: &mut [f32], more: &mut [u32]);
    /// `to[i] = 31 to[i] + from[i] + 1`
    #[requires(threads <= from.len() && threads <= to.len())]
    pub(crate) safe fn mix(from: &[u32], to: &mut [u32]);
    #[requires(threads <= data.len() && threads <= flag.len())]
    pub(crate) safe fn remainder_of(data: &[u32], divisor: u32, flag: &mut [u32]);
}

#[cuda_kernels("tests/kernels/atomic.ptx")]
unsafe extern "C" {
    /// `to[i] += by`, atomically
    #[requires(threads <= to.len())]
    pub(crate) safe fn add_all(to: &[Atomic<u32>], by: u32);
    /// `to[i] = 3 value + 1`, in two steps
    #[requires(threads <= to.len())]
    pub(crate) safe fn start_words(to: &mut [MaybeUninit<u32>], value: u32);
}

#[cuda_kernels("tests/kernels/rng.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// `out[t * draws + j]` is number `j` of thread `t`
    #[requires(threads <= out.len() && draws <= 64 && threads * draws <= out.len())]
    pub(crate) safe fn draw_numbers(rng: &[Philox], out: &mut [u32], draws: u32);
    /// Appends the offset to a log; at most 99 times.
    #[requires(threads == 1 && log.len() == 100)]
    pub(crate) safe fn log_offset(rng: &[Philox], log: &mut [u64]);
    /// Appends the offset times `factor`.
    #[requires(threads == 1 && log.len() == 100)]
    pub(crate) safe fn log_scaled(rng: &[Philox], log: &mut [u64], factor: u32);
    /// `*count -= 1`
    #[requires(threads == 1)]
    pub(crate) safe fn count_down(count: &mut [u32]);
}

#[cuda_kernels("tests/kernels/attributes.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    pub(crate) safe fn number(out: &mut [u32]);
    /// All blocks run at the same time.
    #[requires(arrived.len() == 1 && block == 1 && grid <= input.len() && grid <= out.len())]
    pub(crate) fn meet(arrived: &mut [u32], input: &mut [u32], out: &mut [u32]);
    #[requires(threads <= out.len())]
    pub(crate) safe fn rank(out: &mut [u32]);
}

#[cuda_kernels("tests/kernels/barriers.ptx")]
unsafe extern "C" {
    #[requires(block == 128 && grid == 1 && tiles * 128 <= input.len() && 128 <= out.len())]
    pub(crate) safe fn copy_tiles(input: &[i32], out: &mut [i32], tiles: u32);
    #[requires(block == 128 && grid == 1 && rounds * 64 <= input.len() && 64 <= out.len())]
    pub(crate) safe fn produce_and_consume(input: &[i32], out: &mut [i32], rounds: u32);
    #[requires(block == 128 && grid == 1 && rounds * 128 <= input.len() && 128 <= out.len())]
    pub(crate) safe fn two_stages(input: &[i32], out: &mut [i32], rounds: u32);
    #[requires(threads == 1 && out.len() == 32)]
    pub(crate) safe fn forms(out: &mut [u32]);
    #[requires(block == 64 && threads <= out.len())]
    pub(crate) safe fn alone(out: &mut [u32]);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn two_warps(input: &[i32], out: &mut [i32]);
}

#[cuda_kernels("tests/kernels/grid.ptx")]
unsafe extern "C" {
    #[requires(n <= a.len() && n <= b.len())]
    pub(crate) safe fn rounds(a: &mut [u32], b: &mut [u32], n: u32, rounds: u32);
    #[requires(threads <= out.len())]
    pub(crate) safe fn ranks(out: &mut [u32]);
    #[requires(threads <= numbers.len() && threads <= out.len())]
    pub(crate) safe fn arrive_and_wait(numbers: &mut [u32], out: &mut [u32]);
}

#[cuda_kernels("tests/kernels/programmatic.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    pub(crate) safe fn slow_write(out: &mut [u32], value: u32, steps: u32);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn slow_step(input: &[u32], out: &mut [u32], steps: u32);
    #[requires(threads < input.len() && threads <= out.len())]
    pub(crate) safe fn slow_read(input: &[u32], out: &mut [u32], steps: u32);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn step(input: &[u32], out: &mut [u32]);
    #[requires(threads <= input.len() && threads <= out.len() && (threads <= more.len() || more.len() == 0))]
    pub(crate) safe fn step_with(input: &[u32], more: Option<&[u32]>, out: &mut [u32]);
    #[requires(threads <= out.len())]
    pub(crate) safe fn bump(out: &mut [u32], by: u32);
    #[requires(threads <= weights.len() && threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn weigh(weights: &[u32], input: &[u32], out: &mut [u32]);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn never_waits(input: &[u32], out: &mut [u32]);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn waits_predicated(input: &[u32], out: &mut [u32], n: u32);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn ends_early(input: &[u32], out: &mut [u32], n: u32);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn reads_early(input: &[u32], out: &mut [u32]);
    #[requires(threads <= out.len())]
    pub(crate) safe fn writes_early(out: &mut [u32]);
    #[requires(threads <= input.len() && threads <= out.len())]
    pub(crate) safe fn loads_stale(input: &[u32], out: &mut [u32]);
}

/// A call of one of the kernels below.
pub(crate) fn falsely<K: Kernel, const N: usize>(arguments: [CallArgument; N]) -> KernelCall<N> {
    // SAFETY: the arguments are of the types that the facts say. That the facts are false is what the tests are about.
    unsafe { KernelCall::new::<K>(arguments) }
}

/// A file that no device takes.
static BROKEN: Ptx = Ptx {
    path: "broken.ptx",
    text: ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken() { no_such_instruction; }\n",
};

macro_rules! false_declarations {
    ($($(#[$doc:meta])* $ty:ident = { $($fact:ident: $value:expr),* } of $kernel:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) enum $ty {}

        // SAFETY: it is false, and meant to be: tests hold that it is refused, or that the emulator finds it.
        unsafe impl Kernel for $ty {
            const FACTS: &'static KernelFacts = &KernelFacts { $($fact: $value,)* ..*$kernel::FACTS };
        }
    )*};
}

false_declarations! {
    /// A kernel that is not in its file.
    Missing = { name: "missing", entry: "missing" } of count;
    /// A kernel that is compiled for a device that does not exist yet.
    Future = { target: "sm_999" } of count;
    /// A kernel in a file that does not load.
    Broken = { name: "broken", entry: "broken", source: Source::Ptx(&BROKEN), params: &[] } of slow;
    /// Says that it only reads what it writes.
    LyingFill = {
        params: &[Param { name: "out", kind: ParamKind::Buffer { unit: 4, mode: Mode::Read } }],
        contracts: &[]
    } of fill_index;
}
