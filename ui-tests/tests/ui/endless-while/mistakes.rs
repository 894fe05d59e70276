//! Mistakes of the code `endless-while`.
use graph_runtime::cuda_graph;
use ui_tests::look;

// A kernel that gets the condition as `&` ends a loop only if it updates it atomically.
cuda_graph! {
    graph AtomicsEndlessWhile {
        device more: u32;
        device out: [u32; 1];
        while repeat = more {
            kernel read = look<<<1, 1>>>(&more, &mut out);
        };
    }
}

// Something in the body must end the loop.
cuda_graph! {
    graph ConditionalsEndlessWhile {
        device flag: u32;
        device data: u32;
        memset start = flag <- 1;
        while repeat = flag {
            memset set = data <- 1;
        } after start;
    }
}

fn main() {}
