//! The worth of `graph.advice()`: each graph as it was written, a profile of it, the advice, and the graph after that
//! was followed, with nothing else changed. Both compute the same. Rounds of both are in turns.
//!
//! * `server`: the graph for one request, with copy nodes. Its upload becomes a kernel, its layers have more blocks.
//! * `train_digits`: a step of training, with copy nodes. Its uploads become kernels, as they are by default.
//! * `sensors`: a graph as somebody writes who comes from streams: eight sensors have nothing to do with each other,
//!   and all their work is in one line. Edges that no data needs are left out.

use examples::compare::close;
use examples::digits::{B, Model, Train, digits};
use examples::mlp::{Layer, linear};
use examples::program::random;
use graph_runtime::{AnyGraph, BoxError, Device, Graph, GraphBuilder, Launch, Uploads, cuda_graph, cuda_kernels};
use std::time::Instant;

/// The rounds that are measured, after some that are not, and the launches of each, with a wait after the last.
const ROUNDS: usize = 21;
const WARM_UP: usize = 5;
const LAUNCHES: u32 = 200;
/// The launches of a profile.
const PROFILED: usize = 20;
/// The rows of a request to the server, and its layers.
const ROWS: usize = 16;
const INPUTS: usize = 64;
const WIDE: usize = 256;
const OUTPUTS: usize = 16;
/// The threads of a block of `linear_by_warps`, and the outputs that these compute.
const THREADS: usize = 256;
const EACH: usize = THREADS / 32;
/// The sensors, and the layers that each has.
const SENSORS: usize = 8;
const LAYERS: usize = 6;

#[cuda_kernels("kernels/linear_by_warps.ptx")]
unsafe extern "C" {
    /// As `linear`; a block for each row and eight columns, a warp for each column
    #[requires(grid.x * inputs <= x.len() && outputs * inputs <= w.len() && outputs <= b.len() && grid.x * outputs <= y.len())]
    #[requires(block.x == 256)]
    safe fn linear_by_warps(x: &[f32], w: &[f32], b: &[f32], y: &mut [f32], inputs: u32, outputs: u32, relu: u32);
}

cuda_graph! {
    /// A request, as in `server`.
    graph Infer(
        w1: device [[f32; INPUTS]; WIDE], b1: device [f32; WIDE], w2: device [[f32; WIDE]; OUTPUTS], b2: device [f32; OUTPUTS],
    ) {
        host    input:  [[f32; INPUTS]; ROWS];
        host    output: [[f32; OUTPUTS]; ROWS];
        scratch x:      [[f32; INPUTS]; ROWS];
        scratch wide:   [[f32; WIDE]; ROWS];
        scratch y:      [[f32; OUTPUTS]; ROWS];

        memcpy upload   = input -> x;
        kernel first    = linear<<<ROWS, WIDE>>>(&x, &w1, &b1, &mut wide, INPUTS, WIDE, 1)         after upload;
        kernel second   = linear<<<ROWS, OUTPUTS>>>(&wide, &w2, &b2, &mut y, WIDE, OUTPUTS, 0)     after first;
        memcpy download = y -> output                                                             after second;
    }

    /// "launch at least 132 blocks, each with less to do"
    graph InferAdvised(
        w1: device [[f32; INPUTS]; WIDE], b1: device [f32; WIDE], w2: device [[f32; WIDE]; OUTPUTS], b2: device [f32; OUTPUTS],
    ) {
        host    input:  [[f32; INPUTS]; ROWS];
        host    output: [[f32; OUTPUTS]; ROWS];
        scratch x:      [[f32; INPUTS]; ROWS];
        scratch wide:   [[f32; WIDE]; ROWS];
        scratch y:      [[f32; OUTPUTS]; ROWS];

        memcpy upload   = input -> x;
        kernel first    = linear_by_warps<<<(ROWS, WIDE / EACH), THREADS>>>(&x, &w1, &b1, &mut wide, INPUTS, WIDE, 1)      after upload;
        kernel second   = linear_by_warps<<<(ROWS, OUTPUTS / EACH), THREADS>>>(&wide, &w2, &b2, &mut y, WIDE, OUTPUTS, 0)  after first;
        memcpy download = y -> output                                                                                     after second;
    }
}

/// The layers of some sensors: each after the one that was written before it, or only after that of the same sensor.
fn sensors(device: &Device, in_a_line: bool) -> graph_runtime::Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Sensors");
    let w = builder.device::<[f32; INPUTS * INPUTS]>("w");
    let b = builder.device::<[f32; INPUTS]>("b");
    let mut last = [None; SENSORS];
    let mut before = None;
    let mut memory: Vec<_> = (0..SENSORS)
        .map(|sensor| [0, 1].map(|side| builder.device::<[f32; INPUTS]>(format!("x{sensor}_{side}"))))
        .collect();
    for layer in 0..LAYERS {
        for (sensor, [x, y]) in memory.iter_mut().enumerate() {
            let (from, to) = if layer % 2 == 0 { (&*x, y) } else { (&*y, x) };
            let call = linear::call(from, &w, &b, to, INPUTS as u32, INPUTS as u32, 1);
            let node = builder.kernel(format!("layer{layer}_{sensor}"), Launch::new(1, INPUTS as u32), call);
            let needed = if in_a_line { before } else { last[sensor] };
            needed.iter().for_each(|&before| builder.after(node, &[before]));
            (last[sensor], before) = (Some(node), Some(node));
        }
    }
    builder.build()
}

