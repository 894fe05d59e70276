//! A value that a setter needs again is kept, and cloned for it.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test(scale: Scale) {
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value * scale.0;
    }
}

struct Scale(f32);

fn main() {}
