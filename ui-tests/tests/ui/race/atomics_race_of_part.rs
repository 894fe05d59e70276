//! Parts that do not overlap are updated and read at the same time; these two share an element.
use graph_runtime::cuda_graph;
use ui_tests::{count, look};

cuda_graph! {
    graph Test {
        device bins: [u32; 8];
        device out: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins[..4]);
        kernel apart = look<<<1, 4>>>(&bins[4..], &mut out);
        kernel read = look<<<1, 4>>>(&bins[3..7], &mut out) after apart;
    }
}

fn main() {}
