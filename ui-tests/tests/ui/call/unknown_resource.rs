//! A host function borrows by name.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        call show = |&inptu| println!("{inptu:?}");
        call use_it = |&input| assert!(input[0] >= 0.0);
    }
}

fn main() {}
