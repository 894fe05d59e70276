//! A shape is an element or an array of up to four dimensions, and may have a name: then that is the element.
use graph_runtime::cuda_graph;
use ui_tests::{tile, write};

type Row = [f32; WIDTH];
type Image = [Row; 8];
const WIDTH: usize = 16;

cuda_graph! {
    graph Test {
        host flag_input: u32;
        device flag: u32;
        memcpy flag_upload = flag_input -> flag;

        host input: [[[[f32; 4]; 3]; 2]; 5];
        device volume: [[[[f32; 4]; 3]; 2]; 5];
        memcpy volume_upload = input -> volume;
        kernel fill_volume = write<<<1, 120>>>(&mut volume) after volume_upload;

        device image: Image;
        device rows: [Row; 4];
        device same: [[f32; 16]; 8];
        memset zero = image <- [[0.0; WIDTH]; 8];
        memcpy copy = image -> same after zero;
        memcpy copy_rows = same[..4] -> rows after copy;

        device square: [Row; WIDTH];
        kernel fill_square = tile<<<1, (16, 16)>>>(&mut square);
    }
}
