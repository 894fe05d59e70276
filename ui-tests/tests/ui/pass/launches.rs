//! Between `<<<` and `>>>` is any integer expression, shifts and comparisons included, or a tuple of them.
use graph_runtime::cuda_graph;
use ui_tests::{scaled, tile, write};

const THREADS: u32 = 256;

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
}

fn main() {}
