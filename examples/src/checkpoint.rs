//! A training of one or more ranks that goes on from a checkpoint: a file of safetensors that rank 0 writes.

use crate::tensors::{self, Tensor};
use bytemuck::cast_slice;
use graph_runtime::{BoxError, Communicator, Device, Result, cuda_graph};
use safetensors::{Dtype, SafeTensors};
use std::fs;
use std::path::Path;

/// The name of the losses in a file.
const LOSSES: &str = "losses";
/// The entry of a file's metadata that has a number computed of all its tensors, a space, and the name of the training.
const OF: &str = "checkpoint";

/// A training whose state is the same on all ranks after each step.
pub trait Training {
    /// Returns the name of the training, which says all that it depends on: checkpoints of another one are refused.
    fn name(&self) -> String;

    /// Reads the state, piece by piece, each with its name.
    ///
    /// # Errors
    /// If the device has failed.
    fn state(&self) -> Result<Vec<Piece>>;

    /// Sets the state, to the pieces that [`state`](Self::state) had after so many steps.
    ///
    /// # Errors
    /// If the device has failed.
    fn go_on(&mut self, steps: usize, pieces: Vec<Vec<f32>>) -> Result<()>;

    /// Makes a step, and returns the loss. `number` is the number of steps before it.
    ///
    /// # Errors
    /// Any error of a launch.
    fn step(&mut self, number: usize) -> Result<f32>;
}

/// A piece of the state of a training: its name and its numbers.
pub type Piece = (&'static str, Vec<f32>);

/// A file that rank 0 writes after every `every` steps.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// The place of the file.
    pub path: &'a Path,
    /// The steps between two writes.
    pub every: usize,
}

cuda_graph! {
    /// All ranks get the state of rank 0, and the number of steps after which it begins.
    pub graph Begin(world: &Communicator, n: usize) {
        host    steps: u32;
        host    state: [f32; n];
        scratch made:  u32;
        scratch all:   [f32; n];

        memcpy    made_up      = steps -> made;
        memcpy    all_up       = state -> all;
        broadcast agreed_steps = made from 0 over world  after made_up;
        broadcast agreed_state = all from 0 over world   after agreed_steps, all_up;
        memcpy    made_down    = made -> steps           after agreed_steps;
        memcpy    all_down     = all -> state            after agreed_state;
    }
}

/// Makes `steps` steps, or as many as are missing after the checkpoint if there is one. All ranks begin with the state
/// of rank 0. Returns the losses of a rank: on rank 0 those of the checkpoint, too.
///
/// # Errors
/// If the file cannot be read or written, is damaged, or is of another training; any error of a launch.
pub fn train(
    device: &Device,
    world: &Communicator,
    training: &mut impl Training,
    steps: usize,
    file: Option<File<'_>>,
) -> Result<Vec<f32>, BoxError> {
    let file = file.filter(|_| world.rank() == 0);
    let mut checkpoint = Checkpoint {
        losses: Vec::new(),
        state: training.state()?,
    };
    if let Some(File { path, .. }) = file
        && path.exists()
    {
        checkpoint.read(path, &training.name())?;
        if checkpoint.losses.len() > steps {
            return Err(format!("{}: it has more than {steps} steps", path.display()).into());
        }
        println!("begins:  after step {} of {}", checkpoint.losses.len(), path.display());
    }
    let begun = begin(device, world, training, &checkpoint)?;
    let mut losses = checkpoint.losses;
    for number in begun..steps {
        losses.push(training.step(number)?);
        if let Some(File { path, every }) = file
            && (number + 1) % every == 0
        {
            let state = training.state()?;
            let checkpoint = Checkpoint { losses, state };
            checkpoint.write(path, &training.name())?;
            losses = checkpoint.losses;
        }
    }
    Ok(losses)
}

/// Gives all ranks what rank 0 begins with, and returns the number of steps that it has made.
fn begin(
    device: &Device,
    world: &Communicator,
    training: &mut impl Training,
    first: &Checkpoint,
) -> Result<usize, BoxError> {
    let own: Vec<f32> = first.state.iter().flat_map(|(_, numbers)| numbers).copied().collect();
    let mut graph = Begin::build(device, world, own.len())?;
    let memory = graph.memory_mut()?;
    *memory.steps = first.losses.len() as u32;
    memory.state.copy_from_slice(&own);
    graph.launch()?;
    let steps = *graph.steps()? as usize;
    let mut rest = graph.state()?;
    let pieces = first.state.iter().map(|(_, numbers)| {
        let (piece, others) = rest.split_at(numbers.len());
        rest = others;
        piece.to_vec()
    });
    training.go_on(steps, pieces.collect())?;
    Ok(steps)
}

