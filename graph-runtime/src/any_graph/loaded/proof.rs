//! Proofs that the launches of a file stay within their memory: nobody else has promised that.

use super::Loaded;
use crate::error::{Error, Result, Site};
use crate::kernel::cubin::FileModuleCode;
use crate::kernel::module::Module;
use graph_plan::{FileArgument, FileKernel, FileNode, FileWork};
use graph_ptx::proof::{Binary, Effort, Gap, Kernel, Kind, Param, Term, Verdict, Witness, prove};
use std::collections::HashSet;

impl Loaded {
    /// Proves each launch, for the dimensions, the values and the lengths that it has.
    pub(super) fn prove(&self) -> Result<()> {
        let mut proved = HashSet::new();
        for node in &self.file.nodes {
            let FileWork::Kernel(launch) = &node.work else { continue };
            if proved.insert(key(launch)) {
                let proved = match &self.modules[launch.module as usize] {
                    FileModuleCode::Ptx(module) => prove_launch(module, launch),
                    FileModuleCode::Cubin(cubin) => Err(format!("`{}` has no PTX of it", cubin.name())),
                };
                proved.map_err(|why| self.unproved(node, launch, &why))?;
            }
        }
        Ok(())
    }

    fn unproved(&self, node: &FileNode, launch: &FileKernel, why: &str) -> Error {
        let kernel = &launch.entry;
        Error::GraphFile {
            site: Site::graph(&self.file.name).at_node(&node.name),
            path: self.path.clone(),
            message: format!(
                "kernel `{kernel}` is not proved to stay within its memory in this launch: {why}\n\
                 note: on a GPU nothing stops a kernel that leaves its memory, and a file cannot promise that it does not\n\
                 help: if you trust the file, open it by `unsafe {{ Loaded::open_trusted(..) }}`; on the emulator, every file \
                 can be opened"
            ),
        }
    }
}

/// All that a proof depends on, so that equal launches are proved once.
#[derive(PartialEq, Eq, Hash)]
struct Key<'f> {
    module: u32,
    entry: &'f str,
    sides: [u32; 7],
    arguments: Vec<Length<'f>>,
}

/// A value, or the length of memory.
#[derive(PartialEq, Eq, Hash)]
enum Length<'f> {
    Value(&'f [u8]),
    Memory(u64),
}

fn key(launch: &FileKernel) -> Key<'_> {
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    let arguments = launch.arguments.iter().map(|argument| match argument {
        FileArgument::Value(bytes) => Length::Value(bytes),
        FileArgument::Memory { bytes, .. } => Length::Memory(*bytes),
    });
    Key {
        module: launch.module,
        entry: &launch.entry,
        sides: [gx, gy, gz, bx, by, bz, launch.shared],
        arguments: arguments.collect(),
    }
}

/// Proves a launch, or says what is missing.
fn prove_launch(module: &Module, launch: &FileKernel) -> std::result::Result<(), String> {
    let kernel = module.kernel(&launch.entry).map_err(|error| error.to_string())?;
    let is = |term: Term, value: i128| Term::Binary(Binary::Eq, Box::new(term), Box::new(Term::Int(value)));
    let mut requires = vec![is(Term::Shared, launch.shared.into())];
    for axis in 0..3_u8 {
        requires.push(is(Term::Grid(axis), launch.grid[usize::from(axis)].into()));
        requires.push(is(Term::Block(axis), launch.block[usize::from(axis)].into()));
    }
    let mut params = Vec::new();
    for (index, argument) in launch.arguments.iter().enumerate() {
        let kind = match argument {
            FileArgument::Memory { bytes, .. } => Kind::Memory {
                unit: Some(1),
                len: Some(*bytes),
            },
            FileArgument::Value(bytes) => match integer(bytes) {
                Some((bits, value)) => {
                    requires.push(is(Term::Value(index), value));
                    Kind::Integer { bits, signed: true }
                }
                None => Kind::Other,
            },
        };
        let name = format!("p{index}");
        params.push(Param { name, kind });
    }
    let entry = launch.entry.to_string();
    let declared = Kernel {
        entry,
        params,
        requires,
        // Memory of a file holds data, whatever it is.
        unwritten: Vec::new(),
    };
    match prove(kernel.syntax(), &declared, &Effort::FULL) {
        Verdict::Proved => Ok(()),
        Verdict::Refuted(witness) => {
            let Witness {
                block,
                thread,
                line,
                memory,
                offset,
                size,
                bytes,
                ..
            } = &*witness;
            Err(format!(
                "thread {thread:?} of block {block:?} accesses {size} bytes {offset} bytes from the beginning of `{memory}`, \
                 which has {bytes} (line {line} of `{}`)",
                module.name()
            ))
        }
        Verdict::Unknown(reasons) => {
            let mut reasons = reasons.iter().map(|reason| {
                let gap = gap(&reason.gap);
                format!("{gap} (line {} of `{}`)", reason.line, module.name())
            });
            Err(reasons.next().unwrap_or_default())
        }
    }
}

/// A gap in a proof, in words.
fn gap(gap: &Gap) -> String {
    match gap {
        Gap::Instruction(name) => format!("the accesses of `{name}` are not known"),
        Gap::Call(name) => format!("it calls `{name}`"),
        Gap::Address => "the memory of an access is not known".to_owned(),
        Gap::Handle => "it accesses a texture or a surface".to_owned(),
        Gap::Size => "it accesses memory of which the size is not known".to_owned(),
        Gap::Alignment(bytes) => format!("an address may be no multiple of {bytes}"),
        Gap::Bounds { memory, .. } => format!("an access to `{memory}` is not bounded"),
        Gap::Unwritten { memory, .. } => format!("what it reads of `{memory}` may not be written before"),
        Gap::Branches => "its branches are not understood".to_owned(),
        Gap::Missing => "it cannot be read".to_owned(),
        Gap::TooLarge => "it is too large".to_owned(),
    }
}

/// The number of bits and the value of bytes that may be an integer: of one of that size, with the least byte first.
fn integer(bytes: &[u8]) -> Option<(u32, i128)> {
    let value = match *bytes {
        [a] => i128::from(a.cast_signed()),
        [a, b] => i128::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i128::from(i32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i128::from(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => return None,
    };
    Some((bytes.len() as u32 * 8, value))
}
