//! Host functions run on threads of CUDA's.
use graph_runtime::cuda_graph;
use std::rc::Rc;

cuda_graph! {
    graph Test(counter: Rc<u32>) {
        call count = || assert_eq!(*counter, 1);
    }
}

fn main() {}
