//! Each mistake is reported, and each once: these are four.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        host input: [f32; 8];
        device data: [f32; 8];
        device other: [f32; 4];
        memcpy upload = input -> data;
        kernel fill = write<<<1, 8>>>(&mut data);
        memcpy narrow = data -> other after fill, upload;
        join a after b;
        join b after a;
        memset zero = other[4] <- 0.0 after narrow;
    }
}

fn main() {}