/// The losses of the steps so far, and the state after them.
#[derive(Clone, Debug, PartialEq)]
struct Checkpoint {
    losses: Vec<f32>,
    state: Vec<Piece>,
}

impl Checkpoint {
    /// Reads a file of the training of this name, with the pieces that the state has now.
    fn read(&mut self, path: &Path, training: &str) -> Result<(), BoxError> {
        let mut fill = || {
            let bytes = fs::read(path)?;
            let (_, header) = SafeTensors::read_metadata(&bytes)?;
            let entry = header.metadata().as_ref().and_then(|entries| entries.get(OF));
            let Some((sum, found)) = entry.and_then(|entry| entry.split_once(' ')) else {
                return Err("it is no checkpoint of a training".into());
            };
            if found != training {
                return Err(
                    format!("it is a checkpoint of another training, `{found}`: this one is `{training}`").into(),
                );
            }
            let file = SafeTensors::deserialize(&bytes)?;
            for (name, numbers) in &mut self.state {
                *numbers = tensors::numbers(&file, name, Dtype::F32, Some(&[numbers.len()]))?;
            }
            self.losses = tensors::numbers(&file, LOSSES, Dtype::F32, None)?;
            match sum == self.sum() {
                true => Ok(()),
                false => Err("its numbers are not those that were written".into()),
            }
        };
        let help = "remove the file to begin anew, or name another one";
        fill().map_err(|error: BoxError| format!("checkpoint {}: {error}; {help}", path.display()).into())
    }

    /// Writes a file. If the process ends meanwhile, the file is the one that was there before.
    fn write(&self, path: &Path, training: &str) -> Result<(), BoxError> {
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = Path::new(&new);
        let tensors: Vec<Tensor> = self
            .pieces()
            .map(|(name, numbers)| Tensor::list(name, numbers.to_vec()))
            .collect();
        let entry = (OF.to_owned(), format!("{} {training}", self.sum()));
        tensors::write_with(new, &tensors, Some([entry].into()))?;
        Ok(fs::rename(new, path)?)
    }

    /// All numbers, by their names in a file.
    fn pieces(&self) -> impl Iterator<Item = (&str, &[f32])> {
        let state = self.state.iter().map(|(name, numbers)| (*name, &numbers[..]));
        [(LOSSES, &self.losses[..])].into_iter().chain(state)
    }

    /// The hash FNV-1a of all numbers, by which a damaged file is found.
    fn sum(&self) -> String {
        let bytes = self.pieces().flat_map(|(_, numbers)| cast_slice::<f32, u8>(numbers));
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
        format!("{hash:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file of this process, which is gone in the end.
    struct Gone(PathBuf);

    impl Gone {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("{name}-{}.safetensors", std::process::id())))
        }
    }

    impl Drop for Gone {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            losses: vec![2.0, 1.5],
            state: vec![("w", vec![0.1, -0.0, 1e-40]), ("b", vec![3.0])],
        }
    }

    /// A state before its first step.
    fn empty() -> Checkpoint {
        Checkpoint {
            losses: Vec::new(),
            state: vec![("w", vec![0.0; 3]), ("b", vec![0.0])],
        }
    }

    #[test]
    fn a_checkpoint_is_read_as_it_was_written() {
        let file = Gone::new("checkpoint");
        checkpoint().write(&file.0, "net 3").unwrap();
        let mut found = empty();
        found.read(&file.0, "net 3").unwrap();
        assert_eq!(found, checkpoint());
    }

    #[test]
    fn a_checkpoint_of_another_training_is_refused() {
        let file = Gone::new("foreign");
        let read = || empty().read(&file.0, "net 4").unwrap_err().to_string();
        checkpoint().write(&file.0, "net 3").unwrap();
        let error = read();
        assert!(
            error.contains("foreign-") && error.contains("remove the file"),
            "{error}"
        );
        assert!(error.contains("`net 3`") && error.contains("`net 4`"), "{error}");
        tensors::write(&file.0, &[Tensor::list("w", vec![0.0; 3])]).unwrap();
        assert!(read().contains("no checkpoint of a training"), "{}", read());
    }

    /// A file of which any byte has changed, or of which the end is missing, is an error.
    #[test]
    fn a_damaged_checkpoint_is_refused() {
        let file = Gone::new("damaged");
        checkpoint().write(&file.0, "net 3").unwrap();
        let whole = fs::read(&file.0).unwrap();
        let refuse = |bytes: &[u8], what: String| {
            fs::write(&file.0, bytes).unwrap();
            let error = empty().read(&file.0, "net 3").expect_err(&what).to_string();
            assert!(error.contains("damaged-"), "{what}: {error}");
        };
        for index in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[index] ^= 1 << bit;
                refuse(&bytes, format!("bit {bit} of byte {index}"));
            }
            refuse(&whole[..index], format!("{index} bytes"));
        }
    }
}
