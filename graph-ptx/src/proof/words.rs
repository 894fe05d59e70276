//! The words of messages about verdicts.

use super::weakest::weakest;
use super::{Effort, Gap, Kernel, Kind, Launch, Race, RaceAccess, Reason, Verdict, Witness};
use crate::ast::Module;
use crate::location;

/// The most gaps that a message lists.
const MAX_GAPS: usize = 3;

/// A message about a kernel that is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// One line, lower case, without full stop.
    pub message: String,
    /// Facts, one line each.
    pub notes: Vec<String>,
    /// A way to mend it.
    pub help: String,
}

/// The message about a kernel, called `name`, of the PTX in `module`, which messages call `path`; `None` if it is
/// proved.
pub fn words(
    verdict: &Verdict,
    name: &str,
    kernel: &Kernel,
    module: &Module,
    path: &str,
    effort: &Effort,
) -> Option<Words> {
    let place = |line: u32| {
        let source = location(module, line).map_or_else(String::new, |source| format!(" ({source})"));
        format!("line {line} of `{path}`{source}")
    };
    match verdict {
        Verdict::Proved => None,
        Verdict::Refuted(witness) if witness.is_unwritten => Some(Words {
            message: format!(
                "the kernel `{name}` reads what nothing has written of `{}`",
                witness.memory
            ),
            notes: vec![
                launch(witness, kernel),
                format!("{}, on {}", access(witness), place(witness.line)),
            ],
            help: format!(
                "write each element of `{0}` before it is read, or declare `{0}` without `MaybeUninit`",
                witness.memory
            ),
        }),
        Verdict::Refuted(witness) => Some(Words {
            message: format!("the kernel `{name}` leaves the memory of `{}`", witness.memory),
            notes: vec![
                launch(witness, kernel),
                format!("{}, on {}", access(witness), place(witness.line)),
            ],
            help: help(module, kernel, effort)
                .unwrap_or_else(|| "bound the index in the kernel, or the launch by a `#[requires(..)]`".to_owned()),
        }),
        Verdict::Unknown(reasons) => {
            let notes = reasons.iter().take(MAX_GAPS);
            let mut notes: Vec<String> = notes
                .map(|reason| format!("{}: {}", place(reason.line), reason.text()))
                .collect();
            if reasons.len() > MAX_GAPS {
                notes.push(format!("and {} more", reasons.len() - MAX_GAPS));
            }
            if let Some(memory) = unwritten(reasons) {
                return Some(Words {
                    message: format!("the kernel `{name}` is not proved to write `{memory}` before it reads it"),
                    notes,
                    help: format!(
                        "have each thread write what it reads, or all threads of the block before a `__syncthreads()`, or \
                         declare `{memory}` without `MaybeUninit`"
                    ),
                });
            }
            Some(Words {
                message: format!("the kernel `{name}` is not proved to stay within its memory"),
                notes,
                help: match help(module, kernel, effort) {
                    Some(help) => format!("{help}; if that is too narrow, bound the index by a branch in the kernel"),
                    None => "bound the index by a branch or a `#[requires(..)]`, or leave out `prove`: then `safe` is your promise"
                        .to_owned(),
                },
            })
        }
    }
}

/// The memory that may be read before it is written, if nothing else is missing.
fn unwritten(reasons: &[Reason]) -> Option<&str> {
    let memory = |reason| match reason {
        &Reason {
            gap: Gap::Unwritten { ref memory, .. },
            ..
        } => Some(memory.as_str()),
        _ => None,
    };
    let (first, rest) = reasons.split_first()?;
    rest.iter()
        .all(|reason| memory(reason).is_some())
        .then(|| memory(first))?
}

/// The help that tells the conditions that the contract lacks.
fn help(module: &Module, kernel: &Kernel, effort: &Effort) -> Option<String> {
    let conditions = weakest(module, kernel, effort)?;
    let texts: Vec<&str> = conditions.iter().map(|condition| condition.text.as_str()).collect();
    (!texts.is_empty()).then(|| format!("declare it with `#[requires({})]`", texts.join(" && ")))
}

