//! Declaration order carries no meaning: only `after` orders nodes.
use graph_runtime::cuda_graph;
use ui_tests::{read, write};

cuda_graph! {
    pub graph Test {
        memcpy download = result -> output after copy;
        kernel copy = read<<<1, 4>>>(&data, &mut result) after fill;
        kernel fill = write<<<1, 4>>>(&mut data);

        host output: [f32; 4];
        device result: [f32; 4];
        device data: [f32; 4];
    }
}
