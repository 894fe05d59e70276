//! A graph is an item: of what stands around it only other items are in scope.
use graph_runtime::cuda_graph;
use ui_tests::write;

fn main() {
    let _threads = 4;
    cuda_graph! {
        graph Test {
            device data: [f32; 4];
            kernel fill = write<<<1, _threads>>>(&mut data);
        }
    }
}
