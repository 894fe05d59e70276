//! Programmatic edges: the node after starts when the kernel before lets it, and waits for its end in its own code. Whether that is
//! an order of the two is read off the PTX; and the messages where it is none.

use crate::error::mistakes;
use crate::kernel::{Kernel, KernelFacts};
use graph_plan::{Diagnostic, Text};

/// Where a kernel executes `griddepcontrol`, and what it may do before it has waited. Lines are lines of its PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridDependency {
    /// `griddepcontrol.launch_dependents`: lets kernels after it start.
    pub triggers: Option<u32>,
    /// `griddepcontrol.wait`: waits for the end of the kernels before it.
    pub waits: Option<u32>,
    /// A way out of the kernel that a thread may take without having waited.
    pub early_exit: Option<u32>,
    /// What it may touch before it has waited. Empty if it never waits, since then that is all there is to say.
    pub early: &'static [(Touched, u32)],
    /// What it loads, at any time, through caches that may hold what was there before it was launched.
    pub noncoherent: &'static [(Touched, u32)],
}

impl GridDependency {
    /// A kernel without `griddepcontrol`.
    pub const NONE: Self = Self {
        triggers: None,
        waits: None,
        early_exit: None,
        early: &[],
        noncoherent: &[],
    };
}

/// Memory that a kernel touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// What a parameter points to, by index.
    Param(usize),
    /// A module-scope variable.
    Variable(&'static str),
    /// Nobody knows.
    Unknown,
}

/// What other nodes do to the memory behind a parameter of the node after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The index of the parameter.
    pub param: usize,
    /// Does some node of the graph write that memory, this one included?
    pub written: bool,
    /// Does an ancestor of the node write it?
    pub written_before: bool,
}

/// A programmatic edge.
#[derive(Clone, Copy, Debug)]
pub struct ProgrammaticEdge<'a> {
    /// The name of the node before.
    pub upstream: &'a str,
    /// The name of the node after.
    pub downstream: &'a str,
}

impl ProgrammaticEdge<'_> {
    /// Why the edge is no order of its nodes, in words; `None` if it is one. `kernel` is that of the node after, `memory` what it
    /// shares, and `all` the kernels of all nodes: which of them write variables decides about those of its module.
    pub const fn fault(&self, kernel: &KernelFacts, memory: &[Sharing], all: &[&KernelFacts]) -> Option<Text> {
        let dependency = &kernel.dependency;
        let exit = dependency.early_exit;
        let early = find(kernel, dependency.early, memory, all, false);
        let stale = find(kernel, dependency.noncoherent, memory, all, true);
        let never = dependency.waits.is_none();
        if !never && exit.is_none() && early.is_none() && stale.is_none() {
            return None;
        }
        let mut text = self.text("node `", "` may run before `", "` has ended [programmatic-edge]");
        if kernel.source.is_loaded() {
            text = text
                .str("\nnote: it launches a `CudaFunction`, of which nobody can tell whether it waits")
                .str("\nhelp: declare the kernel with `#[cuda_kernels]`, or write `after ");
            return Some(text.str(self.upstream).str("`"));
        }
        if never {
            text = kernel_text(text, kernel).str(" never waits for it");
        } else if let Some(line) = exit {
            text = at(
                kernel_text(text, kernel).str(" can end before it has waited"),
                kernel,
                line,
            );
        }
        if let Some((touched, line)) = early {
            text = touched_text(kernel_text(text, kernel).str(" may access "), kernel, touched);
            text = writer_text(text, touched, ", which a node of the graph writes,").str(" before it has waited");
            text = at(text, kernel, line);
        }
        if let Some((touched, line)) = stale {
            text = touched_text(kernel_text(text, kernel).str(" may load "), kernel, touched);
            text = writer_text(text, touched, ", which a node before it writes,");
            text = at(
                text.str(" from a cache that is not coherent (`ld.global.nc`)"),
                kernel,
                line,
            );
        }
        text = text
            .str("\nhelp: ")
            .str(match never || exit.is_some() || early.is_some() {
                true => "call `cudaGridDependencySynchronize()` (`griddepcontrol.wait`) first in the kernel",
                false => "load that memory without `const __restrict__`, `__ldg` or a texture",
            });
        Some(text.str(", or write `after ").str(self.upstream).str("`"))
    }

    /// The same as a mistake of the node after, which is given by its index.
    pub fn mistake(
        &self,
        node: usize,
        kernel: &KernelFacts,
        memory: &[Sharing],
        all: &[&KernelFacts],
    ) -> Option<Diagnostic> {
        let text = self.fault(kernel, memory, all)?;
        Some(mistakes::parse(node, &text))
    }

    /// That the kernel before never lets the one after start early, which makes the edge a plain one. A warning.
    pub const fn never_triggers(&self, upstream: &KernelFacts) -> Option<Text> {
        if upstream.dependency.triggers.is_some() {
            return None;
        }
        let text = self.text("node `", "` starts no sooner than `", "` has ended [programmatic-edge]");
        let text = kernel_text(text, upstream).str(" never executes `griddepcontrol.launch_dependents`");
        Some(text.str("\nhelp: call `cudaTriggerProgrammaticLaunchCompletion()` in it"))
    }

    /// The two names, the later node first, between three parts.
    const fn text(&self, before: &str, between: &str, after: &str) -> Text {
        let text = Text::new().str(before).str(self.downstream);
        text.str(between).str(self.upstream).str(after)
    }
}

