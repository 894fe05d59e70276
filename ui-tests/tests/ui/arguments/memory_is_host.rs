//! A kernel takes device memory.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test(data: mut host [f32; 4]) {
        kernel k = write<<<1, 4>>>(&mut data);
    }
}

fn main() {}
