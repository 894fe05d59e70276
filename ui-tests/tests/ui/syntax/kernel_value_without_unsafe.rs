//! Nothing is known about a function value, so its launch needs `unsafe`.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;

cuda_graph! {
    graph Test(f: CudaFunction) {
        device data: [f32; 64];
        kernel fill = (f)<<<1, 64>>>(&mut data, 64_u32);
    }
}

fn main() {}
