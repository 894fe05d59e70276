//! A safe kernel writes to nothing but its arguments.
use graph_runtime::cuda_kernels;

#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn indirect(table: &mut [u64]);
}

fn main() {}
