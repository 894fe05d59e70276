//! A kernel that reads the variable runs after the copy to it.
use graph_runtime::cuda_graph;
use ui_tests::weigh;

cuda_graph! {
    graph Test {
        host     input: [f32; 4];
        device   data:  [f32; 4];
        constant table: [f32; 4] = "table";
        memcpy upload = input -> table;
        kernel k      = weigh<<<1, 4>>>(&mut data);
    }
}

fn main() {}
