//! One missing edge is one mistake, whatever the memory that both nodes access.
use graph_runtime::cuda_graph;
use ui_tests::two_out;

cuda_graph! {
    graph Test {
        device left: [f32; 4];
        device right: [f32; 4];
        kernel first = two_out<<<1, 4>>>(&mut left, &mut right);
        kernel second = two_out<<<1, 4>>>(&mut left, &mut right);
    }
}

fn main() {}
