//! Warnings of the code `unused-resource`.
#![deny(deprecated)]
use graph_runtime::cuda_graph;

// A `param` that no node uses is a warning.
cuda_graph! {
    graph UnusedParam {
        device data: [f32; 4];
        param level: f32 = 1.0;
        memset zero = data <- 0.0;
    }
}

// Memory that no node uses is a warning.
cuda_graph! {
    graph UnusedResource {
        device data: [f32; 4];
        device spare: [f32; 4];
        memset zero = data <- 0.0;
    }
}

// Scratch memory that no node uses is a warning.
cuda_graph! {
    graph UnusedScratch {
        scratch spare: [f32; 4];
        device data: [f32; 4];
        memset zero = data <- 0.0;
    }
}

fn main() {}
