//! One graph on a CUDA device and on the emulator.

use super::author;
use super::build::{Built, Options};
use super::memory::Shared;
use super::model::bytes;
use super::pair::lasting;
use super::program::{FLAGS, MEMORIES, Program};
use super::seeds;
use crate::common::random::Random;
use crate::common::*;

/// How often each graph is launched.
const LAUNCHES: usize = 3;

/// The graph of a program on one device.
struct Alone {
    built: Built,
    shared: Shared,
}

impl Alone {
    /// Builds the graph, and fills its memory with the numbers of a seed.
    fn new(device: &Device, program: &Program, seed: u64) -> Result<Self> {
        let shared = Shared::new(device)?;
        let mut built = Built::new(device, program, &shared, Options::default())?;
        for memory in lasting() {
            let mut random = Random(seed << 8 | memory as u64);
            let fresh = (0..bytes(memory)).map(|_| match FLAGS.contains(&memory) {
                true => 0, // a `while` whose condition nothing computes must end
                false => random.below(256) as u8,
            });
            let fresh: Vec<u8> = fresh.collect();
            built.handles.write(&mut built.graph, &shared, memory, &fresh)?;
        }
        Ok(Self { built, shared })
    }

    /// Launches the graph. Returns all its memory that has a name, but scratch.
    fn launch(&mut self) -> Result<Vec<Vec<u8>>> {
        let Self { built, shared } = self;
        built.graph.launch()?;
        built.graph.synchronize()?;
        let memories = lasting().map(|memory| built.handles.read(&built.graph, shared, memory));
        memories.collect()
    }
}

/// Both devices compute the same. With the driver in software, each launch takes the nodes in another order.
#[test]
#[ignore = "needs a CUDA device"]
fn a_cuda_device_computes_what_the_emulator_does() -> Result<()> {
    let devices = [cuda_device(), Device::emulator()];
    for seed in seeds(0..30) {
        let program = author::program(seed);
        let [mut on_cuda, mut on_emulator] = [0, 1].map(|device| {
            let built = Alone::new(&devices[device], &program, seed);
            built.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
        });
        for launch in 1..=LAUNCHES {
            let (found, expected) = (on_cuda.launch()?, on_emulator.launch()?);
            for (index, memory) in lasting().enumerate() {
                let space = MEMORIES[memory].space;
                let what = format!("seed {seed}, launch {launch}: memory {memory}, {space:?}");
                assert_eq!(found[index], expected[index], "{what}");
            }
        }
    }
    Ok(())
}
