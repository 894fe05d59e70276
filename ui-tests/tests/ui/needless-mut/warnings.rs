//! Warnings of the code `needless-mut`.
#![deny(warnings)]
use graph_runtime::{cuda_graph, cuda_kernels};
use std::mem::MaybeUninit;

// Memory that a kernel never writes is not initialised by it.
#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn from(tmp: &mut [MaybeUninit<f32>], out: &mut [f32]);
}

// `mut` says that the graph writes the memory that it shares.
cuda_graph! {
    graph NeedlessMutOfMemory(w: mut device [f32; 4]) {
        device copy: [f32; 4];
        memcpy read = w -> copy;
    }
}

fn main() {}
