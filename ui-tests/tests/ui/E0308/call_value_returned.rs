//! A host function returns nothing.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        call sum = |&input| input.iter().sum::<f32>();
    }
}

fn main() {}
