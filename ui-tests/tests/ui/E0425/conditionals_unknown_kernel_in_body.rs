//! rustc itself reports an unknown kernel in a body.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device flag: u32;
        while repeat = flag {
            kernel stop = missing<<<1, 1>>>(&mut flag);
        };
    }
}

fn main() {}
