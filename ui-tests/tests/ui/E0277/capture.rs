//! Mistakes in captures.
use graph_runtime::cuda_graph;
use std::rc::Rc;

// A graph may go to another thread, and the closures that it keeps with it.
cuda_graph! {
    graph NotSend(handle: Rc<u32>) {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| assert_eq!(*handle, 1);
    }
}

// Library calls end with nothing, or with a result.
cuda_graph! {
    graph WrongEnding {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| data.address();
    }
}

fn main() {}
