//! The contents of memory are not known when the graph is built.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    graph Test {
        device count: u32;
        device factor: f32;
        device data: [f32; 4];
        param start: f32 = factor;
        memset zero = count <- 0;
        memset first = factor <- 1.0;
        memset set = data <- start;
        kernel scale = scaled<<<1, count>>>(&mut data, factor, data.len() as u32) after set, zero, first;
    }
}

fn main() {}
