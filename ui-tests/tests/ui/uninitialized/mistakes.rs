//! Mistakes of the code `uninitialized`.
use graph_runtime::cuda_graph;
use ui_tests::scaled;

// The first iteration has none before it that could have written.
cuda_graph! {
    graph UninitializedFirstIteration {
        scratch row: [[f32; 4]; 5];
        device out: [[f32; 4]; 5];
        each i in 1..5 {
            memset fill = row[i] <- 0.0;
            memcpy keep = row[i - 1] -> out[i] after fill(i - 1);
        }
    }
}

// A first `&mut` counts as a write, unless the PTX loads through it: `scaled` multiplies what is there.
cuda_graph! {
    graph FirstKernelLoads {
        scratch tmp: [f32; 4];
        device out: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut tmp, 2.0, 4);
        memcpy keep = tmp -> out after double;
    }
}

// The first kernel of scratch memory loads from it, in a generic graph; `cargo check` reports it.
cuda_graph! {
    graph FirstKernelLoadsInGenericGraph<const N: usize> {
        scratch tmp: [f32; N];
        device out: [f32; N];
        kernel double = scaled<<<1, 4>>>(&mut tmp, 2.0, 4);
        memcpy keep = tmp -> out after double;
    }
}

fn main() {}
