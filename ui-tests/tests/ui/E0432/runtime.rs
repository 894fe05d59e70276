//! Mistakes in the path of the runtime.
use graph_runtime::{Device, cuda_graph};
use ui_tests::write;

// The path leads to the runtime. What the graph is remains known.
cuda_graph! {
    #![crate = facade::graph_runtime]

    graph Inner {
        device data: [f32; 4];
        kernel ones = write<<<1, 4>>>(&mut data);
    }
    graph PathUnknown {
        host output: [f32; 4];
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value;
        kernel ones = write<<<1, 4>>>(&mut data) after fill;
        graph inner = Inner(data: &mut data) after ones;
        memcpy down = data -> output after inner;
    }
}

fn path_unknown() {
    let mut graph = PathUnknown::build(&Device::emulator()).unwrap();
    graph.set_value(2.0).unwrap();
    graph.launch().unwrap();
}

// The path leads to the runtime.
fn path_unknown_in_expression() {
    let device = graph_runtime::Device::emulator();
    let _ = cuda_graph! {
        #![crate = facade::graph_runtime]
        &device =>
        device data: [f32; 4];
        memset fill = data <- 1.0;
    };
}

fn main() {}
