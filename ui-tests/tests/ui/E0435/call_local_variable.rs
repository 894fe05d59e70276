//! A graph item is built where no local variable is in scope.
use graph_runtime::cuda_graph;

fn main() {
    let limit = 3.0;
    cuda_graph! {
        graph Test {
            host value: f32;
            call check = |&value| assert!(*value < limit);
        }
    }
}
