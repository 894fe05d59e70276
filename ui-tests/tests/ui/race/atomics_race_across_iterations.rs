//! In an `each`, one iteration may update what another reads, although `read` runs after `update` in each.
use graph_runtime::cuda_graph;
use ui_tests::{count, look};

cuda_graph! {
    graph Test {
        device bins: [u32; 4];
        device out: [[u32; 4]; 3];
        each i in 0..3 {
            kernel update = count<<<1, 4>>>(&bins);
            kernel read = look<<<1, 4>>>(&bins, &mut out[i]) after update;
        }
    }
}

fn main() {}
