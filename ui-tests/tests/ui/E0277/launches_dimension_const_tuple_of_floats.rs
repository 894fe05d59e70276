//! A constant tuple is made of integers.
use graph_runtime::cuda_graph;
use ui_tests::write;

const GRID: (u32, f64) = (2, 1.0);

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<GRID, 64>>>(&mut data);
    }
}

fn main() {}
