//! A graph may go to another thread, and the closures that it keeps with it.
use graph_runtime::cuda_graph;
use std::rc::Rc;

cuda_graph! {
    graph Test(handle: Rc<u32>) {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| assert_eq!(*handle, 1);
    }
}

fn main() {}
