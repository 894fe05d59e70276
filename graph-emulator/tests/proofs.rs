//! The emulator judges [`graph_ptx::proof`]: a proved kernel runs without a fault on memory that is as small as its
//! contract allows; a mutant of it that leaves its memory is not proved; a refuted kernel faults as its witness says.
//!
//! `PROOF_MUTANTS=20000 cargo test -p graph-emulator --test proofs -- --nocapture` tries more mutants. `PROOF_FILES`,
//! a list of PTX files with `:` between them, has the kernels of these judged instead of our own, and counted.

use graph_emulator::{Access, Allocation, Buffer, Fault, FaultKind, Launch, Memory, Module, Options};
use graph_ptx::Elements;
use graph_ptx::ast;
use graph_ptx::declaration::{Proposal, propose};
use graph_ptx::proof::{self, Effort, Kernel, Kind, Param, Races, Verdict, prove, races, samples, weakest};
use std::path::Path;

#[path = "common/random.rs"]
mod random;
use random::Random;

const EFFORT: Effort = Effort {
    instructions: 20_000,
    searches: 20_000,
    trials: 60_000,
};

/// The PTX of these files, of kernels that need no more than memory and numbers.
const FILES: [&str; 8] = [
    "docs/kernels/samples.ptx",
    "docs/kernels/tutorial.ptx",
    "examples/kernels/mlp.ptx",
    "examples/kernels/forward_backward.ptx",
    "graph-runtime/tests/kernels/test_kernels.ptx",
    "graph-runtime/tests/kernels/conditionals.ptx",
    "graph-runtime/tests/corpus/kernels/linear.ptx",
    "graph-runtime/tests/corpus/kernels/stencil.ptx",
];

fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// A kernel as its PTX shows it, without a contract.
fn declared(module: &ast::Module, entry: &str) -> Option<Kernel> {
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
    })
}

/// The kernels of a module with the contracts that prove them.
fn proved(module: &ast::Module, effort: &Effort) -> Vec<Kernel> {
    let entries = module.functions.iter().filter(|function| function.entry);
    let kernels = entries.filter_map(|function| declared(module, &function.name));
    kernels
        .filter_map(|mut kernel| {
            let conditions = weakest(module, &kernel, effort)?;
            kernel
                .requires
                .extend(conditions.into_iter().map(|condition| condition.term));
            Some(kernel)
        })
        .collect()
}

/// A launch on memory of exactly the lengths of its arguments; the fault of an access, if there is one.
fn fault(
    text: &str,
    module: &ast::Module,
    kernel: &Kernel,
    launch: &proof::Launch,
    fill: Option<u8>,
) -> Option<String> {
    let fault = run(text, module, kernel, launch, fill, false)?;
    let is_access = matches!(
        fault.kind,
        FaultKind::OutOfBounds { .. }
            | FaultKind::InvalidAddress { .. }
            | FaultKind::NotPassed(_)
            | FaultKind::Misaligned { .. }
    );
    is_access.then(|| fault.to_string())
}

/// A race of a launch, if there is one.
fn race(text: &str, module: &ast::Module, kernel: &Kernel, launch: &proof::Launch, fill: Option<u8>) -> Option<String> {
    let fault = run(text, module, kernel, launch, fill, true)?;
    matches!(fault.kind, FaultKind::Race { .. }).then(|| fault.to_string())
}

