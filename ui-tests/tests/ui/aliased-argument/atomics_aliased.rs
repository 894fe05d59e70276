//! One node does not update memory that it also reads.
use graph_runtime::cuda_graph;
use ui_tests::count_where;

cuda_graph! {
    graph Test {
        device bins: [u32; 4];
        kernel update = count_where<<<1, 4>>>(&bins, &bins);
    }
}

fn main() {}
