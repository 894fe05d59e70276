//! A statement without its `;` is known all the same, and what stands in its bodies.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel fill = write<<<1, 4>>>(&mut data)
        }
        memset zero = data <- 0.0 after maybe;
    }
}

fn main() {
    let _ = (Test::fill, Test::maybe);
}
