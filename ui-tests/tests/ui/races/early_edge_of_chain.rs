//! One missing edge is one message, though all of the chain races with `upload`.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        host output: [f32; 4];
        memcpy upload = input -> data;
        kernel first = write<<<1, 4>>>(&mut data);
        kernel second = write<<<1, 4>>>(&mut data) after first;
        memcpy download = data -> output after second;
    }
}

fn main() {}