/// The kernel before a programmatic edge, at compile time: naming `NOTE` is a warning at the user's tokens if it never lets kernels
/// after it start. A use of something deprecated is the only warning that a macro can make.
#[derive(Debug)]
pub enum Upstream<const TRIGGERS: bool> {}

impl Upstream<true> {
    /// Nothing to say.
    pub const NOTE: () = ();
}

impl Upstream<false> {
    /// It makes the edge a plain one.
    #[deprecated(
        note = "the node after starts no sooner than this one has ended [programmatic-edge]\n\
                note: this node's kernel never executes `griddepcontrol.launch_dependents`\n\
                help: call `cudaTriggerProgrammaticLaunchCompletion()` in it, or write a plain `after`"
    )]
    pub const NOTE: () = ();
}

/// Does the kernel let those after it start before it has ended?
pub const fn triggers<K: Kernel>() -> bool {
    K::FACTS.source.is_cuda() || K::FACTS.dependency.triggers.is_some()
}

/// The first of `accesses` to memory that another node may write: before this one, where it is about `ancestors`.
const fn find(
    kernel: &KernelFacts,
    accesses: &[(Touched, u32)],
    memory: &[Sharing],
    all: &[&KernelFacts],
    ancestors: bool,
) -> Option<(Touched, u32)> {
    let mut index = 0;
    while index < accesses.len() {
        let found = match accesses[index].0 {
            Touched::Param(param) => is_written(memory, param, ancestors),
            Touched::Variable(name) => is_variable_written(all, kernel, name),
            Touched::Unknown => true,
        };
        if found {
            return Some(accesses[index]);
        }
        index += 1;
    }
    None
}

/// A parameter that nothing is said about may be written.
const fn is_written(memory: &[Sharing], param: usize, ancestors: bool) -> bool {
    let (mut index, mut said) = (0, false);
    while index < memory.len() {
        let shared = memory[index];
        if shared.param == param {
            said = true;
            if shared.written_before || (shared.written && !ancestors) {
                return true;
            }
        }
        index += 1;
    }
    !said
}

/// Does one of the kernels write this variable of the kernel's module?
const fn is_variable_written(all: &[&KernelFacts], kernel: &KernelFacts, name: &str) -> bool {
    let mut index = 0;
    while index < all.len() {
        if same(all[index].source.path(), kernel.source.path()) && writes_variable(all[index], name) {
            return true;
        }
        index += 1;
    }
    writes_variable(kernel, name)
}

const fn writes_variable(kernel: &KernelFacts, name: &str) -> bool {
    let mut index = 0;
    while index < kernel.variables.len() {
        let (variable, mode) = kernel.variables[index];
        if mode.writes() && same(variable, name) {
            return true;
        }
        index += 1;
    }
    false
}

/// Are the two texts equal?
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    a.len() == b.len() && index == a.len()
}

/// Begins a note on a kernel.
const fn kernel_text(text: Text, kernel: &KernelFacts) -> Text {
    text.str("\nnote: its kernel `").str(kernel.name).str("`")
}

const fn touched_text(text: Text, kernel: &KernelFacts, touched: Touched) -> Text {
    match touched {
        Touched::Param(index) if index < kernel.params.len() => text.str("`").str(kernel.params[index].name).str("`"),
        Touched::Variable(name) => text.str("the variable `").str(name).str("`"),
        _ => text.str("memory of unknown origin"),
    }
}

/// Who writes the memory, where that is known.
const fn writer_text(text: Text, touched: Touched, writer: &str) -> Text {
    match touched {
        Touched::Unknown => text,
        _ => text.str(writer),
    }
}

const fn at(text: Text, kernel: &KernelFacts, line: u32) -> Text {
    let text = text.str(", on line ").int(line as i128);
    text.str(" of `").str(kernel.source.path()).str("`")
}

/// That a node reads memory which nothing has written before it: its kernel loads through a parameter that would otherwise count as
/// the first write. `None` if it only writes there.
pub const fn reads_uninitialized(node: &str, memory: &str, kernel: &KernelFacts, param: usize) -> Option<Text> {
    let mut index = 0;
    while index < kernel.loads.len() {
        let (loaded, line) = kernel.loads[index];
        if loaded == param {
            let text = Text::new().str("node `").str(node).str("` reads `").str(memory);
            let text = text.str("`, which no node before it has written [uninitialized]");
            let text = touched_text(
                kernel_text(text, kernel).str(" loads from "),
                kernel,
                Touched::Param(param),
            );
            let text = at(text, kernel, line).str("\nhelp: write `").str(memory);
            return Some(text.str("` in a node before it, for example a `memset`"));
        }
        index += 1;
    }
    None
}
