//! Arguments are plain data, and memory of the graph.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;

cuda_graph! {
    graph Test(f: CudaFunction) {
        device data: [f32; 64];
        kernel fill = unsafe (f)<<<1, 64>>>(&mut data, true);
    }
}

fn main() {}