/// The message about two threads of a kernel, called `name`, that race.
pub fn race_words(race: &Race, name: &str, kernel: &Kernel, module: &Module, path: &str) -> Words {
    let access = |access: &RaceAccess| {
        let RaceAccess {
            block,
            thread,
            writes,
            line,
            offset,
            size,
        } = access;
        let source = location(module, *line).map_or_else(String::new, |source| format!(" ({source})"));
        let verb = if *writes { "writes" } else { "reads" };
        let (thread, block) = (place(*thread), place(*block));
        format!(
            "thread {thread} of block {block} {verb} {size} bytes from byte {offset} on, on line {line} of \
             `{path}`{source}"
        )
    };
    let [first, second] = &race.accesses;
    Words {
        message: format!("two threads of the kernel `{name}` race on `{}`", race.memory),
        notes: vec![
            format!("they do, with {}", launch_of(&race.launch, kernel)),
            access(first),
            format!("{}, and no barrier is between", access(second)),
        ],
        help: "give each thread elements of its own, put `__syncthreads()` between the accesses of a block, or update \
               by atomic operations"
            .to_owned(),
    }
}

/// The place of a thread or a block.
fn place([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0, 0) => x.to_string(),
        (_, 0) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    }
}

/// The launch of a witness.
fn launch(witness: &Witness, kernel: &Kernel) -> String {
    let mut text = format!(
        "thread {} of block {} does, with {}",
        place(witness.thread),
        place(witness.block),
        launch_of(&witness.launch, kernel)
    );
    if witness.fill != 0 {
        text += &format!(", memory of bytes {:#04x}", witness.fill);
    }
    text
}

/// The dimensions and arguments of a launch.
fn launch_of(launch: &Launch, kernel: &Kernel) -> String {
    let sides = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("({x}, {y})"),
        _ => format!("({x}, {y}, {z})"),
    };
    let arguments = kernel.params.iter().zip(&launch.arguments);
    let arguments = arguments.filter_map(|(param, value)| match param.kind {
        Kind::Memory { .. } => Some(format!("`{}.len()` = {value}", param.name)),
        Kind::Integer { .. } => Some(format!("`{}` = {value}", param.name)),
        Kind::Handle | Kind::Other => None,
    });
    let mut facts: Vec<String> = vec![
        format!("a grid of {}", sides(launch.grid)),
        format!("blocks of {}", sides(launch.block)),
    ];
    facts.extend(arguments);
    facts.join(", ")
}

/// The access of a witness.
fn access(witness: &Witness) -> String {
    let Witness {
        size, offset, bytes, ..
    } = witness;
    if *offset < 0 {
        return format!("it accesses {size} bytes that begin {} bytes before it", -offset);
    }
    let verb = if witness.is_unwritten { "reads" } else { "accesses" };
    format!("it {verb} {size} bytes from byte {offset} on, of {bytes}")
}

impl Reason {
    /// The gap in words.
    pub fn text(&self) -> String {
        match &self.gap {
            Gap::Instruction(name) => format!("the accesses of `{name}` are not followed"),
            Gap::Call(name) => format!("the accesses of the function `{name}` are not followed"),
            Gap::Address => "the address is not known to be in the memory of a parameter".to_owned(),
            Gap::Handle => "the texture or surface is not known to be that of a parameter".to_owned(),
            Gap::Size => "the size of the memory is not known".to_owned(),
            Gap::Alignment(bytes) => format!("the address need not be a multiple of {bytes}"),
            Gap::Bounds { memory, open } => {
                format!("the access to `{memory}` is not bounded: `{open}` may be negative")
            }
            Gap::Unwritten { memory, stored: None } => {
                format!("what it reads of `{memory}` is not written before")
            }
            Gap::Unwritten {
                memory,
                stored: Some(line),
            } => format!(
                "what it reads of `{memory}` may not be written before: the store on line {line} is not shown to be made, \
                 and to these bytes"
            ),
            Gap::Branches => "the branches are not followed".to_owned(),
            Gap::Missing => "there is no such kernel, or it cannot be read".to_owned(),
            Gap::TooLarge => "the kernel is too large to be proved".to_owned(),
        }
    }
}
