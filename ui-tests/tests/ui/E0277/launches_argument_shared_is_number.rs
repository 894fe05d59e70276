//! A number where the kernel takes memory that it reads, and memory of another shape beside it.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device data: [u32; 4];
        kernel copy = read<<<1, 4>>>(4.0, &mut data);
    }
}

fn main() {}
