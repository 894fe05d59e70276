//! Mistakes in launches.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

// An argument has the parameter's type.
cuda_graph! {
    graph ArgumentOfOtherType {
        device data: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut data, 2, 4);
    }
}

// The initial value of a `param` has its type.
cuda_graph! {
    graph ParamInitialOfOtherType {
        device data: [f32; 4];
        param factor: f32 = "two";
        kernel double = scaled<<<1, 4>>>(&mut data, factor, 4);
    }
}

// A `param` has the type that its uses need.
cuda_graph! {
    graph ParamOfOtherType {
        device data: [f32; 4];
        param factor: f64 = 2.0;
        kernel double = scaled<<<1, 4>>>(&mut data, factor, 4);
    }
}

fn main() {}
