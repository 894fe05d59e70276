//! A `&mut` argument is a write.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test(w: device [f32; 4]) {
        kernel k = write<<<1, 4>>>(&mut w);
    }
}

fn main() {}
