//! A child's mapped memory is bound to mapped memory.
use graph_runtime::cuda_graph;
use ui_tests::announce;

cuda_graph! {
    graph Test {
        device news: [u32; 4];
        graph inner = Inner(news: &news);
    }
}

cuda_graph! {
    graph Inner {
        mapped news: [u32; 4];
        kernel tell = announce<<<1, 4>>>(&news, 7);
    }
}

fn main() {}
