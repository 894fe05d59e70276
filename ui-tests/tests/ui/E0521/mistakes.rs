//! Mistakes that rustc reports as E0521.
use graph_runtime::{Device, OnDevice, PointerMut, Result, cuda_graph};
use std::cell::Cell;
use std::sync::Mutex;

// A function cannot keep a reference that it borrows.
static KEPT: Mutex<Option<&'static mut f32>> = Mutex::new(None);

cuda_graph! {
    graph ReferenceKept {
        host value: f32;
        call keep = |&mut value| *KEPT.lock().unwrap() = Some(value);
    }
}

// Addresses are of use in the closure only.
thread_local! {
    static ADDRESS: Cell<Option<PointerMut<'static, [f32; 4], OnDevice>>> = const { Cell::new(None) };
}

cuda_graph! {
    graph MemoryKept {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| ADDRESS.set(Some(data));
    }
}

// The closure of an edit cannot keep the graph, so that no change is requested after it has returned.
cuda_graph! {
    graph GraphKept {
        device data: [f32; 4];
        param  value: f32 = 1.0;
        memset set = data <- value;
    }
}

fn graph_kept() -> Result<()> {
    let mut graph = GraphKept::build(&Device::emulator())?;
    let mut kept = None;
    graph.edit(|e| {
        kept = Some(e.set());
    })?;
    drop(kept);
    graph.launch()
}

fn main() {}
