//! Mistakes that rustc reports as E0435.
use graph_runtime::cuda_graph;
use ui_tests::write;

// A graph item is built where no local variable is in scope.
fn local_variable() {
    let limit = 3.0;
    cuda_graph! {
        graph LocalVariable {
            host value: f32;
            call check = |&value| assert!(*value < limit);
        }
    }
}

// A graph is an item: of what stands around it only other items are in scope.
fn dimension_is_local() {
    let _threads = 4;
    cuda_graph! {
        graph DimensionIsLocal {
            device data: [f32; 4];
            kernel fill = write<<<1, _threads>>>(&mut data);
        }
    }
}

fn main() {}
