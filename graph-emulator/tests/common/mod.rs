//! Launching kernels from tests: buffers of plain values, arguments of any kind.

pub(crate) mod modules;
pub(crate) mod random;
pub(crate) mod rubbish;

use graph_emulator::{Access, Allocation, Buffer, Fault, Footprint, Launch, Memory, Module, Options, Unordered};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A module and the memory it runs in.
pub(crate) struct Gpu {
    pub(crate) memory: Memory,
    pub(crate) module: Module,
}

/// A value in device memory.
pub(crate) trait Value: Copy {
    fn bytes(self) -> Vec<u8>;
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! values {
    ($($ty:ty),*) => {$(
        impl Value for $ty {
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn read(bytes: &[u8]) -> $ty {
                <$ty>::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

values!(u8, i32, u32, f32, f64, i64, u64);

/// An argument of a launch.
pub(crate) enum Argument<'a> {
    Read(&'a Allocation),
    Write(&'a Allocation),
    Bytes(Vec<u8>),
}

/// A scalar argument.
pub(crate) fn value(value: impl Value) -> Argument<'static> {
    Argument::Bytes(value.bytes())
}

impl Gpu {
    pub(crate) fn new(ptx: &str) -> Gpu {
        let memory = Memory::new();
        let module = Module::load(&memory, ptx).unwrap_or_else(|error| panic!("{error}"));
        Gpu { memory, module }
    }

    pub(crate) fn upload<T: Value>(&self, name: &str, values: &[T]) -> Allocation {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let allocation = self.memory.allocate(name, bytes.len()).unwrap();
        allocation.write(0, &bytes).unwrap();
        allocation
    }

    pub(crate) fn launch(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        arguments: &[Argument<'_>],
    ) -> Result<(), Fault> {
        self.launch_with(kernel, grid, block, 0, arguments, &Options::default())
    }

    /// A launch in one dimension, which ends without a fault.
    #[track_caller]
    pub(crate) fn run(&self, kernel: &str, blocks: u32, threads: u32, arguments: &[Argument<'_>]) {
        let launched = self.launch(kernel, [blocks, 1, 1], [threads, 1, 1], arguments);
        launched.unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
    }

    /// The fault of a launch.
    pub(crate) fn fault(&self, kernel: &str, grid: [u32; 3], block: [u32; 3], arguments: &[Argument<'_>]) -> Fault {
        self.launch(kernel, grid, block, arguments).expect_err(kernel)
    }

    pub(crate) fn launch_with(
        &self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        arguments: &[Argument<'_>],
        options: &Options,
    ) -> Result<(), Fault> {
        let names: Vec<String> = (0..arguments.len()).map(|index| format!("argument {index}")).collect();
        let (mut bytes, mut buffers) = (Vec::new(), Vec::new());
        for (argument, name) in arguments.iter().zip(&names) {
            let (allocation, access) = match argument {
                Argument::Bytes(value) => {
                    bytes.push(value.clone());
                    continue;
                }
                Argument::Read(allocation) => (allocation, Access::Read),
                Argument::Write(allocation) => (allocation, Access::ReadWrite),
            };
            bytes.push(allocation.address().to_le_bytes().to_vec());
            buffers.push(buffer(name, allocation, access));
        }
        let arguments: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        let launch = launch(grid, block, &arguments, &buffers, options);
        self.module.launch(kernel, &Launch { shared_bytes, ..launch })
    }
}

/// A launch without dynamic shared memory, textures and surfaces.
pub(crate) fn launch<'a>(
    grid: [u32; 3],
    block: [u32; 3],
    arguments: &'a [&'a [u8]],
    buffers: &'a [Buffer<'a>],
    options: &'a Options,
) -> Launch<'a> {
    Launch {
        grid,
        block,
        shared_bytes: 0,
        arguments,
        buffers,
        textures: &[],
        surfaces: &[],
        options,
    }
}

/// A whole allocation, as memory of a launch.
pub(crate) fn buffer<'a>(name: &'a str, allocation: &Allocation, access: Access) -> Buffer<'a> {
    Buffer {
        name,
        address: allocation.address(),
        len: allocation.len(),
        access,
    }
}

/// A launch that is unordered with another one, `node b`, which has this footprint.
pub(crate) fn beside(footprint: Footprint) -> Options {
    Options {
        unordered: vec![Unordered {
            name: "node `b`".into(),
            footprint: Arc::new(footprint),
        }],
        ..Options::default()
    }
}

/// `ptxas`, if it was fetched.
pub(crate) fn ptxas() -> Option<PathBuf> {
    let wheel = "../.wheels/nvidia-cuda-nvcc-cu12-12.4.131/nvidia/cuda_nvcc/bin/ptxas";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(wheel);
    path.exists().then_some(path)
}

/// Asserts that the message of a fault ends with a text.
#[track_caller]
pub(crate) fn ends(fault: &Fault, text: &str) {
    assert!(fault.to_string().ends_with(text), "{fault}");
}

pub(crate) fn download<T: Value>(allocation: &Allocation) -> Vec<T> {
    let mut bytes = vec![0; allocation.len()];
    allocation.read(0, &mut bytes).unwrap();
    bytes.chunks_exact(size_of::<T>()).map(T::read).collect()
}