/// The fault of a launch on memory of exactly the lengths of its arguments.
fn run(
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
    let mut allocations: Vec<(String, Allocation, usize)> = Vec::new();
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    for ((param, value), declared) in kernel.params.iter().zip(&launch.arguments).zip(&function.params) {
        match param.kind {
            Kind::Memory { unit, .. } => {
                let bytes = usize::try_from(*value).ok()? * unit.unwrap_or(1) as usize;
                let allocation = memory.allocate(&param.name, bytes.max(1)).ok()?;
                let contents: Vec<u8> = (0..bytes.max(1))
                    .map(|_| fill.unwrap_or(random.below(256) as u8))
                    .collect();
                allocation.write(0, &contents).ok()?;
                arguments.push(allocation.address().to_le_bytes().to_vec());
                allocations.push((param.name.clone(), allocation, bytes));
            }
            Kind::Integer { bits, .. } => arguments.push(value.to_le_bytes()[..bits as usize / 8].to_vec()),
            Kind::Other => {
                let byte = |_| fill.unwrap_or(random.below(256) as u8);
                arguments.push((0..declared.size).map(byte).collect());
            }
        }
    }
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
    let buffers: Vec<Buffer<'_>> = allocations
        .iter()
        .map(|(name, allocation, bytes)| Buffer {
            name,
            address: allocation.address(),
            len: *bytes,
            access: Access::ReadWrite,
        })
        .collect();
    let options = Options {
        step_limit: Some(20_000),
        check_shared_races: races,
        check_device_races: races,
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

/// Whether a launch has several threads or blocks only along axes that the kernel asks for.
fn is_along_axes(module: &ast::Module, kernel: &Kernel, launch: &proof::Launch) -> bool {
    let named = |function: &&ast::Function| function.entry && function.name == kernel.entry;
    let code = module.functions.iter().find(named).and_then(ast::Function::code);
    let code = format!("{:?}", code.map(|body| &body.instructions));
    let sides = [("tid", launch.block), ("ctaid", launch.grid)];
    sides.into_iter().all(|(group, sides)| {
        let mut axes = sides.into_iter().zip(["x", "y", "z"]);
        axes.all(|(side, axis)| side == 1 || code.contains(&format!("%{group}.{axis}")))
    })
}

/// The number of threads of a launch.
fn threads(launch: &proof::Launch) -> u64 {
    let sides = launch.grid.iter().chain(&launch.block);
    sides.map(|&side| u64::from(side)).product()
}

/// Whether a launch is small enough to be emulated often.
fn is_small(launch: &proof::Launch, most: u64) -> bool {
    threads(launch) <= most && launch.arguments.iter().all(|argument| (0..1 << 20).contains(argument))
}

/// Runs the proved kernels of a file on memory of the least size. Returns the numbers of kernels and of launches.
fn judge(file: &str, text: &str, effort: &Effort) -> (u64, usize) {
    let module = graph_ptx::parse(text).unwrap();
    let (mut kernels, mut launches) = (0, 0);
    for kernel in proved(&module, effort) {
        kernels += 1;
        for launch in samples(&module, &kernel, kernels, 12) {
            if is_small(&launch, 4096) {
                launches += 1;
                let fault = fault(text, &module, &kernel, &launch, None);
                assert_eq!(fault, None, "{file}: {}: {launch:?}", kernel.entry);
            }
        }
    }
    (kernels, launches)
}

#[test]
fn proved_kernels_run_on_memory_of_the_least_size() {
    let (mut kernels, mut launches) = (0, 0);
    for file in FILES {
        let (some, runs) = judge(file, &text(file), &EFFORT);
        (kernels, launches) = (kernels + some, launches + runs);
    }
    println!("{kernels} proved kernels, {launches} launches");
    assert!(
        kernels >= 25 && launches >= 100,
        "{kernels} kernels, {launches} launches"
    );
}

/// Kernels of others, whose PTX is named by `PROOF_FILES`: those that are proved run, and at least two in five are.
#[test]
fn public_kernels_are_proved() {
    let Ok(files) = std::env::var("PROOF_FILES") else {
        return;
    };
    let (mut all, mut kernels, mut launches) = (0, 0, 0);
    for file in files.split(':') {
        let text = std::fs::read_to_string(file).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        let start = std::time::Instant::now();
        let (some, runs) = judge(file, &text, &Effort::FULL);
        let module = graph_ptx::parse(&text).unwrap();
        let entries = module.functions.iter().filter(|function| function.entry).count();
        println!(
            "{file}: {some} of {entries} kernels are proved, {runs} launches, {:?}",
            start.elapsed()
        );
        (all, kernels, launches) = (all + entries as u64, kernels + some, launches + runs);
    }
    println!("{kernels} of {all} kernels are proved, {launches} launches");
    assert!(kernels * 5 >= all * 2, "{kernels} of {all}");
}

/// A kernel that is refuted faults in the launch of its witness.
#[test]
fn refuted_kernels_fault_as_the_witness_says() {
    let mut faulty = 0;
    for file in FILES.iter().chain(&["examples/kernels/train_linear.sm_90.ptx"]) {
        let text = text(file);
        let module = graph_ptx::parse(&text).unwrap();
        let entries = module.functions.iter().filter(|function| function.entry);
        for kernel in entries.filter_map(|function| declared(&module, &function.name)) {
            let Verdict::Refuted(witness) = prove(&module, &kernel, &EFFORT) else {
                continue;
            };
            if is_small(&witness.launch, 4096) {
                let fault = fault(&text, &module, &kernel, &witness.launch, Some(witness.fill));
                assert!(fault.is_some(), "{file}: {}: {witness:?}", kernel.entry);
                faulty += 1;
            }
        }
    }
    println!("{faulty} refuted kernels fault");
    assert!(faulty > 30, "{faulty}");
}

/// The text of a kernel in which one line is changed; `None` if the line is not one to change.
fn mutant(lines: &[&str], index: usize, way: usize) -> Option<String> {
    let line = lines[index].trim();
    let code = line.trim_end_matches(';');
    let changed = match way {
        0 if line.starts_with("setp.") => {
            let turned = [
                ("ge", "gt"),
                ("gt", "ge"),
                ("lt", "le"),
                ("le", "lt"),
                ("ne", "eq"),
                ("eq", "ne"),
            ];
            let (from, to) = turned
                .iter()
                .find(|(from, _)| line.starts_with(&format!("setp.{from}.")))?;
            line.replacen(&format!("setp.{from}."), &format!("setp.{to}."), 1)
        }
        1 if line.starts_with("mul.wide.") => match code.rsplit_once(", ")? {
            (before, "4") => format!("{before}, 8;"),
            (before, "8") => format!("{before}, 16;"),
            _ => return None,
        },
        2 if line.starts_with('@') && line.contains("bra") => String::new(),
        3 if line.starts_with("mad.lo.s32") || line.starts_with("mov.u32") && line.contains("%tid") => {
            let register = code.split_whitespace().nth(1)?.trim_end_matches(',');
            format!("{line} add.s32 {register}, {register}, 1;")
        }
        4 if (line.starts_with("ld.global") || line.starts_with("st.global")) && line.contains(']') => {
            line.replacen(']', "+4]", 1).replacen("+4+4]", "+8]", 1)
        }
        5 if line.starts_with("add.s32") => match code.rsplit_once(", ")? {
            (before, number) if number.parse::<i64>().is_ok() => {
                format!("{before}, {};", number.parse::<i64>().ok()? + 1)
            }
            _ => return None,
        },
        6 if line.starts_with("mov.u32") && line.contains("%ntid") => line.replace("%ntid", "%nctaid"),
        7 if line.starts_with("shl.b32") => {
            let (before, number) = code.rsplit_once(", ")?;
            format!("{before}, {};", number.parse::<u32>().ok()? + 1)
        }
        8 if line.starts_with("setp.") => line.replacen(".u32", ".s32", 1),
        9 if line.starts_with("mul.wide.u32") => line.replacen("mul.wide.u32", "mul.wide.s32", 1),
        _ => return None,
    };
    let mut lines = lines.to_vec();
    lines[index] = &changed;
    (changed != line).then(|| lines.join("\n"))
}

#[test]
fn mutants_that_leave_their_memory_are_not_proved() {
    let wanted: usize = std::env::var("PROOF_MUTANTS").map_or(150, |number| number.parse().unwrap());
    let (mut mutants, mut kept, mut faulty) = (0, 0, 0);
    let mut random = Random(3);
    let sources: Vec<(String, Vec<Kernel>)> = FILES
        .iter()
        .map(|file| {
            let text = text(file);
            let kernels = proved(&graph_ptx::parse(&text).unwrap(), &EFFORT);
            (text, kernels)
        })
        .collect();
    let mut tries = 0;
    while mutants < wanted && tries < wanted * 400 {
        tries += 1;
        let (text, kernels) = &sources[random.below(sources.len())];
        let lines: Vec<&str> = text.lines().collect();
        let Some(changed) = mutant(&lines, random.below(lines.len()), random.below(10)) else {
            continue;
        };
        let Ok(module) = graph_ptx::parse(&changed) else {
            continue;
        };
        let original = graph_ptx::parse(text).unwrap();
        // The kernel that is changed.
        let differs = |kernel: &&Kernel| {
            let code = |module: &ast::Module| {
                let named = |function: &&ast::Function| function.entry && function.name == kernel.entry;
                module
                    .functions
                    .iter()
                    .find(named)
                    .and_then(|function| function.code().cloned())
            };
            code(&module) != code(&original)
        };
        let Some(kernel) = kernels.iter().find(differs) else {
            continue;
        };
        mutants += 1;
        let faults = |launch: &proof::Launch| {
            if is_small(launch, 1024) {
                fault(&changed, &module, kernel, launch, None)
            } else {
                None
            }
        };
        match prove(&module, kernel, &EFFORT) {
            Verdict::Proved => {
                kept += 1;
                for launch in samples(&module, kernel, mutants as u64, 6) {
                    assert_eq!(faults(&launch), None, "{}: {launch:?}\n{changed}", kernel.entry);
                }
            }
            Verdict::Refuted(witness) => {
                if is_small(&witness.launch, 4096) {
                    let fault = fault(&changed, &module, kernel, &witness.launch, Some(witness.fill));
                    assert!(fault.is_some(), "no fault: {}: {witness:?}\n{changed}", kernel.entry);
                    faulty += 1;
                }
            }
            Verdict::Unknown(_) => {}
        }
    }
    println!("{mutants} mutants: {kept} are proved, {faulty} are refuted and fault");
    assert!(
        mutants >= wanted.min(100) && faulty > 10,
        "{mutants} mutants, {faulty} faults"
    );
}

/// A kernel of a planted mistake: its name, the code that is given the index `%r4` of a thread, `n` in `%r5` and the
/// address of `data` in `%rd1`, and the contract.
type Planted<'a> = (&'a str, &'a str, Contract);

/// A contract that the author of a planted kernel took to be enough.
#[derive(Clone, Copy)]
enum Contract {
    None,
    /// `n <= data.len()`
    Values,
    /// `threads <= data.len()`
    Threads,
    /// `n <= data.len() + 1`
    OneMore,
}

const STORE: &str = "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;";

const PLANTED: &[Planted<'_>] = &[
    (
        "off by one",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; add.u32 %r4, %r4, 1; STORE",
        Contract::Values,
    ),
    (
        "one word on",
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+4], %r5;",
        Contract::Threads,
    ),
    (
        "at most n",
        "setp.gt.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    ("no guard", "STORE", Contract::Values),
    ("no contract", "STORE", Contract::None),
    (
        "a guard without a contract",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::None,
    ),
    (
        "a contract of one more",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::OneMore,
    ),
    ("stride of two", "shl.b32 %r4, %r4, 1; STORE", Contract::Threads),
    ("stride of three", "mul.lo.u32 %r4, %r4, 3; STORE", Contract::Threads),
    (
        "eight bytes",
        "mul.wide.u32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2; st.global.u64 [%rd3], %rd2;",
        Contract::Threads,
    ),
    (
        "eight bytes at four",
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.v2.u32 [%rd3], {%r5, %r5};",
        Contract::Threads,
    ),
    (
        "sixteen bytes",
        "mul.wide.u32 %rd2, %r4, 16; add.s64 %rd3, %rd1, %rd2; st.global.v4.u32 [%rd3], {%r5, %r5, %r5, %r5};",
        Contract::Threads,
    ),
    ("before the beginning", "add.s32 %r4, %r4, -1; STORE", Contract::Threads),
    (
        "a word before",
        "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+-4], %r5;",
        Contract::Threads,
    ),
    (
        "negative",
        "sub.s32 %r4, %r4, %r5; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        Contract::Threads,
    ),
    (
        "counted from the end",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; sub.u32 %r4, %r5, %r4; STORE",
        Contract::Values,
    ),
    (
        "overflow of int",
        "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        Contract::Threads,
    ),
    (
        "a signed guard",
        "setp.ge.s32 %p1, %r4, %r5; @%p1 bra END; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        Contract::Values,
    ),
    (
        "a tail of blocks of 64",
        "mad.lo.u32 %r4, %r1, 64, %r3; STORE",
        Contract::Threads,
    ),
    (
        "the size of the grid for that of a block",
        "mov.u32 %r6, %nctaid.x; mad.lo.u32 %r4, %r1, %r6, %r3; STORE",
        Contract::Threads,
    ),
    (
        "the next block",
        "add.u32 %r6, %r1, 1; mad.lo.u32 %r4, %r6, %r2, %r3; STORE",
        Contract::Threads,
    ),
    (
        "the guard is about the thread",
        "setp.ge.u32 %p1, %r3, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    (
        "the guard is about the block",
        "setp.ge.u32 %p1, %r1, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    (
        "the guard is turned",
        "setp.lt.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        Contract::Values,
    ),
    (
        "a loop that ends late",
        "mov.u32 %r4, 0; LOOP: STORE add.u32 %r4, %r4, 1; setp.le.u32 %p1, %r4, %r5; @%p1 bra LOOP;",
        Contract::Values,
    ),
    (
        "a loop of at least one",
        "mov.u32 %r4, 0; LOOP: STORE add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r5; @%p1 bra LOOP;",
        Contract::Values,
    ),
    ("a constant", "st.global.u32 [%rd1+40], %r5;", Contract::Threads),
    (
        "a mask that is too wide",
        "and.b32 %r4, %r4, 15; STORE",
        Contract::Values,
    ),
    ("the greater of two", "max.u32 %r4, %r4, %r5; STORE", Contract::Threads),
    (
        "half, and one",
        "shr.u32 %r4, %r4, 1; add.u32 %r4, %r4, %r5; STORE",
        Contract::Threads,
    ),
    (
        "a choice",
        "setp.eq.u32 %p1, %r4, 0; selp.b32 %r4, %r5, %r4, %p1; STORE",
        Contract::Threads,
    ),
    (
        "the remainder by one more",
        "add.u32 %r6, %r5, 1; rem.u32 %r4, %r4, %r6; STORE",
        Contract::Values,
    ),
    (
        "shared memory",
        "mov.u32 %r6, tile; shl.b32 %r4, %r3, 2; add.u32 %r6, %r6, %r4; st.shared.u32 [%r6], %r5;",
        Contract::Threads,
    ),
];

/// The kernel of a planted mistake, and its PTX.
fn planted((_, code, contract): &Planted<'_>) -> (String, Kernel) {
    use graph_ptx::proof::{Binary, Term};
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry k(.param .u64 data, .param .u32 n) {{\n.reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<5>;\n\
         .shared .align 4 .b8 tile[64];\n\
         ld.param.u64 %rd1, [data];\nld.param.u32 %r5, [n];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n\
         mov.u32 %r3, %tid.x;\nmad.lo.u32 %r4, %r1, %r2, %r3;\n{}\nEND: ret;\n}}\n",
        code.replace("STORE", STORE).replace(';', ";\n")
    );
    let len = || Box::new(Term::Len(0));
    let below = |least: Term, most: Box<Term>| vec![Term::Binary(Binary::Le, Box::new(least), most)];
    let requires = match contract {
        Contract::None => Vec::new(),
        Contract::Values => below(Term::Value(1), len()),
        Contract::Threads => below(Term::Threads, len()),
        Contract::OneMore => {
            let more = Term::Binary(Binary::Add, len(), Box::new(Term::Int(1)));
            below(Term::Value(1), Box::new(more))
        }
    };
    let param = |name: &str, kind: Kind| Param {
        name: name.to_owned(),
        kind,
    };
    let params = vec![
        param(
            "data",
            Kind::Memory {
                unit: Some(4),
                len: None,
            },
        ),
        param(
            "n",
            Kind::Integer {
                bits: 32,
                signed: false,
            },
        ),
    ];
    let entry = "k".to_owned();
    (
        text,
        Kernel {
            entry,
            params,
            requires,
        },
    )
}

#[test]
fn planted_mistakes_are_refuted_and_fault() {
    let (mut faulty, mut contracts) = (0, 0);
    for kernel in PLANTED {
        let name = kernel.0;
        let (text, kernel) = planted(kernel);
        let module = graph_ptx::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
        let Verdict::Refuted(witness) = prove(&module, &kernel, &Effort::FULL) else {
            panic!("{name}: {:?}", prove(&module, &kernel, &Effort::FULL));
        };
        if is_small(&witness.launch, 4096) {
            let fault = fault(&text, &module, &kernel, &witness.launch, Some(witness.fill));
            assert!(fault.is_some(), "{name}: {witness:?}");
            faulty += 1;
        }
        let Some(conditions) = weakest(&module, &kernel, &Effort::FULL) else {
            continue;
        };
        contracts += 1;
        // With the contract that the help offers, it is proved, and runs.
        let mut mended = kernel.clone();
        mended
            .requires
            .extend(conditions.into_iter().map(|condition| condition.term));
        assert_eq!(prove(&module, &mended, &Effort::FULL), Verdict::Proved, "{name}");
        for launch in samples(&module, &mended, 5, 8) {
            if is_small(&launch, 4096) {
                assert_eq!(
                    self::fault(&text, &module, &mended, &launch, None),
                    None,
                    "{name}: {launch:?}"
                );
            }
        }
    }
    println!(
        "{} planted, {faulty} of them faults of the emulator, {contracts} with a contract",
        PLANTED.len()
    );
    assert!(
        PLANTED.len() >= 30 && faulty >= 28 && contracts >= 12,
        "{faulty} faults, {contracts} contracts"
    );
}

/// Whether kernels have races: of those that have none, no launch has one; those that are found are there.
fn judge_races(text: &str, module: &ast::Module, kernel: &Kernel, seed: u64) -> Races {
    let found = races(module, kernel, &Effort::FULL);
    match &found {
        Races::Free => {
            for launch in samples(module, kernel, seed, 12) {
                if is_small(&launch, 1024) && is_along_axes(module, kernel, &launch) {
                    let race = race(text, module, kernel, &launch, None);
                    assert_eq!(race, None, "{}: {launch:?}", kernel.entry);
                }
            }
        }
        // The emulator looks for races of one block.
        Races::Found(witness) if witness.accesses[0].block == witness.accesses[1].block => {
            let race = race(text, module, kernel, &witness.launch, Some(witness.fill));
            assert!(race.is_some(), "{}: {witness:?}", kernel.entry);
        }
        Races::Found(_) | Races::Unknown(_) => {}
    }
    found
}

#[test]
fn races_are_those_of_the_emulator() {
    let (mut free, mut all) = (0, 0);
    for file in FILES {
        let text = text(file);
        let module = graph_ptx::parse(&text).unwrap();
        for kernel in proved(&module, &EFFORT) {
            all += 1;
            match judge_races(&text, &module, &kernel, all) {
                Races::Free => free += 1,
                Races::Found(race) => println!("{file}: {}: {race:?}", kernel.entry),
                Races::Unknown(line) => println!("{file}: {}: line {line}", kernel.entry),
            }
        }
    }
    println!("{free} of {all} kernels have no races");
    assert!(free * 2 >= all, "{free} of {all}");
}

/// Kernels in which threads race, or not.
const RACING: &[(&str, &str, bool)] = &[
    ("one element of all threads", "st.global.u32 [%rd1], %r4;", true),
    (
        "the next element",
        "add.u32 %r6, %r4, 1; setp.ge.u32 %p1, %r6, %r5; @%p1 bra END; mul.wide.u32 %rd2, %r4, 4; \
         add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r7, [%rd3+4]; st.global.u32 [%rd3], %r7;",
        true,
    ),
    (
        "half of the elements twice",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; shr.u32 %r4, %r4, 1; mul.wide.u32 %rd2, %r4, 4; \
         add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;",
        true,
    ),
    (
        "no barrier",
        "and.b32 %r6, %r3, 15; shl.b32 %r6, %r6, 2; mov.u32 %r7, tile; add.u32 %r6, %r7, %r6; \
         st.shared.u32 [%r6], %r3; ld.shared.u32 %r5, [tile]; st.global.u32 [%rd1], 7;",
        true,
    ),
    (
        "an element a thread",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; STORE",
        false,
    ),
    (
        "two elements a thread",
        "setp.ge.u32 %p1, %r4, %r5; @%p1 bra END; mul.wide.u32 %rd2, %r4, 8; add.s64 %rd3, %rd1, %rd2; \
         st.global.u32 [%rd3], %r4; st.global.u32 [%rd3+4], %r3;",
        false,
    ),
    (
        "the first thread",
        "setp.ne.u32 %p1, %r4, 0; @%p1 bra END; STORE",
        false,
    ),
    (
        "an element a block, by its first thread",
        "setp.ne.u32 %p1, %r3, 0; @%p1 bra END; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; \
         st.global.u32 [%rd3], %r1;",
        false,
    ),
    ("an atomic update", "red.global.add.u32 [%rd1], %r4;", false),
    (
        "a barrier between",
        "setp.gt.u32 %p1, %r2, 16; @%p1 bra END; shl.b32 %r6, %r3, 2; mov.u32 %r7, tile; add.u32 %r6, %r7, %r6; \
         st.shared.u32 [%r6], %r3; bar.sync 0; ld.shared.u32 %r5, [tile]; mul.wide.u32 %rd2, %r4, 4; \
         add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5;",
        false,
    ),
];

/// A kernel of [`RACING`], with its PTX.
fn racing(name: &str, code: &str) -> (String, ast::Module, Kernel) {
    let (text, mut kernel) = planted(&(name, code, Contract::Threads));
    let module = graph_ptx::parse(&text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
    // The threads, and two elements for each.
    kernel.requires.push(proof::Term::Binary(
        proof::Binary::Le,
        Box::new(proof::Term::Binary(
            proof::Binary::Mul,
            Box::new(proof::Term::Int(2)),
            Box::new(proof::Term::Value(1)),
        )),
        Box::new(proof::Term::Len(0)),
    ));
    (text, module, kernel)
}

#[test]
fn barriers_of_some_threads_order_not_all() {
    let (_, code, _) = RACING.iter().find(|(name, ..)| *name == "a barrier between").unwrap();
    for (barrier, is_free) in [
        ("bar.sync 0;", true),
        ("bar.red.popc.u32 %r5, 0, %p1;", true),
        ("bar.sync 0, 64;", false),
        ("bar.red.popc.u32 %r5, 0, 64, %p1;", false),
        ("bar.arrive 0, 64;", false),
    ] {
        let (_, module, kernel) = racing(barrier, &code.replace("bar.sync 0;", barrier));
        let found = proof::races(&module, &kernel, &Effort::FULL);
        assert_eq!(found == Races::Free, is_free, "{barrier}: {found:?}");
    }
}

#[test]
fn planted_races_are_found() {
    for (name, code, races) in RACING {
        let (text, module, kernel) = racing(name, code);
        let found = judge_races(&text, &module, &kernel, 1);
        let expected = matches!((&found, races), (Races::Found(_), true) | (Races::Free, false));
        assert!(expected, "{name}: {found:?}");
    }
}
