//! Graphs that have every statement of the language between them.

use crate::common::*;
use graph_runtime::cudarc::driver::{result, sys};
use graph_runtime::{
    CudaStream, Device, DeviceBuffer, Event, Generator, GraphBuilder, HostBuffer, Launch, Mapped, Result, SharedHost,
    Surfel, Texel, cuda_graph, cuda_kernels,
};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const MINUS_ONE: u32 = u32::MAX;

#[cuda_kernels("tests/kernels/constants.ptx")]
unsafe extern "C" {
    /// `totals[i] += by`
    #[requires(threads <= 2)]
    safe fn add_totals(by: u32);
    /// `out[i] = totals[i % 2]`
    #[requires(threads <= out.len())]
    safe fn read_totals(out: &mut [u32]);
}

#[cuda_kernels("tests/kernels/mapped.ptx")]
unsafe extern "C" {
    /// `values[i] = first + i`
    #[requires(threads <= values.len())]
    safe fn fill(values: &[Mapped<u64>], first: u64);
}

#[cuda_kernels("tests/kernels/arrays.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// `plane[y][x] *= 2`
    safe fn double_plane(plane: &mut [[Surfel<f32>; 8]]);
}

#[cuda_kernels("tests/kernels/textures.ptx")]
#[allow(kernel_bounds)]
unsafe extern "C" {
    /// `out[i]` is texel `index[i]`
    #[requires(threads <= index.len() && threads <= out.len())]
    safe fn gather_texels(table: &[Texel<f32>], index: &[i32], out: &mut [f32]);
}

cuda_graph! {
    graph Owned {
        let    count: u32 = 64;
        device data:  [f32; 64];
        param  start: f32 = 1.0;

        memset ones   = data <- start;
        kernel scaled = scale<<<1, count>>>(&mut data, 2.0, count) after ones;
    }

    graph Memory(shared: mut device [f32; 64], posted: mut host [f32; 64], n: usize) {
        host     input:  [f32; 64];
        device   data:   [f32; 64];
        scratch  temp:   [f32; 64];
        device   table:  [[f32; n]; n];
        device   matrix: [[f32; 8]; 8];
        host     corner: [[f32; 2]; 2];
        rng      noise = 7, draws 16;
        device   drawn:  [u32; 64];
        device   bins:   [u32; 64];
        constant totals: [u32; 2] = "totals";
        device   sums:   [u32; 2];
        param    factor: f32 = 1.0;
        param    part:   usize = 64;

        memcpy up     = input -> data;
        memcpy stage  = data -> temp after up;
        kernel scaled = scale<<<1, 64>>>(&mut temp, factor, 64) after stage;
        memcpy ranged = temp[..part] -> shared[..part] after scaled;
        memcpy post   = shared -> posted after ranged;
        memset rows   = table[1..] <- factor;
        memset inside = matrix[1..3][..2] <- factor;
        memcpy cut    = matrix[1..3][..2] -> corner after inside;
        kernel draw   = draw_numbers<<<1, 4>>>(&noise, &mut drawn, 16);
        kernel start  = start_words<<<1, 64>>>(&mut bins, 3);
        each i in 0..4 {
            kernel count = add_all<<<1, 64>>>(&bins, i) after start;
        }
        memset clear  = totals <- 0;
        for i in 0..3 {
            kernel total = add_totals<<<1, 2>>>(i) after clear;
        }
        kernel sum    = read_totals<<<1, 2>>>(&mut sums) after total;
        join   end after post, cut, count, sum;
    }

    graph Step {
        device data: [u32; 4];
        param  by:   u32 = 1;

        kernel add = add_to<<<1, 4>>>(&mut data, by);
    }

    graph Control {
        host   chosen: [u32; 3];
        device flag:   u32;
        device rounds: u32;
        device number: u32;
        device data:   [u32; 4];
        host   output: [u32; 4];
        param  value:  u32 = 5;

        memcpy up_flag   = chosen[0] -> flag;
        memcpy up_rounds = chosen[1] -> rounds;
        memcpy up_number = chosen[2] -> number;
        memset clear     = data <- 0;
        if choice = flag {
            kernel then = add_to<<<1, 1>>>(&mut data[..1], value);
        } else {
            memset otherwise = data[0] <- 9;
        } after up_flag, clear;
        while repeat = rounds {
            graph  step = Step(data: &mut data, by: value);
            kernel less = add_to<<<1, 1>>>(&mut rounds, MINUS_ONE);
        } after up_rounds, choice;
        switch pick = number {
            { memset zero = data[3] <- value; }
            { }
            { graph twice = Step(data: &mut data); }
        } after up_number, repeat;
        memcpy down = data -> output after pick;
    }

    graph Outside(ready: Event, done: Event, calls: Arc<AtomicU32>) {
        device data:    [f32; 64];
        host   numbers: [f32; 64];
        host   mean:    f32;
        param  value:   f32 = 2.0;

        wait   start   = ready;
        memset set     = data <- value after start;
        memcpy down    = data -> numbers after set;
        call   average = |&numbers, &mut mean| {
            *mean = numbers.iter().sum::<f32>() / 64.0;
            calls.fetch_add(1, Relaxed);
        } after down;
        record end     = done after average;
    }

    graph Launches {
        device a:       [u32; 64];
        device b:       [u32; 64];
        device c:       [u32; 64];
        device arrived: u32;
        device input:   [u32; 8];
        device out:     [u32; 8];
        param  value:   u32 = 1;

        kernel first  = slow_write<<<2, 32>>>(&mut a, value, 0);
        kernel second = slow_step<<<2, 32>>>(&a, &mut b, 0) after programmatic(first);
        #[priority(-1)]
        #[cluster(2)]
        kernel pairs  = number<<<2, 32>>>(&mut c);
        #[cooperative]
        // SAFETY: all blocks run at the same time, so none waits for one that cannot start; every buffer has room for
        // the 8 blocks.
        kernel all    = unsafe meet<<<8, 1>>>(&mut arrived, &mut input, &mut out);
        #[disabled]
        memset never  = c <- 7 after pairs;
    }

    graph Handles(table: device [f32; 64], generator: &Generator) {
        mapped told:  [u64; 64];
        array  plane: [[f32; 8]; 8];
        rng    noise = generator, draws 2;
        device drawn: [u32; 16];
        device index: [i32; 64];
        device out:   [f32; 64];
        param  first: u64 = 1;

        kernel draw   = draw_numbers<<<1, 8>>>(&noise, &mut drawn, 2);
        kernel gather = gather_texels<<<1, 64>>>(&table, &index, &mut out);
        kernel tell   = fill<<<1, 64>>>(&told, first);
        kernel double = double_plane<<<8, 8>>>(&mut plane);
    }

    graph Library {
        device from: [f32; 4];
        device to:   [f32; 4];
        device set:  [f32; 4];
        param  start: f32 = 3.0;

        memset  fill    = from <- start;
        capture copied  = (&from, &mut to) |stream| {
            // SAFETY: both have four elements, and the node declares to read the one and to write the other.
            unsafe { result::memcpy_dtod_async(to.address(), from.address(), from.bytes(), stream.cu_stream()) }?;
        } after fill;
        // SAFETY: the node sets the four elements that it declares, after all that it is given.
        raw     by_hand = unsafe (&mut set) |graph, after| {
            let params = sys::CUDA_MEMSET_NODE_PARAMS {
                dst: set.address(), pitch: 0, value: 7, elementSize: 4, width: 4, height: 1,
            };
            let mut node = ptr::null_mut();
            let context = graph.context().cu_ctx();
            // SAFETY: the graph and its nodes live, and the memory has four elements.
            unsafe { sys::cuGraphAddMemsetNode(&mut node, graph.graph(), after.as_ptr(), after.len(), &params, context) }.result()?;
            Ok(node)
        } after copied;
    }
}

