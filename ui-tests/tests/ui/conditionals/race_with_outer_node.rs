//! A conditional touches the memory that its bodies touch.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        device flag: u32;
        device data: [f32; 4];
        device out: [f32; 4];
        if maybe = flag {
            kernel set = write<<<1, 4>>>(&mut data);
        };
        kernel use_it = read<<<1, 4>>>(&data, &mut out);
    }
}

fn main() {}
