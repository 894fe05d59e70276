//! A graph whose names, types, lengths and kernels a `macro_rules!` fills in.

use graph_runtime::cuda_graph;
use ui_tests::write;

macro_rules! filled {
    ($name:ident, $element:ty, $length:expr, $memory:ident, $value:expr, $kernel:path) => {
        cuda_graph! {
            pub graph $name {
                device $memory: [$element; $length];
                device other: [$element; $length];
                param start: f32 = $value;
                memset zero = $memory <- start;
                memset one = other <- $value;
                kernel first = write<<<1, $length>>>(&mut $memory) after zero;
                kernel second = $kernel<<<1, $length>>>(&mut other[..$length]) after one;
            }
        }
    };
}

filled!(Filled, f32, 8, data, 1.5, ui_tests::write);

fn main() {
    let _ = Filled::set_start;
    let _ = Filled::data;
}
