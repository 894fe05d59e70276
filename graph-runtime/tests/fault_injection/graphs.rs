//! The graphs whose calls fail: together, they have all statements of the language. Launching any of them twice gives
//! the results of launching it once, so that what failed can be done again.

mod changes;
mod library;

use crate::common::describe::describe;
use crate::common::*;
use graph_runtime::cudarc::driver::{CudaFunction, result};
use graph_runtime::cudarc::nvrtc::Ptx;
use graph_runtime::fault_injection as faults;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

pub(crate) use changes::{edited, panicked, renewed, values};
pub(crate) use library::{captured, library};

#[cuda_kernels("tests/kernels/constants.ptx")]
unsafe extern "C" {
    /// `data[i] *= table[i % 4]`
    #[requires(threads <= data.len())]
    safe fn weigh(data: &mut [f32]);
}

#[cuda_kernels("tests/kernels/textures.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    #[requires(threads <= at.len() && threads <= out.len())]
    safe fn sample(image: &[[Texel<f32>; 8]], at: &[[f32; 2]], out: &mut [f32]);
    #[requires(threads <= index.len() && threads <= out.len())]
    safe fn gather_texels(table: &[Texel<f32>], index: &[i32], out: &mut [f32]);
}

#[cuda_kernels("tests/kernels/arrays.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// A step of a blur.
    safe fn blur(from: &[[Texel<f32>; 8]], to: &mut [[Surfel<f32>; 8]]);
}

#[cuda_kernels("tests/kernels/mapped.ptx")]
unsafe extern "C" {
    /// `values[i] = first + i`
    #[requires(threads <= values.len())]
    safe fn fill(values: &[Mapped<u64>], first: u64);
}

/// One run of a scenario.
pub(crate) struct Run {
    /// The errors of what failed, and then succeeded when it was done again.
    pub(crate) errors: Vec<Error>,
    /// The graphs that were built, as the driver has them.
    pub(crate) graphs: Vec<String>,
}

impl Run {
    pub(crate) fn new() -> Self {
        let (errors, graphs) = (Vec::new(), Vec::new());
        Self { errors, graphs }
    }

    /// Notes a graph that was built.
    fn built(&mut self, graph: Option<RawGraph>) {
        self.graphs.extend(graph.as_ref().map(describe));
    }

    /// Does something, and again if it failed. An error of the second time is returned.
    pub(crate) fn step<T>(&mut self, mut f: impl FnMut() -> Result<T>) -> Result<T> {
        f().or_else(|error| {
            self.errors.push(error);
            f()
        })
    }
}

cuda_graph! {
    /// A graph that says soon whether graphs still work.
    pub(crate) graph Small {
        let    count:  u32 = 8;
        device data:   [u32; 8];
        host   output: [u32; 8];

        memset clear  = data <- 40;
        kernel add    = add_to<<<1, count>>>(&mut data, 2) after clear;
        memcpy result = data -> output                 after add;
    }
}

/// Builds, launches and checks [`Small`].
pub(crate) fn small(device: &Device, run: &mut Run) -> Result<()> {
    let mut graph = run.step(|| Small::build(device))?;
    run.built(graph.raw());
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| graph.output().copied())?, [42; 8]);
    Ok(())
}

