//! Launches and programmatic edges are right for all files.
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("../../../kernels/tuned.ptx", tuned = ["../../../kernels/tuned.sm_90.ptx"])]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn numbers(data: &mut [u32]);
    #[requires(threads <= from.len() && threads <= to.len())]
    safe fn moved(from: &mut [u32], to: &mut [u32]);
}

cuda_graph! {
    graph Tuned {
        device a: [u32; 96];
        device b: [u32; 96];

        kernel first  = numbers<<<3, 32>>>(&mut a);
        kernel second = moved<<<3, 32>>>(&mut a, &mut b) after programmatic(first);
    }
}

fn main() {}
