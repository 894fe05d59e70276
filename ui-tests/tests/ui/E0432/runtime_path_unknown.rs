//! The path leads to the runtime. What the graph is remains known.
use graph_runtime::Device;
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    #![crate = facade::graph_runtime]

    graph Inner {
        device data: [f32; 4];
        kernel ones = write<<<1, 4>>>(&mut data);
    }
    graph Test {
        host output: [f32; 4];
        device data: [f32; 4];
        param value: f32 = 1.0;
        memset fill = data <- value;
        kernel ones = write<<<1, 4>>>(&mut data) after fill;
        graph inner = Inner(data: &mut data) after ones;
        memcpy down = data -> output after inner;
    }
}

fn main() {
    let mut graph = Test::build(&Device::emulator()).unwrap();
    graph.set_value(2.0).unwrap();
    graph.launch().unwrap();
}
