//! Mistakes with mapped memory.
use graph_runtime::cuda_graph;
use ui_tests::{announce, look};

// The host cannot reach device memory.
cuda_graph! {
    graph DeviceMemory {
        device news: [u32; 4];
        kernel tell = announce<<<1, 4>>>(&news, 7);
    }
}

// A kernel that loads memory plainly does not get mapped memory.
cuda_graph! {
    graph PlainParameter {
        mapped news: [u32; 4];
        device seen: [u32; 4];
        kernel read = look<<<1, 4>>>(&news, &mut seen);
    }
}

// The elements are words, whatever their type is called.
type Small = u8;

cuda_graph! {
    graph WrongType {
        #[allow(unused_resource)]
        mapped news: [Small; 4];
    }
}

fn main() {}
