//! Parts that literals, constants or const generics tell apart need no order.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

const MID: usize = 4;

cuda_graph! {
    graph Parts<const I: usize, const N: usize> {
        device data: [f32; 8];
        memset first = data[0] <- 0.0;
        memset second = data[1] <- 1.0;
        memset third = data[2..=3] <- 2.0;
        memset rest = data[4..] <- 3.0;

        device split: [f32; 8];
        kernel low = write<<<1, 4>>>(&mut split[..MID]);
        kernel high = write<<<1, 4>>>(&mut split[MID..]);

        device halves: [f32; N];
        memset left = halves[..N / 2] <- 0.0;
        memset right = halves[N / 2..] <- 1.0;

        host input: [f32; N];
        device matrix: [[f32; N]; 4];
        memcpy row = input -> matrix[I];
        memcpy rows = matrix[0..2] -> matrix[2..4] after row;

        device tail: [f32; 12];
        memset all = tail[..] <- 0.0;
        kernel shift = read<<<1, 4>>>(&tail[..4], &mut tail[4..8]) after all;
        memcpy last = tail[MID..8] -> tail[8..] after shift;
    }
}
