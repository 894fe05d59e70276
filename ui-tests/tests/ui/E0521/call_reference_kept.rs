//! A function cannot keep a reference that it borrows.
use graph_runtime::cuda_graph;
use std::sync::Mutex;

static KEPT: Mutex<Option<&'static mut f32>> = Mutex::new(None);

cuda_graph! {
    graph Test {
        host value: f32;
        call keep = |&mut value| *KEPT.lock().unwrap() = Some(value);
    }
}

fn main() {}
