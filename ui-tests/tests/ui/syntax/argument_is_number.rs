//! A borrowed argument is a resource or a part of one.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        kernel fill = write<<<1, 4>>>(&mut 4);
    }
}

fn main() {}
