//! Mistakes of the code `aliased-argument`.
use graph_runtime::cuda_graph;
use ui_tests::*;

// One node does not update memory that it also reads.
cuda_graph! {
    graph Aliased {
        device bins: [u32; 4];
        kernel update = count_where<<<1, 4>>>(&bins, &bins);
    }
}

// Two arguments of one node meet in one iteration.
cuda_graph! {
    graph AliasedArgument {
        device data: [[f32; 64]; 8];
        each i in 0..4 {
            kernel next = chained<<<1, 64>>>(&data[2 * i], &mut data[i]);
        }
    }
}

// A copy reads columns that it also writes.
cuda_graph! {
    graph CopyOntoItself {
        device data: [[f32; 8]; 8];
        memcpy shift = data[..][0..4] -> data[..][3..7];
    }
}

fn main() {}
