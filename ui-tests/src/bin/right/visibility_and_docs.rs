//! The type has the graph's visibility, its methods are public, and all of it carries the documentation.
#![deny(missing_docs, unreachable_pub, unused)]

mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        /// Documented.
        pub(crate) graph Test {
            /// The input.
            host input: [f32; 4];
            /// Where it goes.
            device data: [f32; 4];
            /// How it is scaled.
            param factor: f32 = 1.0;
            /// From there to here.
            memcpy upload = input -> data;
            memset scale = data <- factor after upload;
        }
    }
}

pub(crate) fn main() {
    let _ = graphs::Test::build;
    let _ = graphs::Test::set_factor;
}
