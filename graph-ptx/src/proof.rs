//! Whether a kernel stays within the memory of its arguments, for every launch and all values that its contract admits.
//!
//! [`prove`] runs the kernel once with symbols in the place of numbers. The decision procedure is in this room, not
//! `graph_plan`'s: that one searches systems with numbers as coefficients, and here coefficients are unknown too
//! (`blockIdx.x * width`). So neither crate needs the other.
//!
//! # The claim
//!
//! If the verdict is [`Verdict::Proved`], then each access of each thread is within its memory, and each byte that is
//! loaded of memory that holds nothing ([`Kernel::unwritten`]) was stored in this launch before: for every launch
//! within CUDA's limits and the kernel's, all arguments and dimensions that satisfy the contract, and any contents of
//! memory.
//!
//! # Why it holds
//!
//! 1. **Values.** The bits of a register of `n` bits are those of its polynomial, modulo two to the power of `n`. That
//!    is so for sums, differences and products whether they wrap around or not. Where bits are read as a number, the
//!    polynomial is taken only if the facts show that it is in range; else a symbol in the range of the type stands for
//!    it. An instruction that is not known makes its results any bits; if it could touch memory, nothing is proved.
//! 2. **Facts.** A fact is added to a place if it holds whenever control is there: a branch was taken, or what the
//!    facts above already imply. Symbols have one value from the place where they are made until control comes there
//!    again. A place below another one is reached only through it, so facts of the upper one still hold.
//! 3. **Joins.** Where ways meet, a register with two values is a symbol of a choice. A goal about it has to be proved
//!    with each value, with the facts of its own way.
//! 4. **Loops.** A register that the loop changes is `first + n * step` in iteration `n` if a run of the body with that
//!    value ends with `first + (n + 1) * step`; else it is any number. A fact holds at the beginning of every iteration
//!    if it would hold before the first one, and holds at the end of each that goes on: by induction. Facts
//!    that were found under an assumption that turns out wrong are dropped with it. The run that checks accesses uses
//!    only a plan that a trial run has confirmed, or nothing.
//! 5. **Addresses.** An address is the memory of one parameter or variable, and bytes from its beginning. Sums with
//!    numbers keep the memory; everything else gives a number, through which no access is proved. Addresses that are
//!    loaded from memory are numbers. Loaded values are any: the contents of memory, shared or not, are never assumed.
//!    Textures and surfaces are accessed by the handles of parameters, unchanged; the GPU keeps them to their memory.
//! 6. **Bounds.** An access of `k` bytes at `a` is proved by `a >= 0` and `size - a - k >= 0` over the integers, and by
//!    a divisor of `a` for its alignment; of `wmma`, for that of each row. The size is the length times the size of an
//!    element; buffers begin at multiples of 16.
//! 7. **Memory that holds nothing** when a launch begins: each load follows a store to its bytes, by this thread or,
//!    with a barrier between, by another one of its block; see `unwritten.rs`.
//! 8. **Proofs** are sums of facts times things that are at least 0; see `search.rs`.
//!
//! A refutation needs no argument: [`Witness`] is a thread that was run with numbers until it left its memory, or one
//! of a launch whose threads were all run to their ends, none of which stores what it loads. Nothing that it did
//! depends on what other threads do.

mod words;
mod version;
mod weakest;
mod race;
mod witness;
mod concrete;
mod analysis;
mod unwritten;
mod walk;
mod step;
mod arithmetic;
mod choice;
mod convert;
mod opcode;
mod access;
mod machine;
mod fixed;
mod flow;
mod term;
mod value;
mod search;
mod facts;
mod poly;
mod hash;

use crate::ast::Module;
use analysis::open;
use machine::{Machine, Obligation};
pub use race::{Race, RaceAccess, Races};
pub use term::{Binary, Launch, Term, Unary};
pub use version::VERSION;
pub use weakest::{Condition, weakest};
pub use witness::{Witness, samples};
pub use words::{Words, race_words, words};

/// A kernel as its author declares it.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The name of its `.entry`.
    pub entry: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// Its `#[requires(..)]`.
    pub requires: Vec<Term>,
    /// The parameters, by index, whose memory holds nothing when a launch begins: `&mut [MaybeUninit<T>]`.
    pub unwritten: Vec<usize>,
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name in messages.
    pub name: String,
    /// The kind of argument that it takes.
    pub kind: Kind,
}

/// The kind of argument that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory with addresses.
    Memory {
        /// The bytes of each of the units that `.len()` counts, if they are known.
        unit: Option<u64>,
        /// The number of units, if there is only one.
        len: Option<u64>,
    },
    /// An integer.
    Integer {
        /// Its bits.
        bits: u32,
        /// Whether it is signed.
        signed: bool,
    },
    /// The handle of a texture or of a surface.
    Handle,
    /// A number that is no integer, or a struct: nothing that a contract or an address can use.
    Other,
}

