//! Mistakes in launches.
use graph_runtime::cuda_graph;
use ui_tests::{read, scaled, write};

// One argument, which is memory, is missing.
cuda_graph! {
    graph ArgumentMemoryMissing {
        device data: [f32; 4];
        kernel copy = read<<<1, 4>>>(&mut data);
    }
}

// A kernel gets all of its arguments.
cuda_graph! {
    graph ArgumentMissing {
        device data: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut data, 2.0);
    }
}

// A kernel gets no more than its arguments.
cuda_graph! {
    graph ArgumentSuperfluous {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data, 4);
    }
}

fn main() {}