/// The request to a graph.
#[derive(Clone, Copy)]
pub(crate) enum Request {
    Launch,
    /// An update, the number of which chooses the values.
    Update(usize),
    /// Waits, and asserts that the results are right.
    Check,
}

/// A graph that was built.
pub(crate) type Soaked = Box<dyn FnMut(Request) -> Result<()>>;

/// The memory, events and stream that outlive graphs.
pub(crate) struct World {
    pub(crate) device: Device,
    buffers: [DeviceBuffer<[f32; 64]>; 2],
    posted: [SharedHost<[f32; 64]>; 2],
    generator: Generator,
    ready: Event,
    done: Event,
    calls: Arc<AtomicU32>,
    /// A stream for every second launch; `None` on the emulator.
    stream: Option<Arc<CudaStream>>,
}

impl World {
    pub(crate) fn new(device: Device) -> Result<Self> {
        let posted = || device.alloc_host::<[f32; 64]>().map(HostBuffer::share);
        Ok(Self {
            buffers: [device.alloc()?, device.alloc()?],
            posted: [posted()?, posted()?],
            generator: device.generator(3)?,
            ready: device.event()?,
            done: device.event()?,
            calls: Arc::default(),
            stream: device.context().map(|context| context.new_stream().expect("a stream")),
            device,
        })
    }
}

/// A function that builds a graph.
pub(crate) type Build = fn(&World) -> Result<Soaked>;

/// The functions that build the graphs, each with its share of launches.
pub(crate) fn builders(device: &Device) -> Vec<(Build, usize)> {
    let mut builders: Vec<(Build, usize)> = vec![
        (owned, 640),
        (memory, 100),
        (control, 60),
        (outside, 40),
        (launches, 50),
        (handles, 20),
        (expression, 40),
        (by_calls, 40),
    ];
    if !device.is_emulator() {
        builders.push((library, 10)); // the emulator has no streams to capture from
    }
    builders
}

fn owned(world: &World) -> Result<Soaked> {
    let mut graph = Owned::build(&world.device)?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => graph.set_start(number as f32),
        Request::Check => {
            let expected = 2.0 * graph.start();
            assert_eq!(graph.data()?.read()?[63], expected);
            Ok(())
        }
    }))
}

