//! What the integration tests share: the device to test, and the kernels of `test_kernels.ptx`, declared by hand as
//! `#[cuda_kernels]` would declare them.
#![expect(dead_code, reason = "every test binary uses a part of this")]

pub(crate) mod random;

use graph_runtime::private::plan::{Contract, KernelLimits, Mode, Op, Param, ParamKind, Scalar};
use graph_runtime::{
    ArrayOf, CallArgument, Device, EmulatorOptions, GridDependency, Kernel, KernelCall, KernelFacts, OnDevice, Place,
    Ptx, Source,
};

/// The device that `CUDA_GRAPH_TEST_DEVICE` asks for: `cuda`, or the emulator. With `CUDA_GRAPH_TEST_DELAYS`, every node of its
/// graphs is delayed at random.
pub(crate) fn device() -> Device {
    let device = if wants_cuda() {
        Device::cuda(0).expect("CUDA_GRAPH_TEST_DEVICE=cuda needs a CUDA device")
    } else {
        Device::emulator()
    };
    if delayed() { device.with_delays(41) } else { device }
}

/// The emulator that orders what is unordered at random, another way at each launch, and reports nodes that meet; or the GPU.
pub(crate) fn shuffling(seed: u64) -> Device {
    let device = device();
    if !device.is_emulator() {
        return device;
    }
    Device::emulator_with(EmulatorOptions {
        seed: Some(seed),
        check_unordered: true,
        ..Default::default()
    })
}

/// Is every node delayed? On CUDA it is two nodes then.
pub(crate) fn delayed() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DELAYS").is_some()
}

/// The CUDA device, or `None`, said aloud, where the emulator is tested.
pub(crate) fn cuda_only(test: &str) -> Option<Device> {
    if wants_cuda() {
        return Some(device());
    }
    eprintln!("{test}: skipped, since it needs a CUDA device (CUDA_GRAPH_TEST_DEVICE=cuda)");
    None
}

fn wants_cuda() -> bool {
    std::env::var_os("CUDA_GRAPH_TEST_DEVICE").is_some_and(|device| device == "cuda")
}

/// Steps of the kernel `slow`: enough that a GPU is still busy when the host does the next thing, few for the emulator.
pub(crate) fn slow_steps() -> u64 {
    if wants_cuda() { 8_000_000 } else { 1000 }
}

static PTX: Ptx = Ptx {
    path: "tests/kernels/test_kernels.ptx",
    text: include_str!("../kernels/test_kernels.ptx"),
};

/// A file that no device takes.
static BROKEN: Ptx = Ptx {
    path: "broken.ptx",
    text: ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry broken() { no_such_instruction; }\n",
};

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Affine {
    pub(crate) scale: f32,
    pub(crate) shift: f32,
    pub(crate) n: u32,
}

// SAFETY: three fields of four bytes, of which every pattern is valid; no padding.
unsafe impl graph_runtime::bytemuck::Pod for Affine {}
// SAFETY: as above.
unsafe impl graph_runtime::bytemuck::Zeroable for Affine {}

const fn value(name: &'static str, scalar: Scalar) -> Param {
    Param {
        name,
        kind: ParamKind::Value(scalar),
    }
}

const fn buffer(name: &'static str, unit: usize, mutable: bool) -> Param {
    Param {
        name,
        kind: ParamKind::Buffer { unit, mutable },
    }
}

const fn facts(name: &'static str, params: &'static [Param], contracts: &'static [Contract]) -> KernelFacts {
    KernelFacts {
        name,
        entry: name,
        source: Source::Ptx(&PTX),
        params,
        limits: KernelLimits::NONE,
        static_shared: 0,
        target: "sm_70",
        contracts,
        variables: &[],
        loads: &[],
        dependency: GridDependency::NONE,
    }
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $ty:ident = $facts:expr;)*) => {$(
        $(#[$doc])*
        enum $ty {}

        // SAFETY: the facts were copied from `test_kernels.cu`.
        unsafe impl Kernel for $ty {
            const FACTS: &'static KernelFacts = &$facts;
        }
    )*};
}

kernels! {
    Scale = KernelFacts {
        loads: &[(0, 123)],
        ..facts("scale", &[buffer("data", 4, true), value("factor", Scalar::F32), value("n", Scalar::U32)], &[Contract {
            text: "n <= data.len()",
            code: &[Op::Value(2), Op::Len(0), Op::Le],
        }])
    };
    Saxpy = KernelFacts {
        loads: &[(2, 50)],
        ..facts("saxpy", &[value("a", Scalar::F32), buffer("x", 4, false), buffer("y", 4, true), value("n", Scalar::U32)], &[])
    };
    Add = facts("add", &[buffer("a", 4, false), buffer("b", 4, false), buffer("out", 4, true), value("n", Scalar::U32)], &[]);
    FillIndex = facts("fill_index", &[buffer("out", 4, true)], &[Contract {
        text: "threads <= out.len()",
        code: &[Op::Threads, Op::Len(0), Op::Le],
    }]);
    Bounded = KernelFacts {
        limits: KernelLimits { max_block: Some([256, 1, 1]), ..KernelLimits::NONE },
        loads: &[(0, 276)],
        ..facts("bounded", &[buffer("data", 4, true)], &[])
    };
    CopyStruct = facts("copy_struct", &[value("t", Scalar::Other), buffer("in", 4, false), buffer("out", 4, true)], &[]);
    Slow = facts("slow", &[value("count", Scalar::U64), buffer("flag", 4, true)], &[]);
    Gather = facts("gather", &[buffer("index", 4, false), buffer("in", 4, false), buffer("out", 4, true)], &[]);
    ReverseShared = facts("reverse_shared", &[buffer("in", 4, false), buffer("out", 4, true)], &[]);
    Count = KernelFacts {
        variables: &[("counter", Mode::ReadWrite)],
        ..facts("count", &[buffer("out", 4, true)], &[])
    };
    Missing = facts("missing", &[buffer("out", 4, true)], &[]);
    Future = KernelFacts { target: "sm_999", ..facts("count", &[buffer("out", 4, true)], &[]) };
    Broken = KernelFacts { source: Source::Ptx(&BROKEN), ..facts("broken", &[], &[]) };
    /// Says that it only reads what the PTX writes.
    LyingFill = facts("fill_index", &[buffer("out", 4, false)], &[]);
}

