//! A host function returns nothing, so it has no error to return.
use graph_runtime::cuda_graph;

cuda_graph! {
    graph Test {
        host text: [u8; 4];
        call parse = |&text| {
            std::str::from_utf8(text)?;
        };
    }
}

fn main() {}
