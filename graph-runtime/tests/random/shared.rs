//! Random programs over memory that graphs share do what they would do one step after the other.

use crate::common::random::Random;
use crate::common::*;
use std::sync::Arc;

const BUFFERS: usize = 4;
const STEPS: usize = 60;

/// One graph: to = a + b, where `to` may come in turn from the host; some take their time.
struct Adder {
    graph: Graph,
    places: [Place<[f32; 32], OnDevice>; 3],
    /// The buffers that they are now.
    bound: [usize; 3],
}

fn adder(device: &Device, buffers: &[DeviceBuffer<[f32; 32]>], bound: [usize; 3], wait: bool) -> Result<Adder> {
    let mut builder = GraphBuilder::new(device, "Adder");
    let a = builder.shared("a", &buffers[bound[0]], false);
    let b = builder.shared("b", &buffers[bound[1]], false);
    let mut to = builder.shared("to", &buffers[bound[2]], true);
    let node = builder.kernel("add", Launch::new(1, 32), add::call(&a, &b, &mut to, 32));
    if wait {
        let mut flag = builder.device::<[u32; 1]>("flag");
        let delay = builder.kernel("delay", Launch::new(1, 1), slow::call(slow_steps() / 20, &mut flag));
        builder.after(node, &[delay]);
    }
    Ok(Adder {
        graph: builder.build()?,
        places: [a, b, to],
        bound,
    })
}

/// Copies a buffer to the host.
fn saver(device: &Device, buffer: &DeviceBuffer<[f32; 32]>, host: &SharedHost<[f32; 32]>) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Saver");
    let from = builder.shared("from", buffer, false);
    let mut to = builder.shared("to", host, true);
    builder.memcpy("save", &from, &mut to);
    builder.build()
}

/// Three different buffers, the first two perhaps the same.
fn draw(random: &mut Random) -> [usize; 3] {
    let to = random.below(BUFFERS);
    let other = |random: &mut Random| (to + 1 + random.below(BUFFERS - 1)) % BUFFERS;
    [other(random), other(random), to]
}

fn launch(graph: &mut Graph, streams: &[Arc<CudaStream>], random: &mut Random) -> Result<()> {
    match streams.get(random.below(3)) {
        Some(stream) => graph.launch_on(stream),
        None => graph.launch(),
    }
}

fn run(seed: u64) -> Result<()> {
    let (device, mut random) = (device(), Random(seed));
    let count = if device.is_emulator() { 0 } else { 2 };
    let streams: Vec<_> = (0..count).map(|_| new_stream(&device)).collect();
    let buffers: Vec<DeviceBuffer<[f32; 32]>> = (0..BUFFERS).map(|_| device.alloc()).collect::<Result<_>>()?;
    let mut expected = [0.0_f32; BUFFERS];
    let saved: SharedHost<[f32; 32]> = device.alloc_host::<[f32; 32]>()?.share();
    let (mut expected_save, mut saver) = (0.0, saver(&device, &buffers[0], &saved)?);
    let mut adders = (0..4)
        .map(|index| adder(&device, &buffers, draw(&mut random), index % 2 == 0))
        .collect::<Result<Vec<_>>>()?;
    for step in 0..STEPS {
        let chosen = random.below(adders.len());
        let Adder { graph, places, bound } = &mut adders[chosen];
        match random.below(12) {
            0 => {
                let buffer = random.below(BUFFERS);
                expected[buffer] = (step + 1) as f32;
                buffers[buffer].copy_from(&[expected[buffer]; 32])?;
            }
            1 => {
                let buffer = random.below(BUFFERS);
                let wanted = [expected[buffer]; 32];
                assert_eq!(*buffers[buffer].read()?, wanted, "seed {seed}, step {step}");
            }
            2 => {
                launch(&mut saver, &streams, &mut random)?;
                expected_save = expected[0];
            }
            3 => assert_eq!(*saved.read()?, [expected_save; 32], "seed {seed}, step {step}"),
            4 | 5 => {
                // By way of memory that no other name has: two names must never be one buffer that is written.
                let spare = device.alloc()?;
                *bound = draw(&mut random);
                graph.rebind(&places[2], &spare)?;
                for (place, &buffer) in places.iter().zip(&*bound) {
                    graph.rebind(place, &buffers[buffer])?;
                }
            }
            _ => {
                launch(graph, &streams, &mut random)?;
                expected[bound[2]] = expected[bound[0]] + expected[bound[1]];
            }
        }
    }
    for (buffer, expected) in buffers.iter().zip(expected) {
        assert_eq!(*buffer.read()?, [expected; 32], "seed {seed}, at the end");
    }
    Ok(())
}

#[test]
fn random_programs_are_as_if_in_order() -> Result<()> {
    (0..40).try_for_each(run)
}
