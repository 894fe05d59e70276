//! A join orders without doing anything.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    graph Test {
        device left: [f32; 4];
        device right: [f32; 4];
        join start;
        kernel fill_left = write<<<1, 4>>>(&mut left) after start;
        kernel fill_right = write<<<1, 4>>>(&mut right) after start;
        join filled after fill_left, fill_right;
        kernel copy = read<<<1, 4>>>(&left, &mut right) after filled;
        memset clear = left <- 0.0 after copy;
    }
}