cuda_graph! {
    /// A child.
    graph Part {
        device data: [u32; 8];
        param  by:   u32 = 1;

        kernel more = add_to<<<1, 8>>>(&mut data, by);
    }

    /// Memory of every kind, nodes of most kinds, and loops.
    graph Statements {
        host    input:   [u32; 8];
        host    output:  [u32; 8];
        host    corner:  [[u32; 2]; 2];
        host    report:  [u32; 2];
        host    weights: [f32; 4];
        device  data:    [u32; 8];
        device  rows:    [[u32; 4]; 4];
        device  wide:    [u64; 4];
        device  floats:  [f32; 4];
        device  numbers: [u32; 64];
        device  reversed: [f32; 64];
        device  zeros:   [f32; 64];
        scratch sum:     [u32; 8];
        constant table:  [f32; 4] = "table";
        mapped  told:    [u64; 8];
        host    picture: [[f32; 8]; 4];
        device  blurred: [[f32; 8]; 4];
        array   plane:   [[f32; 8]; 4];
        array   softer:  [[f32; 8]; 4];
        rng     noise = 7, draws 4;
        param   by:    u32 = 3;
        param   count: u32 = 8;
        param   long:  u64 = 1 << 40;
        param   some:  usize = 4;

        memcpy upload  = input -> data;
        memset clear   = sum <- 0;
        kernel add     = accumulate<<<1, 8>>>(&data, &mut sum)     after upload, clear;
        kernel again   = add_to<<<1, count>>>(&mut sum, by)        after add;
        graph  part    = Part(data: &mut sum, by: by)              after again;
        memcpy result  = sum -> output                             after part;
        call   look    = |&output, &mut report| *report = [output[0], output[7]] after result;
        for step in 0..2 {
            memset row = rows[step][..some] <- step as u32;
        }
        each other in 2..4 {
            memset fill = rows[other] <- other as u32;
        }
        join   filled after row, fill;
        memcpy cut     = rows[1..3][1..3] -> corner                after filled;
        memset far     = wide <- long;
        #[disabled]
        memset never   = wide[1] <- 5                              after far;
        #[disabled]
        kernel unused  = add_to<<<1, 8>>>(&mut data, 100)          after add;
        memcpy load    = weights -> table;
        memset ones    = floats <- 2.0;
        kernel weighed = weigh<<<1, 4>>>(&mut floats)              after load, ones;
        kernel drawn   = draw_numbers<<<1, 16>>>(&noise, &mut numbers, 4);
        kernel turned  = reverse_shared<<<1, 64, 60_000>>>(&zeros, &mut reversed);
        kernel tell    = fill<<<1, 8>>>(&told, long);
        memcpy draw    = picture -> plane;
        kernel smooth  = blur<<<4, 8>>>(&plane, &mut softer)       after draw;
        memcpy drew    = softer -> blurred                         after smooth;
    }
}

/// Everything that happens to one graph: it is built, launched, updated, launched again, looked at.
pub(crate) fn statements(device: &Device, run: &mut Run) -> Result<()> {
    let mut graph = run.step(|| Statements::build(device))?;
    run.built(graph.raw());
    run.step(|| graph.input_mut().map(|input| *input = [1, 2, 3, 4, 5, 6, 7, 8]))?;
    run.step(|| graph.weights_mut().map(|weights| *weights = [1.0, 2.0, 3.0, 4.0]))?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| graph.output().copied())?, [7, 8, 9, 10, 11, 12, 13, 14]);
    assert_eq!(run.step(|| graph.report().copied())?, [7, 14]);
    assert_eq!(run.step(|| graph.corner().copied())?, [[1, 1], [2, 2]]);
    assert_eq!(run.step(|| Ok(*graph.floats()?.read()?))?, [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(run.step(|| Ok(*graph.wide()?.read()?))?, [1 << 40; 4]);
    run.step(|| graph.set_by(10))?;
    run.step(|| graph.set_count(4))?;
    run.step(|| graph.set_long(7))?;
    run.step(|| graph.set_some(0))?;
    run.step(|| graph.set_some(2))?;
    run.step(|| graph.far().set_enabled(false))?;
    run.step(|| graph.never().set_enabled(true))?;
    run.step(|| graph.add().set_enabled(false))?;
    run.step(|| graph.add().set_enabled(true))?;
    run.step(|| graph.cut().set_enabled(false))?;
    run.step(|| graph.ones().set_enabled(false))?;
    run.step(|| graph.ones().set_enabled(true))?;
    run.step(|| graph.noise().reseed(9))?;
    run.step(|| graph.launch())?;
    run.step(|| graph.synchronize())?;
    assert_eq!(run.step(|| graph.output().copied())?, [21, 22, 23, 24, 15, 16, 17, 18]);
    assert_eq!(run.step(|| Ok(*graph.wide()?.read()?))?, [1 << 40, 5, 1 << 40, 1 << 40]);
    run.step(|| graph.table_mut()?.copy_from(&[0.5; 4]))?;
    run.step(|| {
        graph.edit(|e| {
            e.set_by(11)?;
            e.set_long(8)?;
            e.set_some(3)?;
            e.add().set_enabled(false)?;
            e.far().set_enabled(true)?;
            e.turned().set_launch(1, 32)
        })
    })?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| graph.output().copied())?, [22, 22, 22, 22, 11, 11, 11, 11]);
    assert_eq!(run.step(|| Ok(*graph.wide()?.read()?))?, [8, 5, 8, 8]);
    assert_eq!(run.step(|| graph.told()?.load(7))?, 15);
    Ok(())
}

