//! A kernel that loads memory plainly does not get mapped memory.
use graph_runtime::cuda_graph;
use ui_tests::look;

cuda_graph! {
    graph Test {
        mapped news: [u32; 4];
        device seen: [u32; 4];
        kernel read = look<<<1, 4>>>(&news, &mut seen);
    }
}

fn main() {}
