//! Programmatic edges: the later node starts when the earlier kernel lets it, and waits for the end of that kernel in
//! its own code. The rule decides from the facts about the two kernels whether that orders them, and has the messages
//! if it does not.

mod writers;

use crate::{KernelCode, Text, Touched};
pub use writers::Writers;

/// Whether other nodes write the memory that a parameter of the later node points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedParam {
    /// The index of the parameter.
    pub param: usize,
    /// Whether some node of the graph writes that memory, this one included.
    pub written: bool,
    /// Whether an ancestor of the node writes it.
    pub written_before: bool,
}

/// A programmatic edge.
#[derive(Clone, Copy, Debug)]
pub struct ProgrammaticEdge<'a> {
    /// The name of the earlier node.
    pub upstream: &'a str,
    /// The name of the later node.
    pub downstream: &'a str,
}

/// The accesses of a kernel that an early start exposes to writes of other nodes, as indices into the lists of its
/// [`GridDependency`](crate::GridDependency).
#[derive(Clone, Copy, Debug, Default)]
pub struct Exposed {
    early: Option<usize>,
    noncoherent: Option<usize>,
}

impl Exposed {
    /// The first exposed accesses of `kernel`, whose parameters point to `memory`. A parameter that `memory` does not
    /// mention may be written.
    pub const fn new(kernel: &KernelCode<'_>, memory: &[SharedParam]) -> Self {
        Self {
            early: first(kernel.dependency.early, memory, kernel, false),
            noncoherent: first(kernel.dependency.noncoherent, memory, kernel, true),
        }
    }

    /// Adds the variables that `writer`, the kernel of some node, writes in the module of `kernel`.
    pub const fn with_writer(self, kernel: &KernelCode<'_>, writer: &KernelCode<'_>) -> Self {
        if !writer.shares_module(kernel) {
            return self;
        }
        Self {
            early: least(self.early, first_variable(kernel.dependency.early, writer)),
            noncoherent: least(self.noncoherent, first_variable(kernel.dependency.noncoherent, writer)),
        }
    }
}

const fn least(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a < b { a } else { b }),
        (None, found) | (found, None) => found,
    }
}

/// The first of `accesses` to memory that a node may write. If `ancestors`, only nodes before this one count.
const fn first(
    accesses: &[(Touched, u32)],
    memory: &[SharedParam],
    kernel: &KernelCode<'_>,
    ancestors: bool,
) -> Option<usize> {
    let mut index = 0;
    while index < accesses.len() {
        match accesses[index].0 {
            Touched::Param(param) if is_written(memory, param, ancestors) => return Some(index),
            Touched::Variable(name) if kernel.writes_variable(name) => return Some(index),
            Touched::Unknown => return Some(index),
            Touched::Param(_) | Touched::Variable(_) => index += 1,
        }
    }
    None
}

/// The first of `accesses` to a variable that `writer` writes.
const fn first_variable(accesses: &[(Touched, u32)], writer: &KernelCode<'_>) -> Option<usize> {
    let mut index = 0;
    while index < accesses.len() {
        match accesses[index].0 {
            Touched::Variable(name) if writer.writes_variable(name) => return Some(index),
            Touched::Variable(_) | Touched::Param(_) | Touched::Unknown => index += 1,
        }
    }
    None
}

/// Whether a node may write the memory that a parameter points to. True if nothing is known about the parameter.
const fn is_written(memory: &[SharedParam], param: usize, ancestors: bool) -> bool {
    let (mut rest, mut said) = (memory, false);
    while let [shared, next @ ..] = rest {
        said |= shared.param == param;
        if shared.param == param && (shared.written_before || (shared.written && !ancestors)) {
            return true;
        }
        rest = next;
    }
    !said
}

impl ProgrammaticEdge<'_> {
    /// The reason why the edge does not order its nodes; `None` if it does. `kernel` is the kernel of the later node.
    pub const fn fault(&self, kernel: &KernelCode<'_>, exposed: Exposed) -> Option<Text> {
        let dependency = &kernel.dependency;
        let exit = dependency.early_exit;
        let never = dependency.waits.is_none();
        if !never && exit.is_none() && exposed.early.is_none() && exposed.noncoherent.is_none() {
            return None;
        }
        let mut text = self.text("node `", "` may run before `", "` has ended [programmatic-edge]");
        if kernel.file.is_none() {
            text = text
                .str("\nnote: it launches a `CudaFunction`, of which nobody can tell whether it waits")
                .str("\nhelp: declare the kernel with `#[cuda_kernels]`, or write `after ");
            return Some(text.str(self.upstream).str("`"));
        }
        if never {
            text = kernel.note(text).str(" never waits for it");
        } else if let Some(line) = exit {
            text = kernel.at(kernel.note(text).str(" can end before it has waited"), line);
        }
        if let Some(index) = exposed.early {
            let (touched, line) = dependency.early[index];
            text = kernel.memory(kernel.note(text).str(" may access "), touched);
            text = writer(text, touched, ", which a node of the graph writes,").str(" before it has waited");
            text = kernel.at(text, line);
        }
        if let Some(index) = exposed.noncoherent {
            let (touched, line) = dependency.noncoherent[index];
            text = kernel.memory(kernel.note(text).str(" may load "), touched);
            text = writer(text, touched, ", which a node before it writes,");
            text = kernel.at(text.str(" from a cache that is not coherent (`ld.global.nc`)"), line);
        }
        text = text.str(match never || exit.is_some() || exposed.early.is_some() {
            true => "\nhelp: call `cudaGridDependencySynchronize()` (`griddepcontrol.wait`) first in the kernel",
            false => "\nhelp: load that memory without `const __restrict__`, `__ldg` or a texture",
        });
        Some(text.str(", or write `after ").str(self.upstream).str("`"))
    }

    /// A warning that the edge is a plain one: the earlier kernel never lets the later one start early.
    pub const fn never_triggers(&self, upstream: &KernelCode<'_>) -> Option<Text> {
        if upstream.dependency.triggers.is_some() {
            return None;
        }
        let text = self.text("node `", "` starts no sooner than `", "` has ended [programmatic-edge]");
        let text = upstream
            .note(text)
            .str(" never executes `griddepcontrol.launch_dependents`");
        Some(text.str("\nhelp: call `cudaTriggerProgrammaticLaunchCompletion()` in it"))
    }

    /// The names of the two nodes, the later one first, with the three parts around them.
    const fn text(&self, before: &str, between: &str, after: &str) -> Text {
        let text = Text::new().str(before).str(self.downstream);
        text.str(between).str(self.upstream).str(after)
    }
}

/// Appends who writes the memory, if that is known.
const fn writer(text: Text, touched: Touched, writer: &str) -> Text {
    match touched {
        Touched::Unknown => text,
        Touched::Param(_) | Touched::Variable(_) => text.str(writer),
    }
}
