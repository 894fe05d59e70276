//! A kernel that gets the condition as `&` ends a loop only if it updates it atomically.
use graph_runtime::cuda_graph;
use ui_tests::look;

cuda_graph! {
    graph Test {
        device more: u32;
        device out: [u32; 1];
        while repeat = more {
            kernel read = look<<<1, 1>>>(&more, &mut out);
        };
    }
}

fn main() {}
