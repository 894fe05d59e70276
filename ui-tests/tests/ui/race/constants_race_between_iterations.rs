//! The copy of one iteration and the kernel of another one.
use graph_runtime::cuda_graph;
use ui_tests::weigh;

cuda_graph! {
    graph Test {
        host     input: [f32; 4];
        device   data:  [[f32; 4]; 3];
        constant table: [f32; 4] = "table";
        each i in 0..3 {
            memcpy upload = input -> table after upload(i - 1);
            kernel k      = weigh<<<1, 4>>>(&mut data[i]) after upload;
        }
    }
}

fn main() {}
