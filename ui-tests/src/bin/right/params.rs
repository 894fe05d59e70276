//! A `param` may be part of any argument, dimension or value; each is updated by its own setter.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::{Params, scaled, with_struct, write};

cuda_graph! {
    graph Test {
        device data: [f32; 1024];
        param rate: f32 = 0.1;
        param count: u32 = 4 * 64;
        param params: Params = Params { a: 1.0, b: 0.0, n: 16 };
        kernel scale = scaled<<<count.div_ceil(64), 64>>>(&mut data, rate * 0.5, count);
        kernel all = unsafe with_struct<<<1, (count, 1, 1)>>>(&mut data, params) after scale;
        kernel some = unsafe with_struct<<<1, 16>>>(&mut data, Params { n: 8, ..params }) after all;
        kernel fill = write<<<count / 256, 256, count>>>(&mut data) after some;
        memset end = data[0] <- if rate > 1.0 { 1.0 } else { rate } after fill;
    }
}

fn update(graph: &mut Test) -> Result<()> {
    graph.set_rate(graph.rate() * 0.9)?;
    graph.set_count(512)?;
    graph.set_params(Params {
        a: 2.0,
        ..graph.params()
    })
}

pub(crate) fn main() {
    let _: fn(&Device) -> Result<Test> = Test::build;
    let _: fn(&mut Test) -> Result<()> = update;
}