/// Prints a profile of a graph and the advice about it, and the times of a launch of it and of the one that follows the
/// advice.
fn compare(name: &str, before: &mut impl AnyGraph, after: &mut impl AnyGraph) -> Result<(), BoxError> {
    println!("{}\n{}", before.profile(PROFILED)?, before.advice());
    let (mut own, mut advised, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..WARM_UP + ROUNDS {
        let (one, other) = (time(before)?, time(after)?);
        if round >= WARM_UP {
            own.push(one);
            advised.push(other);
            ratios.push(other / one);
        }
    }
    let [own, advised, ratios] = [own, advised, ratios].map(quartiles);
    let text = |[low, median, high]: [f64; 3]| format!("{median:.2} ({low:.2} to {high:.2})");
    println!(
        "advice:  {name}: {} us as written, {} us as advised: {}",
        text(own),
        text(advised),
        text(ratios)
    );
    let path = before.profile(PROFILED)?.critical_time().as_secs_f64() * 1e6;
    println!(
        "profile: {name}: {path:.2} us along the critical path, {:.2} of a launch",
        path / own[1]
    );
    let left = after.profile(PROFILED)?;
    let path = left.critical_time().as_secs_f64() * 1e6;
    println!(
        "profile: {name}, as advised: {path:.2} us along the critical path, {:.2} of a launch",
        path / advised[1]
    );
    println!("left: {}\n", after.advice());
    Ok(())
}

/// The microseconds of a launch among many.
fn time(graph: &mut impl AnyGraph) -> graph_runtime::Result<f64> {
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        graph.launch()?;
    }
    graph.synchronize()?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES))
}

/// The lower quartile, the median and the upper quartile.
fn quartiles(mut numbers: Vec<f64>) -> [f64; 3] {
    numbers.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| numbers[(numbers.len() - 1) * quarter / 4])
}

fn server(device: &Device) -> Result<(), BoxError> {
    let mut random = random(1);
    let first = Layer::new(device, &mut random, 0.1)?;
    let second = Layer::new(device, &mut random, 0.1)?;
    let copies = device.with_uploads(Uploads::Copies);
    let mut before = Infer::build(&copies, &first.w, &first.b, &second.w, &second.b)?;
    let mut uploads = Infer::build(device, &first.w, &first.b, &second.w, &second.b)?;
    let mut after = InferAdvised::build(device, &first.w, &first.b, &second.w, &second.b)?;
    let input = [(); ROWS].map(|()| [(); INPUTS].map(|()| random()));
    *before.input_mut()? = input;
    *uploads.input_mut()? = input;
    *after.input_mut()? = input;
    before.launch()?;
    uploads.launch()?;
    after.launch()?;
    let expected = before.output()?.as_flattened();
    close("uploads", uploads.output()?.as_flattened(), expected, 0.0)?;
    close("as advised", after.output()?.as_flattened(), expected, 1e-5)?;
    compare("server, uploads alone", &mut before, &mut uploads)?;
    compare("server", &mut before, &mut after)
}

fn train_digits(device: &Device) -> Result<(), BoxError> {
    let (images, _) = digits()?;
    let mut random = random(1);
    let models = [Model::new(device, &mut random)?, Model::new(device, &mut random)?];
    models[1].write(&models[0].read()?.concat())?;
    let build = |device: &Device, model: &Model| Train::build(device, 7, &model.layer1, &model.layer2, &model.layer3);
    let mut before = build(&device.with_uploads(Uploads::Copies), &models[0])?;
    let mut after = build(device, &models[1])?;
    for graph in [&mut before, &mut after] {
        let memory = graph.memory_mut()?;
        for (row, digit) in images.iter().take(B).enumerate() {
            (memory.images[row], memory.labels[row]) = (digit.image, digit.label);
        }
        for _ in 0..3 {
            graph.launch()?;
        }
    }
    if models[0].read()?.concat() != models[1].read()?.concat() {
        return Err("train_digits: the graph that follows the advice computes something else".into());
    }
    compare("train_digits", &mut before, &mut after)
}

fn main() -> Result<(), BoxError> {
    let device = Device::any()?;
    if device.is_emulator() {
        println!("advice: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    println!(
        "{}: medians of {ROUNDS} rounds of {LAUNCHES} launches, and quartiles",
        device.name()
    );
    server(&device)?;
    train_digits(&device)?;
    compare("sensors", &mut sensors(&device, true)?, &mut sensors(&device, false)?)
}
