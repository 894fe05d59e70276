//! Contracts count the threads of constant tuples.
use graph_runtime::cuda_graph;
use ui_tests::write;

const GRID: (u32, u16) = (2, 2);
const BLOCK: (u32,) = (1024,);

cuda_graph! {
    graph Test {
        device data: [f32; 2048];
        kernel fill = write<<<GRID, BLOCK>>>(&mut data);
    }
}

fn main() {}
