//! A kernel with an instruction that nobody knows may do anything with its operands; the kernel beside it is not
//! affected.
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("kernels/future.ptx")]
unsafe extern "C" {
    #[requires(threads <= out.len())]
    safe fn known(out: &mut [u32]);
    safe fn future(data: &mut [u32]);
}

cuda_graph! {
    graph Test {
        device out: [u32; 4];
        device data: [u32; 4];
        kernel first = known<<<1, 4>>>(&mut out);
        memset clear = data <- 0;
        kernel second = future<<<1, 4>>>(&mut data) after clear;
    }
}
