//! Addresses are of use in the closure only.
use graph_runtime::cuda_graph;
use graph_runtime::{OnDevice, PointerMut};
use std::cell::Cell;

thread_local! {
    static KEPT: Cell<Option<PointerMut<'static, [f32; 4], OnDevice>>> = const { Cell::new(None) };
}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| KEPT.set(Some(data));
    }
}

fn main() {}
