//! Integers of any type stand for an integer parameter.
use graph_runtime::{CallArgument, Device, Error, GraphBuilder, Launch, cuda_graph, cuda_kernels};
use ui_tests::scaled;

const LEN: usize = 64;
const LEAST: i128 = -1;

mod signed {
    #[graph_runtime::cuda_kernels("kernels/ui.ptx")]
    unsafe extern "C" {
        pub safe fn scaled(data: &mut [f32], factor: f32, n: i32);
    }
}

#[cuda_kernels("kernels/ui.ptx")]
unsafe extern "C" {
    #[link_name = "scaled"]
    safe fn whole(data: &mut [f32], factor: f32, n: u32);
}

cuda_graph! {
    graph Integers<const N: usize>(rows: usize, last: i64, text: &str) {
        device data: [f32; LEN];
        param count: u8 = 64;

        kernel literal = scaled<<<1, 64>>>(&mut data, 2.0, 64);
        kernel constant = scaled<<<1, 64>>>(&mut data, 2.0, LEN) after literal;
        kernel generic = scaled<<<1, 64>>>(&mut data, 2.0, N) after constant;
        kernel argument = scaled<<<1, 64>>>(&mut data, 2.0, rows) after generic;
        kernel expression = scaled<<<1, 64>>>(&mut data, 2.0, last.abs() / 2) after argument;
        kernel param = scaled<<<1, 64>>>(&mut data, 2.0, count) after expression;
        kernel large = whole<<<1, 64>>>(&mut data, 2.0, 0xFFFF_FFFF) after param;
        kernel larger = whole<<<1, 64>>>(&mut data, 2.0, (1 << 32) - 1) after large;
        kernel negative = signed::scaled<<<1, 64>>>(&mut data, 2.0, -1) after larger;
        kernel constant_negative = signed::scaled<<<1, 64>>>(&mut data, 2.0, LEAST) after negative;
        kernel mixed = signed::scaled<<<1, 64>>>(&mut data, 2.0, LEN as i16 - 1) after constant_negative;
        kernel nothing = scaled<<<1, 64>>>(&mut data, 2.0, u64::MIN) after mixed;
        kernel converted = scaled<<<1, 64>>>(&mut data, 2.0, rows.try_into().unwrap()) after nothing;
        kernel parsed = scaled<<<1, 64>>>(&mut data, 1_u8.into(), text.parse().map_err(|_| Error::NoDriver)?) after converted;
        for i in 0..4 {
            kernel variable = scaled<<<1, 64>>>(&mut data, 2.0, i) after parsed;
            kernel shifted = whole<<<1, 64>>>(&mut data, 2.0, 1 << (28 + i)) after variable;
        }
    }
}

pub(crate) fn main() {
    let _ = Integers::<64>::build;
    let mut builder = GraphBuilder::new(&Device::emulator(), "Integers");
    let mut data = builder.device::<[f32; LEN]>("data");
    builder.kernel("all", Launch::new(1, 64), scaled::call(&mut data, 2.0, LEN));
    let _ = CallArgument::value(1_u32);
}
