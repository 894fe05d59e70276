//! CUDA calls no host function from a body.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host count: u32;
        device flag: u32;
        device data: u32;
        if outer = flag {
            memset one = data <- 1;
            if inner = flag {
                call print = |&count| println!("{count}");
            } after one;
        };
    }
}

fn main() {}
