//! Mistakes that rustc reports as E0133.
use graph_runtime::{KernelCall, cuda_graph};

// Cudarc's stream runs its functions at once; captured they do not, and that is the author's duty.
cuda_graph! {
    graph UnsafeMissing {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| {
            stream.cudarc().memset_zeros(&mut stream.slice_mut::<f32, _>(&data))
        };
    }
}

// A call of a kernel is made by the kernel itself, which checks the arguments' types.
fn call_made_safely() {
    let _ = KernelCall::new::<ui_tests::write>([]);
}

fn main() {}
