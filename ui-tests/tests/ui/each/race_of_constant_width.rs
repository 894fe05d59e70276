//! A name is no literal: `WIDTH * i` is not compared between iterations.
use graph_runtime::cuda_graph;

const WIDTH: usize = 4;

cuda_graph! {
    graph Test {
        device data: [f32; 64];
        each i in 0..8 {
            memset fill = data[WIDTH * i..WIDTH * i + WIDTH] <- 0.0;
        }
    }
}

fn main() {}
