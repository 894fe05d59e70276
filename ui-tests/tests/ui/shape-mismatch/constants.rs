//! Mistakes with constant memory.
use graph_runtime::cuda_graph;
use ui_tests::weigh;

// The elements need no more alignment than the PTX gives.
cuda_graph! {
    graph OtherAlignment {
        device   data:  [f32; 4];
        constant table: [f64; 2] = "table";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

// The shape has the size that the PTX declares.
cuda_graph! {
    graph OtherSize {
        device   data:  [f32; 4];
        constant table: [f32; 64] = "table";
        memset clear = table <- 0.0;
        kernel k     = weigh<<<1, 4>>>(&mut data) after clear;
    }
}

fn main() {}
