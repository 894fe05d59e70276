//! Mistakes with memory.
use graph_runtime::cuda_graph;

// Lengths that are constants are compared by rustc.
const SMALL: usize = 4;
const LARGE: usize = 8;

cuda_graph! {
    graph CopyChangesConstLength {
        host input: [f32; SMALL];
        device data: [f32; LARGE];
        memcpy upload = input -> data;
    }
}

// Ranges between constants have a length, too.
const MID: usize = 3;

cuda_graph! {
    graph CopyChangesConstRange {
        host input: [f32; 4];
        device data: [f32; 4];
        memcpy upload = input[..MID] -> data;
    }
}

// Lengths that are generic have to be the same one.
cuda_graph! {
    graph CopyChangesGenericLength<const N: usize, const M: usize> {
        host input: [f32; N];
        device data: [f32; M];
        memcpy upload = input -> data;
    }
}

fn main() {}
