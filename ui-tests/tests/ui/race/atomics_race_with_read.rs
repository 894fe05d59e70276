//! Atomic updates race with plain loads, although both are written `&bins`.
use graph_runtime::cuda_graph;
use ui_tests::{count, look};

cuda_graph! {
    graph Test {
        device bins: [u32; 4];
        device out: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
        kernel read = look<<<1, 4>>>(&bins, &mut out);
    }
}

fn main() {}
