//! Only what `#[cuda_kernels]` declares can be launched.
use graph_runtime::cuda_graph;

fn write(_: &mut [f32]) {}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
    }
}

fn main() {}
