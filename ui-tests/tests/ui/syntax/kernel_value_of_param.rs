//! The function that a node launches is fixed when the graph is built, so it takes no param.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;

cuda_graph! {
    graph Test(functions: [CudaFunction; 2]) {
        device data: [f32; 64];
        param which: u32 = 0;
        kernel fill = unsafe (&functions[which as usize])<<<1, 64>>>(&mut data);
    }
}

fn main() {}
