//! Without their PTX kernels keep their types and calls: whoever launches them gets no further errors.
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("kernels/absent.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn write(out: &mut [f32]);
}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
    }
}

fn main() {}
