//! The worth of `graph.advice()`: graphs as they were written, the advice about them, and the same graphs after it was
//! followed, with nothing else changed. Both compute the same.
//!
//! * `server`: the graph for one request.
//! * `train_digits`: a step of training.
//! * `sensors`: a graph as somebody writes who comes from streams: eight sensors have nothing to do with each other,
//!   and all their work is in one line.

use examples::bench::Figure;
use examples::digits::kernels::{back, hidden, learn, loss, schedule};
use examples::digits::{B, CLASSES, HIDDEN, Layer1, Layer2, Layer3, Model, PIXELS, Train, digits};
use examples::mlp::{Layer, linear};
use examples::program::random;
use graph_runtime::{AnyGraph, BoxError, Device, Graph, GraphBuilder, Launch, Mapped, cuda_graph, cuda_kernels};

const ROUNDS: usize = 20;
const LAUNCHES: usize = 200;
/// The rows of a request to the server, and its layers.
const ROWS: usize = 16;
const INPUTS: usize = 64;
const WIDE: usize = 256;
const OUTPUTS: usize = 16;
/// The numbers of the layers of `train_digits`, and the share that its dropout keeps.
const SIZES: [usize; 3] = [
    size_of::<Layer1>() / 4,
    size_of::<Layer2>() / 4,
    size_of::<Layer3>() / 4,
];
const KEEP: f32 = 0.5;
/// The sensors, and the layers that each has.
const SENSORS: usize = 8;
const LAYERS: usize = 6;

