//! Parallel loops: in each other and in bodies, with edges between iterations, strides and blocks.
#![deny(warnings)]
use graph_runtime::cuda_graph;
use ui_tests::{read, scaled, write};

cuda_graph! {
    pub graph Each<const N: usize>(layers: usize) {
        device data: [[f32; 64]; 64];
        device flat: [f32; 256];
        device row: [f32; 64];
        device rows: [[f32; 64]; layers];
        device flags: [u32; 8];
        param  factor: f32 = 2.0;

        each i in 0..N {
            kernel scale = scaled<<<1, 64>>>(&mut data[i], factor, 64);
            kernel chain = read<<<1, 64>>>(&data[i], &mut row) after scale, chain(i - 1);
        }
        each i in 0..32 {
            memset even = flat[2 * i] <- 1.0;
            memset odd = flat[i * 2 + 1] <- factor;
        }
        each i in 1..=8 {
            each j in 0..4 {
                memset block = flat[16 * (i - 1) + 4 * j..16 * (i - 1) + 4 * (j + 1)] <- 3.0
                    after even, odd, block(i - 1, j), block(i, j - 1), block(i - 1, j + 1);
            }
        }
        for layer in 0..layers {
            each part in 0..4 {
                memset first = rows[layer][16 * part..16 * part + 16] <- 1.0;
                memset second = rows[layer][16 * part..=16 * part + 15] <- 2.0 after first(layer, part);
            }
            kernel all = write<<<1, 64>>>(&mut rows[layer]) after second;
        }
        each i in 0..4 {
            for j in 0..3 {
                memset step = data[i][j..] <- 0.0 after chain;
            }
            join done after step;
            if maybe = flags[2 * i] {
                each k in 0..2 {
                    memset inner = data[i + 8][32 * k..32 * k + 32] <- 0.0 after inner(i, k - 1);
                }
            } after done;
        }
        join end after all, block, maybe;
    }
}

pub(crate) fn main() {
    let device = graph_runtime::Device::emulator();
    let mut graph = Each::<4>::build(&device, 3).unwrap();
    graph.set_factor(3.0).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.block(2, 3).name(), "block[2][3]");
    assert_eq!(graph.inner(3, 1).name(), "inner[3][1]");
    let plan = Each::<4>::PLAN;
    assert_eq!(plan.loops.iter().filter(|repeated| repeated.parallel).count(), 7);
    assert_eq!(plan.shifts.len(), 5);
}
