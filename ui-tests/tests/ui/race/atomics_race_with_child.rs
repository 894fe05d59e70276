//! What a child updates atomically is bound as `&`, and races with plain loads.
use graph_runtime::cuda_graph;
use ui_tests::{count, look};

cuda_graph! {
    graph Test {
        device bins: [u32; 4];
        device out: [u32; 4];
        graph inner = Inner(bins: &bins);
        kernel read = look<<<1, 4>>>(&bins, &mut out);
    }
}

cuda_graph! {
    graph Inner {
        device bins: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
    }
}

fn main() {}