cuda_graph! {
    /// Has a conditional node, so it becomes no child graph of CUDA's.
    graph Choice {
        device flag: u32;
        device data: [u32; 4];

        if chosen = flag {
            kernel set = add_to<<<1, 4>>>(&mut data, 1);
        };
    }

    /// Every kind of body.
    graph Control {
        host   input:  [u32; 3];
        host   output: [u32; 4];
        host   total:  u32;
        device flags:  [u32; 3];
        device sums:   [u32; 4];
        device count:  [u32; 1];

        memcpy upload = input -> flags;
        memset clear  = sums <- 0;
        memset zero   = count <- 0;
        join ready after upload, clear, zero;
        if choice = flags[0] {
            kernel then = add_to<<<1, 1>>>(&mut sums[..1], 5);
        } else {
            memset otherwise = sums[0] <- 9;
        } after ready;
        while again = flags[1] {
            kernel step = add_to<<<1, 1>>>(&mut count, 1);
            kernel test = is_below<<<1, 1>>>(&count, 4, &mut flags[1..2]) after step;
        } after ready;
        switch case = flags[2] {
            { memset first = sums[1] <- 1; }
            { memset second = sums[1] <- 2; }
            { }
        } after ready;
        graph inner = Choice(flag: &mut flags[0], data: &mut sums) after choice, case;
        memcpy down = sums -> output   after inner;
        memcpy sum  = count[0] -> total after again;
    }
}

/// Bodies as conditional nodes.
pub(crate) fn control(device: &Device, run: &mut Run) -> Result<()> {
    control_in(device, run, Bodies::Nodes)
}

/// Bodies as predicated kernels.
pub(crate) fn predicated(device: &Device, run: &mut Run) -> Result<()> {
    control_in(device, run, Bodies::Predicated)
}

fn control_in(device: &Device, run: &mut Run, bodies: Bodies) -> Result<()> {
    let device = &device.with_bodies(bodies);
    let mut graph = run.step(|| Control::build(device))?;
    run.built(graph.raw());
    for (input, output) in [([1, 1, 1], [6, 3, 1, 1]), ([0, 1, 0], [9, 1, 0, 0])] {
        run.step(|| graph.input_mut().map(|flags| *flags = input))?;
        run.step(|| graph.launch())?;
        assert_eq!(run.step(|| graph.output().copied())?, output);
        assert_eq!(run.step(|| graph.total().copied())?, 4);
    }
    Ok(())
}

cuda_graph! {
    /// Memory that others have, too.
    graph Sharing(
        weights: device [[u32; 4]; 4],
        flag:    device u32,
        sum:     mut device [u32; 4],
        text:    mut host [u32; 5],
    ) {
        device corner: [[u32; 2]; 2];
        device row:    [u32; 4];
        host   seen:   [[u32; 2]; 2];
        param  by:     u32 = 1;

        memcpy cut   = weights[1..3][1..3] -> corner;
        memcpy show  = corner -> seen                         after cut;
        memcpy load  = weights[0] -> row;
        memset clear = sum <- 0;
        kernel add   = accumulate<<<1, 4>>>(&row, &mut sum)   after load, clear;
        if more = flag {
            kernel again = add_to<<<1, 4>>>(&mut sum, by);
        } after add;
        memcpy down  = sum -> text[..4]                       after more;
        call   note  = |&mut text| text[4] = text[0] * 2      after down;
    }

    graph Textures(image: device [[f32; 8]; 4], table: device [f32; 8]) {
        device at:    [[f32; 2]; 4];
        device index: [i32; 4];
        device out:   [f32; 4];
        device found: [f32; 4];

        kernel look = sample<<<1, 4>>>(&image, &at, &mut out);
        kernel find = gather_texels<<<1, 4>>>(&table, &index, &mut found);
    }
}

type Text = SharedHost<[u32; 5]>;

cuda_graph! {
    /// Looks at memory that other launches, which have ended, have written.
    graph Looks(text: Text) {
        host read: u32;
        call look = |&mut read| *read = u32::from(text.read().is_ok());
    }
}

fn weights(device: &Device, run: &mut Run, value: u32) -> Result<DeviceBuffer<[[u32; 4]; 4]>> {
    let weights = run.step(|| device.alloc::<[[u32; 4]; 4]>())?;
    run.step(|| weights.copy_from(&[[value; 4]; 4]))?;
    Ok(weights)
}

/// The number that the graph writes for weights of this value, if it is told to add a number.
fn text(value: u32, by: u32) -> [u32; 5] {
    let sum = value + by;
    [sum, sum, sum, sum, 2 * sum]
}

