//! Mistakes of the code `race`.
use graph_runtime::cuda_graph;
use ui_tests::*;

// In an `each`, one iteration may update what another reads, although `read` runs after `update` in each.
cuda_graph! {
    graph RaceAcrossIterations {
        device bins: [u32; 4];
        device out: [[u32; 4]; 3];
        each i in 0..3 {
            kernel update = count<<<1, 4>>>(&bins);
            kernel read = look<<<1, 4>>>(&bins, &mut out[i]) after update;
        }
    }
}

// The updates of a body are unordered with what its node is unordered with.
cuda_graph! {
    graph RaceFromBody {
        device flag: u32;
        device bins: [u32; 4];
        device out: [u32; 4];
        if maybe = flag {
            kernel update = count<<<1, 4>>>(&bins);
        };
        kernel read = look<<<1, 4>>>(&bins, &mut out);
    }
}

// Parts that do not overlap are updated and read at the same time; these two share an element.
cuda_graph! {
    graph RaceOfPart {
        device bins: [u32; 8];
        device out: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins[..4]);
        kernel apart = look<<<1, 4>>>(&bins[4..], &mut out);
        kernel read = look<<<1, 4>>>(&bins[3..7], &mut out) after apart;
    }
}

// What a child updates atomically is bound as `&`, and races with plain loads.
cuda_graph! {
    graph RaceWithChild {
        device bins: [u32; 4];
        device out: [u32; 4];
        graph inner = Inner(bins: &bins);
        kernel read = look<<<1, 4>>>(&bins, &mut out);
    }
}

cuda_graph! {
    graph Inner {
        device bins: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
    }
}

// Atomic updates race with copies.
cuda_graph! {
    graph RaceWithCopy {
        device bins: [u32; 4];
        host counts: [u32; 4];
        memset clear = bins <- 0;
        kernel update = count<<<1, 4>>>(&bins) after clear;
        memcpy down = bins -> counts after clear;
    }
}

// Atomic updates race with plain loads, although both are written `&bins`.
cuda_graph! {
    graph RaceWithRead {
        device bins: [u32; 4];
        device out: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
        kernel read = look<<<1, 4>>>(&bins, &mut out);
    }
}

// A kernel that reads the variable runs after the copy to it.
cuda_graph! {
    graph Race {
        host     input: [f32; 4];
        device   data:  [f32; 4];
        constant table: [f32; 4] = "table";
        memcpy upload = input -> table;
        kernel k      = weigh<<<1, 4>>>(&mut data);
    }
}

// The copy of one iteration and the kernel of another one.
cuda_graph! {
    graph RaceBetweenIterations {
        host     input: [f32; 4];
        device   data:  [[f32; 4]; 3];
        constant table: [f32; 4] = "table";
        each i in 0..3 {
            memcpy upload = input -> table after upload(i - 1);
            kernel k      = weigh<<<1, 4>>>(&mut data[i]) after upload;
        }
    }
}

// A copy of a variable that a kernel writes runs after or before it.
cuda_graph! {
    graph RaceWithWritingKernel {
        host     seen:   [u32; 2];
        constant totals: [u32; 2] = "totals";
        kernel count = count_up<<<1, 2>>>();
        memcpy look  = totals -> seen;
    }
}

// A block of a wavefront that does not run after the block to its left.
cuda_graph! {
    graph RaceOfBlocks {
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