type Data<S> = Place<S, OnDevice>;

fn call<K: Kernel, const N: usize>(arguments: [CallArgument; N]) -> KernelCall<N> {
    // SAFETY: the functions below pass what their kernel's facts say, by type.
    unsafe { KernelCall::new::<K>(arguments) }
}

pub(crate) fn scale<S: ?Sized + ArrayOf<f32>>(data: &mut Data<S>, factor: f32, n: u32) -> KernelCall<3> {
    let arguments = [
        CallArgument::write(data),
        CallArgument::value(factor),
        CallArgument::value(n),
    ];
    call::<Scale, 3>(arguments)
}

pub(crate) fn saxpy<X, Y>(a: f32, x: &Data<X>, y: &mut Data<Y>, n: u32) -> KernelCall<4>
where
    X: ?Sized + ArrayOf<f32>,
    Y: ?Sized + ArrayOf<f32>,
{
    let (a, n) = (CallArgument::value(a), CallArgument::value(n));
    call::<Saxpy, 4>([a, CallArgument::read(x), CallArgument::write(y), n])
}

pub(crate) fn add<A, B, C>(a: &Data<A>, b: &Data<B>, out: &mut Data<C>, n: u32) -> KernelCall<4>
where
    A: ?Sized + ArrayOf<f32>,
    B: ?Sized + ArrayOf<f32>,
    C: ?Sized + ArrayOf<f32>,
{
    let (a, b, out) = (CallArgument::read(a), CallArgument::read(b), CallArgument::write(out));
    call::<Add, 4>([a, b, out, CallArgument::value(n)])
}

pub(crate) fn fill_index<S: ?Sized + ArrayOf<u32>>(out: &mut Data<S>) -> KernelCall<1> {
    call::<FillIndex, 1>([CallArgument::write(out)])
}

pub(crate) fn lying_fill<S: ?Sized + ArrayOf<u32>>(out: &Data<S>) -> KernelCall<1> {
    call::<LyingFill, 1>([CallArgument::read(out)])
}

pub(crate) fn bounded<S: ?Sized + ArrayOf<f32>>(data: &mut Data<S>) -> KernelCall<1> {
    call::<Bounded, 1>([CallArgument::write(data)])
}

pub(crate) fn copy_struct<A, B>(t: Affine, from: &Data<A>, to: &mut Data<B>) -> KernelCall<3>
where
    A: ?Sized + ArrayOf<f32>,
    B: ?Sized + ArrayOf<f32>,
{
    call::<CopyStruct, 3>([
        CallArgument::value(t),
        CallArgument::read(from),
        CallArgument::write(to),
    ])
}

pub(crate) fn slow<S: ?Sized + ArrayOf<u32>>(count: u64, flag: &mut Data<S>) -> KernelCall<2> {
    call::<Slow, 2>([CallArgument::value(count), CallArgument::write(flag)])
}

pub(crate) fn gather<I, A, B>(index: &Data<I>, from: &Data<A>, to: &mut Data<B>) -> KernelCall<3>
where
    I: ?Sized + ArrayOf<u32>,
    A: ?Sized + ArrayOf<f32>,
    B: ?Sized + ArrayOf<f32>,
{
    let (index, from) = (CallArgument::read(index), CallArgument::read(from));
    call::<Gather, 3>([index, from, CallArgument::write(to)])
}

pub(crate) fn reverse_shared<A, B>(from: &Data<A>, to: &mut Data<B>) -> KernelCall<2>
where
    A: ?Sized + ArrayOf<f32>,
    B: ?Sized + ArrayOf<f32>,
{
    call::<ReverseShared, 2>([CallArgument::read(from), CallArgument::write(to)])
}

pub(crate) fn count<S: ?Sized + ArrayOf<u32>>(out: &mut Data<S>) -> KernelCall<1> {
    call::<Count, 1>([CallArgument::write(out)])
}

pub(crate) fn missing<S: ?Sized + ArrayOf<u32>>(out: &mut Data<S>) -> KernelCall<1> {
    call::<Missing, 1>([CallArgument::write(out)])
}

pub(crate) fn future<S: ?Sized + ArrayOf<u32>>(out: &mut Data<S>) -> KernelCall<1> {
    call::<Future, 1>([CallArgument::write(out)])
}

pub(crate) fn broken() -> KernelCall<0> {
    call::<Broken, 0>([])
}

/// 0, 1, 2, ...
pub(crate) fn counting<const N: usize>() -> [f32; N] {
    std::array::from_fn(|index| index as f32)
}
