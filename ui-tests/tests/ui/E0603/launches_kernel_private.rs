//! A kernel has the visibility it is declared with.
use graph_runtime::cuda_graph;

mod kernels {
    #[graph_runtime::cuda_kernels("../../../kernels/ui.ptx")]
    unsafe extern "C" {
        #[requires(threads <= out.len())]
        safe fn write(out: &mut [f32]);
    }
}

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        kernel fill = kernels::write<<<1, 4>>>(&mut data);
    }
}

fn main() {}
