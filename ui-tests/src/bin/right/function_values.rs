//! Function values of every kind, with arguments and dimensions that change.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;
use std::sync::Arc;

#[derive(Clone)]
struct Functions {
    all: Vec<CudaFunction>,
}

cuda_graph! {
    graph Values<const N: usize>(one: CudaFunction, shared: Arc<CudaFunction>, functions: Functions) {
        device data: [f32; N];
        device sums: [[f32; 4]; 8];
        param factor: f32 = 1.0;
        param blocks: u32 = 4;

        kernel first = unsafe (&one)<<<1, N>>>(&mut data, N as u64);
        kernel second = unsafe (one)<<<blocks, 32, 1024>>>(&data, &mut sums[2..4], factor * 2.0) after first;
        kernel third = unsafe (shared)<<<(2, 2), (8, 8)>>>(&mut data, [1.0_f32; 3], blocks) after second;
        kernel fourth = unsafe (functions.all[0])<<<1, 32>>>() after third;
    }
}
