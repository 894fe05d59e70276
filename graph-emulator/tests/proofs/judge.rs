//! Kernels on the emulator, with memory of exactly the lengths of their arguments.

use crate::random::Random;
use graph_emulator::{Access, Allocation, Buffer, Fault, FaultKind, Launch, Memory, Module, Options};
use graph_ptx::declaration::{Proposal, propose};
use graph_ptx::proof::{self, Effort, Kernel, Kind, Param, Verdict, prove, weakest};
use graph_ptx::{Elements, ast, summarize};
use std::path::Path;

/// The effort of the proofs of our own kernels.
pub(super) const EFFORT: Effort = Effort {
    instructions: 20_000,
    searches: 20_000,
    trials: 60_000,
};

/// The PTX of these files, of kernels that need no more than memory and numbers.
pub(super) const FILES: [&str; 8] = [
    "docs/kernels/samples.ptx",
    "docs/kernels/tutorial.ptx",
    "examples/kernels/mlp.ptx",
    "examples/kernels/forward_backward.ptx",
    "graph-runtime/tests/kernels/test_kernels.ptx",
    "graph-runtime/tests/kernels/conditionals.ptx",
    "graph-runtime/tests/corpus/kernels/linear.ptx",
    "graph-runtime/tests/corpus/kernels/stencil.ptx",
];

pub(super) fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// A kernel as its PTX shows it, without a contract.
pub(super) fn declared(module: &ast::Module, entry: &str) -> Option<Kernel> {
    let (summary, proposals) = propose(entry, module)?;
    // No textures are made here.
    let has_handle = |proposal: &Proposal| matches!(proposal, Proposal::Memory(memory) if memory.handle.is_some());
    if proposals.iter().any(has_handle) {
        return None;
    }
    let params = summary.params.iter().zip(&proposals).enumerate();
    let params = params.map(|(index, (facts, proposal))| Param {
        name: format!("p{index}"),
        kind: match proposal {
            Proposal::Memory(memory) => Kind::Memory {
                unit: Some(match memory.elements {
                    Elements::One(ty) => ty.size() as u64,
                    Elements::Unknown | Elements::Mixed => 1,
                }),
                len: None,
            },
            Proposal::Value(_) if facts.array => Kind::Other,
            Proposal::Value(_) => match facts.ty {
                ast::Type::U32 | ast::Type::B32 => Kind::Integer {
                    bits: 32,
                    signed: false,
                },
                ast::Type::S32 => Kind::Integer { bits: 32, signed: true },
                ast::Type::U64 | ast::Type::B64 => Kind::Integer {
                    bits: 64,
                    signed: false,
                },
                _ => Kind::Other,
            },
        },
    });
    Some(Kernel {
        entry: entry.to_owned(),
        params: params.collect(),
        requires: Vec::new(),
        unwritten: Vec::new(),
    })
}

/// The kernels of a module with the contracts that prove them.
pub(super) fn proved(module: &ast::Module, effort: &Effort) -> Vec<Kernel> {
    let entries = module.functions.iter().filter(|function| function.entry);
    let kernels = entries.filter_map(|function| declared(module, &function.name));
    kernels
        .filter_map(|mut kernel| {
            let conditions = weakest(module, &kernel, effort)?;
            kernel
                .requires
                .extend(conditions.into_iter().map(|condition| condition.term));
            initialised(module, &mut kernel, effort);
            Some(kernel)
        })
        .collect()
}

/// Takes the memory to hold nothing that a kernel is proved to write before it reads it.
pub(super) fn initialised(module: &ast::Module, kernel: &mut Kernel, effort: &Effort) {
    for param in 0..kernel.params.len() {
        if matches!(kernel.params[param].kind, Kind::Memory { .. }) {
            kernel.unwritten.push(param);
            if prove(module, kernel, effort) != Verdict::Proved {
                kernel.unwritten.pop();
            }
        }
    }
}

/// A launch on memory of exactly the lengths of its arguments; the fault of an access, if there is one.
pub(super) fn fault(
    text: &str,
    module: &ast::Module,
    kernel: &Kernel,
    launch: &proof::Launch,
    fill: Option<u8>,
) -> Option<String> {
    let fault = run(text, module, kernel, launch, fill, false)?;
    is_of_access(&fault.kind).then(|| fault.to_string())
}

/// Whether a fault is that of an access outside of memory, of one that is not aligned, of one for which memory is not
/// passed, or of a load of what nothing has written. Of shared memory, the last one is not asked.
pub(super) fn is_of_access(kind: &FaultKind) -> bool {
    match kind {
        FaultKind::OutOfBounds { .. }
        | FaultKind::InvalidAddress { .. }
        | FaultKind::NotShared { .. }
        | FaultKind::NotPassed(_)
        | FaultKind::ReadOnly(_)
        | FaultKind::AtomicOnly(_)
        | FaultKind::Misaligned { .. } => true,
        FaultKind::InvalidBarrier(message) => message.ends_with("not in shared memory"),
        FaultKind::Uninitialized(access) => &*access.buffer != "shared memory",
        _ => false,
    }
}