pub(crate) fn sharing(device: &Device, run: &mut Run) -> Result<()> {
    let weights = [weights(device, run, 1)?, weights(device, run, 2)?];
    let flags = [run.step(|| device.alloc::<u32>())?, run.step(|| device.alloc::<u32>())?];
    run.step(|| flags[0].copy_from(&1))?;
    let sums = [run.step(|| device.alloc::<[u32; 4]>())?, run.step(|| device.alloc())?];
    let mut text_of_host = || run.step(|| device.alloc_host().map(HostBuffer::share));
    let texts: [Text; 2] = [text_of_host()?, text_of_host()?];
    let mut graph = run.step(|| Sharing::build(device, &weights[0], &flags[0], &sums[0], &texts[0]))?;
    run.built(graph.raw());
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| texts[0].read().map(|text| *text))?, text(1, 1));
    assert_eq!(run.step(|| graph.seen().copied())?, [[1; 2]; 2]);
    let stream = new_stream(device);
    run.step(|| graph.launch_on(&stream))?;
    run.step(|| graph.launch())?;
    run.step(|| graph.rebind_weights(&weights[1]))?;
    run.step(|| graph.set_by(5))?;
    run.step(|| graph.rebind_sum(&sums[1]))?;
    run.step(|| graph.rebind_text(&texts[1]))?;
    run.step(|| graph.launch_on(&stream))?;
    assert_eq!(run.step(|| texts[1].read().map(|text| *text))?, text(2, 5));
    run.step(|| graph.rebind_flag(&flags[1]))?;
    run.step(|| graph.launch())?;
    run.step(|| graph.rebind_weights(&weights[0]))?;
    run.step(|| graph.launch_on(&stream))?;
    assert_eq!(run.step(|| texts[1].read().map(|text| *text))?, text(1, 0));
    assert_eq!(run.step(|| graph.seen().copied())?, [[1; 2]; 2]);
    run.step(|| graph.launch())?;
    run.step(|| graph.synchronize())?;
    run.step(|| {
        graph.edit(|e| {
            e.rebind_weights(&weights[1])?;
            e.set_by(0)?;
            e.rebind_sum(&sums[0])
        })
    })?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| texts[1].read().map(|text| *text))?, text(2, 0));
    run.step(|| {
        graph.edit(|e| {
            e.rebind_weights(&weights[0])?;
            e.rebind_sum(&sums[1])
        })
    })?;
    run.step(|| graph.launch())?;
    textures(device, run)?;
    let mut looks = run.step(|| Looks::build(device, texts[1].clone()))?;
    run.step(|| looks.launch())?;
    run.step(|| looks.synchronize())?;
    let mut other = run.step(|| {
        let mut builder = GraphBuilder::new(device, "Other");
        let mut sum = builder.shared("sum", &sums[1], true);
        builder.kernel("add", Launch::new(1, 4), add_to::call(&mut sum, 0));
        builder.build()
    })?;
    run.step(|| other.launch())?; // waits for the first graph's launch, on the GPU
    assert_eq!(run.step(|| sums[1].read().map(|sum| *sum))?, [1; 4]);
    Ok(())
}

cuda_graph! {
    /// Needs more of a pool for a larger `n`.
    pub(crate) graph Bucket(n: usize) {
        host    output: [u32; 8];
        scratch hidden: [u32; n];
        scratch other:  [u32; 8];

        memset  clear = hidden <- 3;
        memset  zero  = other <- 1;
        capture both = (&mut hidden, &mut other) |stream| {
            let _workspace = stream.scratch(1 << 20)?;
            Ok(())
        } after clear, zero;
        kernel  add   = accumulate<<<1, 8>>>(&hidden[..8], &mut other) after both;
        memcpy  down  = other -> output after add;
    }
}

/// Graphs of a pool, which grows and shrinks.
pub(crate) fn pooling(device: &Device, run: &mut Run) -> Result<()> {
    let pool = device.pool();
    let pooled = device.with_pool(&pool);
    let mut graphs = Vec::new();
    for n in [8, 1 << 20, 64] {
        graphs.push(run.step(|| Bucket::build(&pooled, n))?);
    }
    for graph in &mut graphs {
        run.step(|| graph.launch())?;
        run.step(|| graph.launch())?;
    }
    for graph in &graphs {
        assert_eq!(run.step(|| graph.output().copied())?, [4; 8]);
    }
    graphs.remove(1);
    run.step(|| pool.trim())?;
    run.step(|| graphs[0].launch())?;
    assert_eq!(run.step(|| graphs[0].output().copied())?, [4; 8]);
    Ok(())
}

