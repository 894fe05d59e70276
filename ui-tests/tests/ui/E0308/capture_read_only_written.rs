//! The calls of a `capture` only read memory that is declared with `&`.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        capture calls = (&data) |stream| {
            // SAFETY: the call is the mistake under test.
            let _ = unsafe { stream.slice_mut::<f32, _>(&data) };
        };
    }
}

fn main() {}
