//! Kernels name the variable in their own code.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        constant table: [f32; 4] = "table";
        kernel k = write<<<1, 4>>>(&mut table);
    }
}

fn main() {}
