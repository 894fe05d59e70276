//! A kernel gets mapped memory as `&`.
use graph_runtime::cuda_graph;
use ui_tests::announce;

cuda_graph! {
    graph Test {
        mapped news: [u32; 4];
        kernel tell = announce<<<1, 4>>>(&mut news, 7);
    }
}

fn main() {}
