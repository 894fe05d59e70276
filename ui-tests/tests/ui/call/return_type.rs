//! The result of a closure is known, so a return type is not written.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host text: [u8; 4];
        call print = |&text| -> () { println!("{text:?}") };
    }
}

fn main() {}
