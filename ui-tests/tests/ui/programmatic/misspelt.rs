//! A misspelt `programmatic`.
use graph_runtime::cuda_graph;
use ui_tests::chained;

cuda_graph! {
    graph Test {
        device a: [f32; 4];
        device b: [f32; 4];
        kernel first = chained<<<1, 4>>>(&b, &mut a);
        kernel second = chained<<<1, 4>>>(&a, &mut b) after programatic(first);
    }
}

fn main() {}
