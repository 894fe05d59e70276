//! Of a function value nothing is known, so that whoever launches it vouches for it.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;

cuda_graph! {
    graph Test(f: CudaFunction) {
        device data: [f32; 64];
        kernel fill = (f)<<<1, 64>>>(&mut data, 64_u32);
    }
}

fn main() {}
