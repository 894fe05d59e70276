//! Mistakes with atomic accesses.
use graph_runtime::cuda_graph;
use ui_tests::{count, look};

// A child that updates memory and also reads it plainly is given it as `&mut`.
cuda_graph! {
    graph ChildReadsToo {
        device bins: [u32; 4];
        device seen: [u32; 4];
        graph inner = Inner(bins: &bins, seen: &mut seen);
    }
}

cuda_graph! {
    graph Inner {
        device bins: [u32; 4];
        device seen: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
        kernel read = look<<<1, 4>>>(&bins, &mut seen) after update;
    }
}

// Memory that is updated atomically is shared as `mut`.
cuda_graph! {
    graph SharedWithoutMut(bins: device [u32; 4]) {
        kernel update = count<<<1, 4>>>(&bins);
    }
}

fn main() {}
