//! A graph whose names, types, lengths and kernels a `macro_rules!` fills in.

use graph_runtime::{Device, DeviceBuffer, Result, cuda_graph};
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

macro_rules! visible {
    ($visibility:vis $name:ident, $kernel:vis, $block:expr) => {
        cuda_graph! {
            $visibility graph $name {
                $visibility device data: [f32; 8];
                $kernel kernel ones = write<<<1, $block>>>(&mut data);
            }
        }
    };
}

const BLOCK: (u32, u32) = (4, 2);
visible!(pub(crate) Visible, pub(self), BLOCK);
visible!(Private, , (4, 2));

macro_rules! expression {
    ($device:expr, $captured:ident, $length:expr, $factor:expr) => {{
        let half = $length / 2;
        cuda_graph! { $device =>
            device other: [f32; $length];
            param start: f32 = $factor;
            memset one = $captured[..half] <- start;
            memset two = other[half..] <- $factor;
            kernel last = write<<<1, $length as u32>>>(&mut $captured) after one;
        }
    }};
}

fn captured(device: &Device, data: DeviceBuffer<[f32; 4]>, n: usize, factor: f32) -> Result<DeviceBuffer<[f32; 4]>> {
    let graph = expression!(device, data, n, factor)?;
    Ok(graph.into_parts()?.data)
}

pub(crate) fn main() {
    let _ = captured;
    let _ = Filled::set_start;
    let _ = Filled::data;
    let _ = (Visible::data, Visible::ones, Private::ones);
}