/// The result of [`prove`].
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The kernel stays within its memory.
    Proved,
    /// The kernel leaves its memory in this launch.
    Refuted(Box<Witness>),
    /// It is not known.
    Unknown(Vec<Reason>),
}

/// A reason why a kernel is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The line of the PTX.
    pub line: u32,
    /// The gap in the proof.
    pub gap: Gap,
}

/// A gap in a proof.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Gap {
    /// An instruction whose accesses are not known.
    Instruction(String),
    /// A call of this function.
    Call(String),
    /// An access by an address whose memory is not known.
    Address,
    /// An access of a texture or a surface by a number that is not known to be the handle of a parameter.
    Handle,
    /// An access of memory whose size is not known.
    Size,
    /// An address that need not be a multiple of so many bytes.
    Alignment(u64),
    /// An address that was not shown to be within this memory.
    Bounds {
        /// Its name.
        memory: String,
        /// The number that may be negative: the distance of the access from an end of the memory.
        open: String,
    },
    /// A load of memory that holds nothing when a launch begins, which is not known to come after a store.
    Unwritten {
        /// Its name.
        memory: String,
        /// The line of a store to this memory before the load, if there is one.
        stored: Option<u32>,
    },
    /// Branches that form no loops, or whose targets are not known.
    Branches,
    /// There is no such kernel, or it cannot be read.
    Missing,
    /// The kernel is too large.
    TooLarge,
}

/// The effort of a proof: what it takes at most. The same effort gives the same verdict on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The instructions that are run with symbols.
    pub instructions: usize,
    /// The steps of the searches for proofs; for small kernels, fewer.
    pub searches: usize,
    /// The instructions that are run with numbers, to find a witness.
    pub trials: usize,
}

impl Effort {
    /// For kernels whose author asks for a proof.
    pub const FULL: Self = Self {
        instructions: 200_000,
        searches: 30_000,
        trials: 100_000,
    };
    /// For kernels whose author does not: a fraction of it.
    pub const QUICK: Self = Self {
        instructions: 10_000,
        searches: 3_000,
        trials: 20_000,
    };

    /// The steps of the searches for a kernel of so many instructions.
    fn searches_of(&self, instructions: usize) -> usize {
        self.searches.min(1_000 + 60 * instructions)
    }
}

/// A kernel of a module that was run with symbols: for its verdict and for its races.
pub struct Analysis<'m> {
    opened: Result<Machine<'m>, Reason>,
    trials: usize,
}

impl<'m> Analysis<'m> {
    /// Runs the kernel with symbols.
    pub fn of(module: &'m Module, kernel: &'m Kernel, effort: &Effort) -> Self {
        Self {
            opened: open(module, kernel, effort),
            trials: effort.trials,
        }
    }

    /// Whether the kernel stays within its memory.
    pub fn verdict(&self) -> Verdict {
        let machine = match &self.opened {
            Ok(machine) => machine,
            Err(reason) => return Verdict::Unknown(vec![reason.clone()]),
        };
        let open = &machine.open;
        if open.is_empty() {
            return Verdict::Proved;
        }
        let (unwritten, others): (Vec<_>, Vec<_>) =
            open.iter().partition(|open| matches!(open.gap, Gap::Unwritten { .. }));
        let find = |is_asked: bool, find: fn(&Machine<'_>, usize) -> Option<Witness>| {
            is_asked.then(|| find(machine, self.trials)).flatten()
        };
        let witness =
            find(!others.is_empty(), witness::find).or_else(|| find(!unwritten.is_empty(), witness::find_unwritten));
        if let Some(witness) = witness {
            return Verdict::Refuted(Box::new(witness));
        }
        let mut reasons: Vec<Reason> = Vec::new();
        for Obligation { instruction, gap, .. } in open {
            let line = match gap {
                Gap::TooLarge => machine.function.line,
                _ => machine.body.instructions[*instruction].line,
            };
            let reason = Reason { line, gap: gap.clone() };
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons.sort_by_key(|reason| (reason.gap == Gap::TooLarge, reason.line));
        Verdict::Unknown(reasons)
    }

    /// Whether threads of the kernel race.
    pub fn races(self) -> Races {
        match self.opened {
            Ok(machine) => race::races(machine),
            Err(reason) => Races::Unknown(reason.line),
        }
    }
}

/// Proves a kernel of a module.
pub fn prove(module: &Module, kernel: &Kernel, effort: &Effort) -> Verdict {
    Analysis::of(module, kernel, effort).verdict()
}

/// Whether threads of a kernel of a module race.
pub fn races(module: &Module, kernel: &Kernel, effort: &Effort) -> Races {
    Analysis::of(module, kernel, effort).races()
}
