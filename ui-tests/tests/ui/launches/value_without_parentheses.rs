//! A function value is launched in parentheses.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;

cuda_graph! {
    graph Test(function: CudaFunction) {
        device data: [f32; 4];
        kernel fill = unsafe function<<<1, 4>>>(&mut data);
    }
}

fn main() {}
