//! A block of a wavefront that does not run after the block to its left.
use graph_runtime::cuda_graph;
use ui_tests::*;

cuda_graph! {
    graph Test {
        device cells: [[f32; 64]; 9];
        each i in 1..9 {
            each j in 0..7 {
                kernel block = read<<<1, 8>>>(&cells[i - 1][8 * j..8 * j + 8], &mut cells[i][8 * j..8 * j + 9])
                    after block(i - 1, j);
            }
        }
    }
}

fn main() {}