fn memory(world: &World) -> Result<Soaked> {
    let (buffers, posted) = (world.buffers.clone(), world.posted.clone());
    let (stream, mut other) = (world.stream.clone(), false);
    let mut graph = Memory::build(&world.device, &buffers[0], &posted[0], 4)?;
    graph.input_mut()?.fill(1.0);
    let mut bound = 0;
    Ok(Box::new(move |request| match request {
        Request::Launch => {
            other = !other;
            match stream.as_deref().filter(|_| other) {
                Some(stream) => graph.launch_on(stream),
                None => graph.launch(),
            }
        }
        Request::Update(number) => {
            bound = number % 2;
            graph.set_factor(number as f32)?;
            graph.set_part(1 + number % 64)?;
            graph.noise().reseed(number as u64)?;
            graph.rebind_shared(&buffers[bound])?;
            graph.rebind_posted(&posted[bound])?;
            graph.inside().set_enabled(number % 3 > 0)
        }
        Request::Check => {
            let factor = graph.factor();
            assert_eq!(buffers[bound].read()?[0], factor);
            assert_eq!(posted[bound].read()?[0], factor);
            assert_eq!(*graph.sums()?.read()?, [3, 3]);
            assert_eq!(graph.bins()?.read()?[0], 10 + 6);
            Ok(())
        }
    }))
}

fn control(world: &World) -> Result<Soaked> {
    let mut graph = Control::build(&world.device)?;
    *graph.chosen_mut()? = [1, 2, 0];
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => graph.set_value(number as u32),
        Request::Check => {
            let value = graph.value();
            assert_eq!(graph.output()?, &[3, 2, 2, 1].map(|times| times * value));
            Ok(())
        }
    }))
}

fn outside(world: &World) -> Result<Soaked> {
    let calls = world.calls.clone();
    let mut graph = Outside::build(&world.device, world.ready.clone(), world.done.clone(), calls)?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => graph.set_value(number as f32),
        Request::Check => {
            let value = graph.value();
            assert_eq!(graph.mean()?, &value);
            Ok(())
        }
    }))
}

fn launches(world: &World) -> Result<Soaked> {
    let mut graph = Launches::build(&world.device)?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => {
            graph.set_value(number as u32)?;
            graph.never().set_enabled(number % 2 == 0)
        }
        Request::Check => {
            let expected = if graph.never().is_enabled() { 7 } else { 1 };
            assert_eq!(graph.c()?.read()?[1], expected);
            Ok(())
        }
    }))
}

fn handles(world: &World) -> Result<Soaked> {
    let buffers = world.buffers.clone();
    let mut graph = Handles::build(&world.device, &buffers[0], &world.generator)?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => {
            graph.rebind_table(&buffers[number % 2])?;
            graph.set_first(number as u64)
        }
        Request::Check => {
            graph.synchronize()?;
            assert_eq!(graph.told()?.load(63)?, graph.first() + 63);
            let drawn = graph.drawn()?.read()?;
            assert!(drawn.iter().any(|number| *number != drawn[0]));
            Ok(())
        }
    }))
}

fn expression(world: &World) -> Result<Soaked> {
    let data = world.device.alloc_slice::<f32>(64)?;
    let (n, factor) = (64, 3.0);
    let mut graph = cuda_graph! { &world.device =>
        host   output: [f32; n];
        param  start:  f32 = 1.0;
        memset set    = data <- start;
        kernel scaled = scale<<<1, n>>>(&mut data, factor, n) after set;
        memcpy down   = data -> output after scaled;
    }?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => graph.set_start(number as f32),
        Request::Check => {
            let expected = 3.0 * graph.start();
            assert_eq!(graph.output()?[5], expected);
            Ok(())
        }
    }))
}

fn by_calls(world: &World) -> Result<Soaked> {
    let mut builder = GraphBuilder::new(&world.device, "ByCalls");
    let buffers = world.buffers.clone();
    let shared = builder.shared("shared", &buffers[1], false);
    let mut temporary = builder.scratch_slice::<f32>("temporary", 64);
    let mut data = builder.device::<[f32; 64]>("data");
    let output = builder.host::<[f32; 64]>("output");
    let set = builder.memset("set", &mut data, 1.0_f32);
    let load = builder.memcpy("load", &shared, &mut temporary);
    let add = builder.kernel("add", Launch::new(1, 64), add::call(&shared, &temporary, &mut data, 64));
    let down = builder.memcpy_within("down", &data.rows(..32), &mut output.rows(..32), (&data, &output));
    builder.after(add, &[set, load]);
    builder.after(down, &[add]);
    let mut graph = builder.build()?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => {
            let part = ..number % 64;
            graph.update("part", |update| {
                update.memset(set, &data, number as f32)?;
                update.memcpy(down, &data.rows(part), &mut output.rows(part))
            })
        }
        Request::Check => graph.host(&output).map(drop),
    }))
}

fn library(world: &World) -> Result<Soaked> {
    let mut graph = Library::build(&world.device)?;
    Ok(Box::new(move |request| match request {
        Request::Launch => graph.launch(),
        Request::Update(number) => graph.set_start(number as f32),
        Request::Check => {
            let expected = graph.start();
            assert_eq!(*graph.to()?.read()?, [expected; 4]);
            Ok(())
        }
    }))
}
