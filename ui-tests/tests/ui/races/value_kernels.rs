//! Kernels that are function values take part in the analysis by their arguments.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;

cuda_graph! {
    graph Test(f: CudaFunction) {
        device data: [f32; 64];
        kernel first = unsafe (&f)<<<1, 64>>>(&mut data);
        kernel second = unsafe (&f)<<<1, 64>>>(&data);
    }
}

fn main() {}
