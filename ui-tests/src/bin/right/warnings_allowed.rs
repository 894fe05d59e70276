//! `#[allow(rule)]` at a statement or for the whole graph silences a warning.
#![deny(deprecated)]
use graph_runtime::{cuda_graph, cuda_kernels};

#[cuda_kernels("kernels/ui.ptx")]
unsafe extern "C" {
    #[allow(needless_mut)]
    #[requires(threads <= input.len() && threads <= out.len())]
    safe fn needless(input: &mut [f32], out: &mut [f32]);
}

cuda_graph! {
    graph AtTheStatement {
        device data: [f32; 4];
        device other: [f32; 4];
        #[allow(unused_resource)]
        device spare: [f32; 4];
        kernel start = needless<<<1, 4>>>(&mut data, &mut other);
        join middle after start;
        #[allow(redundant-edge)]
        join end after start, middle;
    }
}

cuda_graph! {
    #[allow(unused_resource, redundant_edge)]
    graph AtTheGraph {
        device spare: [f32; 4];
        join start;
        join middle after start;
        join end after start, middle;
    }
}
