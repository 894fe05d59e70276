//! Memory that nodes update at the same time, and memory that a kernel initialises: no warnings, in every form.
#![deny(warnings)]

use graph_runtime::bytemuck::{Pod, Zeroable};
use graph_runtime::{Atomic, cuda_graph, cuda_kernels};
use std::mem::MaybeUninit;
use ui_tests::{count, look, read, through};

/// An element type that is no scalar.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Count(u32);

// SAFETY: a plain integer.
unsafe impl Zeroable for Count {}
// SAFETY: a plain integer.
unsafe impl Pod for Count {}

mod declared {
    use super::*;

    #[cuda_kernels("kernels/atomic.ptx")]
    unsafe extern "C" {
        #[link_name = "count"]
        pub safe fn count_all(bins: &[[Atomic<u32>; 2]]);
        #[link_name = "count"]
        pub safe fn count_exactly(bins: &[[graph_runtime::Atomic<u32>; 2]; 2]);
        #[link_name = "count"]
        pub safe fn count_one(bins: &Atomic<u32>);
        #[link_name = "count"]
        pub(super) safe fn count_typed(bins: &[Atomic<Count>]);
        #[link_name = "count_and_look"]
        pub fn trusted(bins: &[Atomic<u32>], out: &mut [MaybeUninit<u32>]);
        #[link_name = "through"]
        pub safe fn through_exactly(tmp: &mut [std::mem::MaybeUninit<f32>; 4], out: &mut MaybeUninit<[f32; 4]>);
    }
}
use declared::{count_all, count_exactly, count_one, count_typed, through_exactly, trusted};

cuda_graph! {
    graph Forms {
        device bins: [[u32; 2]; 2];
        device typed: [Count; 4];
        host counts: [[u32; 2]; 2];
        memset clear = bins <- 0;
        kernel all = count_all<<<1, 4>>>(&bins) after clear;
        kernel exactly = count_exactly<<<1, 4>>>(&bins) after clear;
        kernel one = count_one<<<1, 1>>>(&bins[0][0]) after clear;
        kernel row = count<<<1, 2>>>(&bins[1]) after clear;
        kernel typed_count = count_typed<<<1, 4>>>(&typed);
        memcpy down = bins -> counts after all, exactly, one, row;
    }

    /// Iterations of a `for` come one after the other; those of an `each` update the same memory.
    graph Loops {
        device bins: [u32; 4];
        device out: [[u32; 4]; 3];
        for i in 0..3 {
            kernel update = count<<<1, 4>>>(&bins);
            kernel look_at = look<<<1, 4>>>(&bins, &mut out[i]) after update;
        }
        each _i in 0..3 {
            kernel more = count<<<1, 4>>>(&bins) after look_at;
        }
    }

    graph Unsafe {
        device bins: [u32; 4];
        device out: [u32; 4];
        kernel both = unsafe trusted<<<1, 4>>>(&bins, &mut out);
        kernel other = count<<<1, 4>>>(&bins);
    }

    /// Only an atomic update writes the shared memory.
    graph Shared(bins: mut device [u32; 4]) {
        kernel update = count<<<1, 4>>>(&bins);
    }

    graph Until {
        device more: u32;
        while repeat = more {
            kernel update = count_one<<<1, 1>>>(&more);
        };
    }

    /// `tmp` has no other writer than kernels that read it, too.
    graph Temporary {
        scratch tmp: [f32; 4];
        scratch other: [f32; 4];
        device out: [f32; 4];
        kernel first = through<<<1, 4>>>(&mut tmp, &mut out);
        kernel second = through_exactly<<<1, 4>>>(&mut other, &mut out) after first;
        kernel third = read<<<1, 4>>>(&other, &mut out) after second;
    }
}
