//! Between `<<<` and `>>>` is any integer expression, shifts and comparisons included, or a tuple of them.
#![allow(unused_parens, unused_braces)]
use graph_runtime::{Device, Dimensions, cuda_graph};
use ui_tests::{scaled, tile, write};

const THREADS: u32 = 256;
const GRID: (u32, u8) = (2, 2);
const BLOCK: (u16,) = (256,);
const TILE: (usize, i32, u64) = (16, 16, 1);
const SIDE: (u32,) = (1,);

/// A type of the program's own, which only building understands.
#[derive(Clone, Copy)]
struct Threads(u32);

impl Dimensions for Threads {
    fn dimensions(self) -> [i128; 3] {
        [self.0.into(), 1, 1]
    }
}

const OWN: Threads = Threads(16);

trait Shaped {
    const BLOCK: (u32, u32);
}

impl Shaped for f32 {
    const BLOCK: (u32, u32) = (32, 2);
}

fn of_half(n: u32) -> (u32, u32) {
    (n / 2, 2)
}

cuda_graph! {
    graph Test<const N: usize> {
        device data: [f32; 1024];
        kernel a = write<<<1024 >> 8, THREADS>>>(&mut data);
        kernel b = write<<<(4), (1 << 7, 2)>>>(&mut data) after a;
        kernel c = write<<<{ 16 >> 2 }, (256,), 4 << 8>>>(&mut data) after b;
        kernel d = write<<<if 1 < 2 { 4 } else { 8 }, 64 >> (1)>>>(&mut data) after c;
        kernel e = write<<<(1, 2_u64), (N.next_power_of_two(), 1, 2),>>>(&mut data) after d;
        kernel f = scaled<<<THREADS.div_ceil(64), 64>>>(&mut data, 1.0, THREADS >> (1)) after e;

        device square: [[f32; 16]; 16];
        kernel g = tile<<<(1, 1, 1), (16, 16, 1)>>>(&mut square);
    }

    graph Tuples<T: Shaped>(blocks: (u32, u32, u32)) {
        device data: [f32; 1024];
        param  block: (u32, u32) = (128, 2);
        kernel a = write<<<GRID, BLOCK>>>(&mut data);
        kernel b = write<<<(GRID), (BLOCK), 64>>>(&mut data) after a;
        kernel c = write<<<blocks, of_half(64)>>>(&mut data) after b;
        kernel d = write<<<4, block>>>(&mut data) after c;
        kernel e = write<<<(SIDE, 2), OWN>>>(&mut data) after d;
        kernel f = write<<<GRID, T::BLOCK>>>(&mut data) after e;
        kernel g = write<<<1, <f32 as Shaped>::BLOCK>>>(&mut data) after f;
        #[cluster(SIDE)]
        kernel h = write<<<GRID, (THREADS, 1)>>>(&mut data) after g;

        device square: [[f32; 16]; 16];
        kernel i = tile<<<1, TILE>>>(&mut square);
    }
}

pub(crate) fn main() {
    let device = Device::emulator();
    let mut tuples = Tuples::<f32>::build(&device, (1, 2, 1)).unwrap();
    tuples.launch().unwrap();
    assert_eq!(tuples.data().unwrap().read().unwrap()[..512], [1.0; 512]);
    tuples.set_block((8, 8)).unwrap();
    assert!(tuples.set_block((128, 16)).is_err());

    let (grid, block) = ((2, 2), (64, 4));
    let mut local = cuda_graph! { &device =>
        device data: [f32; 1024];
        kernel a = write<<<grid, block>>>(&mut data);
        kernel b = write<<<GRID, BLOCK>>>(&mut data) after a;
    }
    .unwrap();
    local.launch().unwrap();
    assert_eq!(local.data().unwrap().read().unwrap()[..512], [1.0; 512]);
}