/// A graph that reads shared memory through a texture, with and without rows, and gets other memory.
fn textures(device: &Device, run: &mut Run) -> Result<()> {
    let images = [
        run.step(|| device.alloc::<[[f32; 8]; 4]>())?,
        run.step(|| device.alloc())?,
    ];
    let table = run.step(|| device.alloc::<[f32; 8]>())?;
    run.step(|| images[0].copy_from(&[[1.5; 8]; 4]))?;
    run.step(|| images[1].copy_from(&[[2.5; 8]; 4]))?;
    run.step(|| table.copy_from(&[4.0; 8]))?;
    let mut graph = run.step(|| Textures::build(device, &images[0], &table))?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| Ok(*graph.out()?.read()?))?, [1.5; 4]);
    assert_eq!(run.step(|| Ok(*graph.found()?.read()?))?, [4.0; 4]);
    run.step(|| graph.rebind_image(&images[1]))?;
    run.step(|| graph.launch())?;
    run.step(|| graph.rebind_image(&images[0]))?;
    run.step(|| graph.launch())?;
    run.step(|| graph.synchronize())?;
    run.step(|| graph.rebind_image(&images[1]))?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| Ok(*graph.out()?.read()?))?, [2.5; 4]);
    Ok(())
}

/// A graph that runs node by node.
pub(crate) fn debug(device: &Device, run: &mut Run) -> Result<()> {
    control(&device.with_debug(DebugOptions::default()), run)
}

/// Devices, memory outside of graphs, memory that cudarc has, and a file that does not load.
pub(crate) fn outside(_device: &Device, run: &mut Run) -> Result<()> {
    let device = &run.step(|| Device::cuda(0))?;
    let _ = device.name();
    let context = device.context().expect("a CUDA device");
    // SAFETY: the device keeps the context alive.
    let same = || unsafe { Device::from_raw_context(context.cu_ctx().cast(), context.clone()) };
    let same = run.step(same)?;
    assert_eq!(same.raw(), device.raw());
    let buffer = run.step(|| same.alloc_slice::<u32>(16))?;
    run.step(|| buffer.copy_from(&[3; 16]))?;
    // SAFETY: no work is queued with the slice.
    let lent = run.step(|| unsafe { buffer.as_cudarc() }.map(|slice| slice.len()))?;
    assert_eq!(lent, 16);
    run.step(|| buffer.copy_from(&[4; 16]))?;
    assert_eq!(run.step(|| buffer.read_vec())?, [4; 16]);
    let stream = new_stream(device);
    let slice = stream.clone_htod(&[7_u32; 4]).expect("cudarc copies");
    let taken = DeviceBuffer::from(slice);
    assert_eq!(run.step(|| taken.read_vec())?, [7; 4]);
    let mut graph = run.step(|| {
        let mut builder = GraphBuilder::new(device, "Owned");
        let mut data = builder.shared("data", &taken, true);
        builder.memset("set", &mut data, 6_u32);
        builder.build()
    })?;
    run.step(|| graph.launch())?;
    let seen = run.step(|| taken.read_vec())?;
    assert_eq!(seen, vec![6; 4]);
    drop(graph);
    let mut builder = GraphBuilder::new(device, "Broken");
    builder.kernel("load", Launch::new(1, 1), falsely::<Broken, 0>([]));
    match builder.build() {
        Err(error @ Error::Cuda { .. }) => run.errors.push(error),
        Err(error @ Error::Module { .. })
            if error.to_string().contains("(999)") || error.to_string().contains("(2)") =>
        {
            run.errors.push(error);
        }
        Err(Error::Module { .. }) => {}
        Err(error) => return Err(error),
        Ok(_) => panic!("the file has an instruction that does not exist"),
    }
    Ok(())
}

cuda_graph! {
    /// Takes several milliseconds, so that CUDA must wake whoever waits.
    pub(crate) graph Long(steps: u64) {
        device flag:   [u32; 1];
        device data:   [u32; 8];
        host   output: [u32; 8];

        kernel long   = slow<<<1, 1>>>(steps, &mut flag);
        memset clear  = data <- 40                     after long;
        kernel add    = add_to<<<1, 8>>>(&mut data, 2) after clear;
        memcpy result = data -> output                 after add;
    }
}

/// Builds that graph.
pub(crate) fn long(device: &Device) -> Result<Long> {
    let steps = if is_software() { 100_000 } else { 4_000_000 };
    Long::build(&device.with_max_spin(Duration::from_millis(1)), steps)
}

/// Launches as futures.
pub(crate) fn futures(device: &Device, run: &mut Run) -> Result<()> {
    let mut graph = run.step(|| long(device))?;
    run.step(|| block_on(graph.launch_async()?))?;
    assert_eq!(run.step(|| graph.output().copied())?, [42; 8]);
    let stream = new_stream(device);
    run.step(|| block_on(graph.launch_async_on(&stream)?))?;
    assert_eq!(run.step(|| graph.output().copied())?, [42; 8]);
    Ok(())
}