/// The fault of a launch on memory of exactly the lengths of its arguments. It begins where the facts about the kernel
/// ask for, at multiples of no more bytes, and is passed to be read, or updated atomically, if they say no more.
pub(super) fn run(
    text: &str,
    module: &ast::Module,
    kernel: &Kernel,
    launch: &proof::Launch,
    fill: Option<u8>,
    races: bool,
) -> Option<Fault> {
    let fault = run_once(text, module, kernel, launch, fill, races)?;
    if let FaultKind::Uninitialized(_) = fault.kind
        && !is_of_access(&fault.kind)
    {
        let mut kernel = kernel.clone();
        kernel.unwritten.clear();
        return run_once(text, module, &kernel, launch, fill, races);
    }
    Some(fault)
}

fn run_once(
    text: &str,
    module: &ast::Module,
    kernel: &Kernel,
    launch: &proof::Launch,
    fill: Option<u8>,
    races: bool,
) -> Option<Fault> {
    let memory = Memory::new();
    let emulated = Module::load(&memory, text).ok()?;
    let mut random = Random(launch.arguments.iter().map(|argument| *argument as u64).sum::<u64>() + 7);
    let function = module
        .functions
        .iter()
        .find(|function| function.entry && function.name == kernel.entry)?;
    let pointers = kernel
        .params
        .iter()
        .map(|param| matches!(param.kind, Kind::Memory { .. }));
    let summary = summarize(module, &kernel.entry, &pointers.collect::<Vec<_>>())?;
    let mut allocations: Vec<(Allocation, Buffer<'_>)> = Vec::new();
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    let params = kernel.params.iter().zip(&launch.arguments).zip(&function.params);
    for (index, ((param, value), declared)) in params.enumerate() {
        match param.kind {
            Kind::Memory { unit, .. } => {
                let unit = unit.unwrap_or(1);
                let bytes = usize::try_from(*value).ok()? * unit as usize;
                // Allocations begin at multiples of more than 16.
                let start = summary
                    .at_once(index, unit)
                    .map_or(unit as usize % 16, |widest| widest as usize % 16);
                let allocation = memory.allocate(&param.name, start + bytes.max(1)).ok()?;
                let contents: Vec<u8> = (0..start + bytes.max(1))
                    .map(|_| fill.unwrap_or(random.below(256) as u8))
                    .collect();
                allocation.write(0, &contents).ok()?;
                if kernel.unwritten.contains(&index) {
                    allocation.forget_contents().ok()?;
                }
                let address = allocation.address() + start as u64;
                let accessed = &summary.params[index].access;
                arguments.push(address.to_le_bytes().to_vec());
                let buffer = Buffer {
                    name: &param.name,
                    address,
                    len: bytes,
                    access: match (accessed.stored, accessed.plain) {
                        (None, _) => Access::Read,
                        (Some(_), None) => Access::Atomic,
                        (Some(_), Some(_)) => Access::ReadWrite,
                    },
                };
                allocations.push((allocation, buffer));
            }
            Kind::Integer { bits, .. } => arguments.push(value.to_le_bytes()[..bits as usize / 8].to_vec()),
            Kind::Handle => return None, // no texture is made here
            Kind::Other => {
                let byte = |_| fill.unwrap_or(random.below(256) as u8);
                arguments.push((0..declared.size).map(byte).collect());
            }
        }
    }
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    let buffers: Vec<Buffer<'_>> = allocations.iter().map(|(_, buffer)| *buffer).collect();
    let options = Options {
        step_limit: Some(20_000),
        check_shared_races: races,
        check_device_races: races,
        check_uninitialized: !kernel.unwritten.is_empty(),
        ..Options::default()
    };
    let run = emulated.launch(
        &kernel.entry,
        &Launch {
            grid: launch.grid,
            block: launch.block,
            shared_bytes: launch.shared,
            arguments: &arguments,
            buffers: &buffers,
            textures: &[],
            surfaces: &[],
            options: &options,
        },
    );
    run.err()
}

/// The number of threads of a launch.
pub(super) fn threads(launch: &proof::Launch) -> u64 {
    let sides = launch.grid.iter().chain(&launch.block);
    sides.map(|&side| u64::from(side)).product()
}

/// Whether a launch is small enough to be emulated often.
pub(super) fn is_small(launch: &proof::Launch, most: u64) -> bool {
    threads(launch) <= most && launch.arguments.iter().all(|argument| (0..1 << 20).contains(argument))
}

/// The PTX without its other kernels.
pub(super) fn alone(text: &str, entry: &str) -> String {
    let mut kept = Vec::new();
    let (mut depth, mut skips) = (0_i32, false);
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("");
        if let Some((_, name)) = code.split_once(".entry ") {
            skips = name.split('(').next().map(str::trim) != Some(entry);
            depth = 0;
        }
        let before = depth;
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if !skips {
            kept.push(line);
        }
        skips &= before == 0 || depth > 0;
    }
    kept.join("\n")
}
