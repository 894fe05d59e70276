//! A constant length of a table is checked at compile time.
use graph_runtime::cuda_graph;

const ROWS: usize = 4;
const LAST: usize = 4;

cuda_graph! {
    graph Test(d: usize) {
        device data: [[f32; d]; ROWS];
        memset clear = data[LAST] <- 0.0;
    }
}

fn main() {}
