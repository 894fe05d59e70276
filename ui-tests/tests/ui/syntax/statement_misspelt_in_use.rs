//! A statement whose keyword is misspelt is known to the others all the same, and its imports count as used.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        devcie data: [f32; 4];
        kernal fill = write<<<1, 4>>>(&mut data);
        memset zero = data <- 0.0 after fill;
    }
}

fn main() {}
