//! Mistakes with constant memory.
use graph_runtime::cuda_graph;
use ui_tests::{count_up, weigh};

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

fn main() {}