#[cuda_kernels("kernels/fetch.ptx")]
unsafe extern "C" {
    /// `to = from`, a thread for each of `n`
    #[requires(n <= from.len() && n <= to.len())]
    safe fn fetch(from: &[Mapped<u32>], to: &mut [u32], n: u32);
    #[link_name = "fetch"]
    #[requires(n <= from.len() && n <= to.len())]
    safe fn fetch_floats(from: &[Mapped<f32>], to: &mut [f32], n: u32);
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

    /// "declare the memory as `mapped`, and let a kernel copy it"
    graph InferAdvised(
        w1: device [[f32; INPUTS]; WIDE], b1: device [f32; WIDE], w2: device [[f32; WIDE]; OUTPUTS], b2: device [f32; OUTPUTS],
    ) {
        mapped  input:  [[f32; INPUTS]; ROWS];
        host    output: [[f32; OUTPUTS]; ROWS];
        scratch x:      [[f32; INPUTS]; ROWS];
        scratch wide:   [[f32; WIDE]; ROWS];
        scratch y:      [[f32; OUTPUTS]; ROWS];

        kernel upload   = fetch_floats<<<ROWS, INPUTS>>>(&input, &mut x, ROWS * INPUTS);
        kernel first    = linear<<<ROWS, WIDE>>>(&x, &w1, &b1, &mut wide, INPUTS, WIDE, 1)         after upload;
        kernel second   = linear<<<ROWS, OUTPUTS>>>(&wide, &w2, &b2, &mut y, WIDE, OUTPUTS, 0)     after first;
        memcpy download = y -> output                                                             after second;
    }

    /// `Train` of `examples::digits`, with images and labels that are `mapped`.
    graph TrainAdvised(seed: u64, layer1: mut device Layer1, layer2: mut device Layer2, layer3: mut device Layer3) {
        mapped  images:   [[f32; PIXELS]; B];
        mapped  labels:   [u32; B];
        rng     dropout = seed, draws 4;
        param   rows:     u32 = B as u32;
        param   peak:     f32 = 4e-3;
        param   warm_up:  u32 = 1;
        param   total:    u32 = 1000;

        device  step:     u32;
        device  rates:    [f32; 3];
        device  losses:   f32;
        device  moments1: [Layer1; 2];
        device  moments2: [Layer2; 2];
        device  moments3: [Layer3; 2];
        scratch x:        [[f32; PIXELS]; B];
        scratch wanted:   [u32; B];
        scratch h1:       [[f32; HIDDEN]; B];
        scratch h2:       [[f32; HIDDEN]; B];
        scratch dy:       [[f32; CLASSES]; B];
        scratch dh2:      [[f32; HIDDEN]; B];
        scratch dh1:      [[f32; HIDDEN]; B];

        kernel up      = fetch_floats<<<B, PIXELS>>>(&images, &mut x, B * PIXELS);
        kernel label   = fetch<<<1, B>>>(&labels, &mut wanted, B);
        kernel first   = hidden<<<(4, 2), 256>>>(&x, &layer1, &dropout, &mut h1, PIXELS, HIDDEN, KEEP)   after up;
        kernel second  = hidden<<<(4, 2), 256>>>(&h1, &layer2, &dropout, &mut h2, HIDDEN, HIDDEN, KEEP)  after first;
        kernel error   = loss<<<B / 8, 256>>>(&h2, &layer3, &wanted, &mut dy, &losses, rows)             after second, label;
        kernel back2   = back<<<(4, 2), 256>>>(&dy, &layer3, &h2, &mut dh2, HIDDEN, CLASSES, KEEP)       after error;
        kernel back1   = back<<<(4, 2), 256>>>(&dh2, &layer2, &h1, &mut dh1, HIDDEN, HIDDEN, KEEP)       after back2;

        kernel count   = schedule<<<1, 1>>>(&mut step, &mut rates, peak, warm_up, total);
        kernel learn3  = learn<<<(4, 1), 256>>>(&dy, &h2, &rates, &mut layer3, &mut moments3, B, HIDDEN, CLASSES, SIZES[2])  after back2, count;
        kernel learn2  = learn<<<(4, 4), 256>>>(&dh2, &h1, &rates, &mut layer2, &mut moments2, B, HIDDEN, HIDDEN, SIZES[1])  after back1, count;
        kernel learn1  = learn<<<(2, 4), 256>>>(&dh1, &x, &rates, &mut layer1, &mut moments1, B, PIXELS, HIDDEN, SIZES[0])  after back1, count;
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

fn main() -> Result<(), BoxError> {
    let device = Device::any()?;
    if device.is_emulator() {
        println!("advice: there is no CUDA device; nothing is measured");
        return Ok(());
    }
    let figure = |name| Figure::new(name, ROUNDS, LAUNCHES);
    let mut random = random(1);

    let (first, second) = (
        Layer::new(&device, &mut random, 0.1)?,
        Layer::new(&device, &mut random, 0.1)?,
    );
    let mut before = Infer::build(&device, &first.w, &first.b, &second.w, &second.b)?;
    let mut after = InferAdvised::build(&device, &first.w, &first.b, &second.w, &second.b)?;
    let input = [(); ROWS].map(|()| [(); INPUTS].map(|()| random()));
    *before.input_mut()? = input;
    for (index, number) in input.as_flattened().iter().enumerate() {
        after.input()?.store(index, *number)?;
    }
    before.launch()?;
    after.launch()?;
    if before.output()? != after.output()? {
        return Err("server: the graph that follows the advice computes something else".into());
    }
    figure("server, one request").graph(&mut before)?;
    println!("{}", before.advice());
    figure("server, one request, advised").graph(&mut after)?;

    let (images, _) = digits()?;
    let model = Model::new(&device, &mut random)?;
    let mut before = Train::build(&device, 7, &model.layer1, &model.layer2, &model.layer3)?;
    let twin = Model::new(&device, &mut random)?;
    twin.write(&model.read()?.concat())?;
    let mut after = TrainAdvised::build(&device, 7, &twin.layer1, &twin.layer2, &twin.layer3)?;
    let memory = before.memory_mut()?;
    for (row, digit) in images.iter().take(B).enumerate() {
        (memory.images[row], memory.labels[row]) = (digit.image, digit.label);
        after.labels()?.store(row, digit.label)?;
        for (pixel, number) in digit.image.iter().enumerate() {
            after.images()?.store(row * PIXELS + pixel, *number)?;
        }
    }
    for _ in 0..3 {
        before.launch()?;
        after.launch()?;
    }
    if model.read()?.concat() != twin.read()?.concat() {
        return Err("train_digits: the graph that follows the advice computes something else".into());
    }
    figure("train_digits, a step").graph(&mut before)?;
    println!("{}", before.advice());
    figure("train_digits, a step, advised").graph(&mut after)?;

    let mut before = sensors(&device, true)?;
    let mut after = sensors(&device, false)?;
    figure("sensors").graph(&mut before)?;
    println!("{}", before.advice());
    figure("sensors, advised").graph(&mut after)?;
    Ok(())
}
