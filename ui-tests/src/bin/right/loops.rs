//! Loops, alone and in each other and in bodies, in a generic graph with build arguments and params.
#![deny(warnings)]
use graph_runtime::cuda_graph;
use std::ops::Range;
use ui_tests::{read, scaled, write};

const EDGES: Range<usize> = 1..3;

cuda_graph! {
    pub graph Loops<const N: usize>(layers: usize) {
        host   input: [f32; N];
        host   output: [f32; N];
        device weights: [[f32; N]; layers];
        device data: [f32; N];
        device out: [f32; N];
        device flags: [u32; 4];
        param  factor: f32 = 2.0;

        memcpy upload = input -> data;
        for layer in 0..layers {
            /// The weights of one layer.
            kernel load = read<<<1, N as u32>>>(&weights[layer], &mut data) after upload;
            kernel scale = scaled<<<1, N as u32>>>(&mut data, factor * layer as f32, N as u32) after load;
            for i in 0..N / 2 {
                memset left = out[2 * i] <- layer as f32;
                memset right = out[2 * i + 1..=2 * i + 1] <- factor after left;
            }
            join both after scale, right;
        }
        #[allow(redundant_edge)]
        for i in EDGES {
            memset first = data[i] <- 1.0 after both;
            memset second = data[i..i + 1] <- 2.0 after first;
            memset third = data[..=i] <- 3.0 after first, second;
        }
        for i in 0..=3 {
            if maybe = flags[i] {
                for k in 0..2 {
                    kernel set = write<<<1, 1 + k as u32>>>(&mut data[i..]);
                }
            } else {
                memset clear = data[i] <- 0.0;
            } after third;
        }
        for i in 0..0 {
            join never after maybe;
        }
        for _unused in 0..1 {}
        memcpy download = data -> output after never;
    }
}

pub(crate) fn main() {
    let device = graph_runtime::Device::emulator();
    let mut graph = Loops::<8>::build(&device, 3).unwrap();
    graph.set_factor(3.0).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.right(2, 1).name(), "right[2][1]");
    assert_eq!(graph.set(3, 1).name(), "set[3][1]");
    assert_eq!(Loops::<8>::PLAN.loops.len(), 7);
}
