//! The work of a graph's nodes as plain data. The builder writes it, and the backends carry it out.

pub(crate) mod recorder;
pub(crate) mod rows;
pub(crate) mod edge_proofs;
pub(crate) mod fixed_views;
pub(crate) mod array;
pub(crate) mod transfer;
pub(crate) mod params;
pub(crate) mod reach;
pub(crate) mod scratch;
pub(crate) mod declared_nodes;
mod op;
pub(crate) mod raw;
#[cfg(feature = "cudarc")]
pub(crate) mod capture_slice;
pub(crate) mod capture;
pub(crate) mod pointer;
pub(crate) mod event;
pub(crate) mod host_call;
#[cfg_attr(
    not(feature = "emulator"),
    expect(dead_code, reason = "only the emulator's launches meet")
)]
pub(crate) mod communicator;
pub(crate) mod tuples;

use crate::driver::CudaFunction;
use crate::kernel::source::ModuleCode;
use crate::kernel::{ArgumentKind, CallArgument, Callee, KernelCall, KernelFacts, LOADED, Value};
use crate::program::capture::CaptureCall;
use crate::program::reach::Reach;
use crate::shape::builders::Builders;
use crate::shape::part::{ByteRectangle, Part};
use graph_plan::Mode;
pub(crate) use op::{
    Conditional, ConditionalKind, External, KernelAttributes, KernelOp, MemcpyOp, MemsetOp, Op, Structure, Work,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ptr;
use std::sync::Arc;

/// One argument of a kernel node: a [`CallArgument`] in half the space, since graphs have many.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// A part of a resource, and how it is passed.
    Buffer {
        resource: u32,
        mode: Mode,
        start: usize,
        bytes: usize,
    },
    Value(Value),
}

impl Argument {
    /// The most bytes of the arguments of a kernel in a graph of CUDA. CUDA 12.1 and later launch kernels with up to 32
    /// KiB, but at least some versions end the process if a node with more than 4 KiB is added to a graph
    /// (<https://github.com/openxla/xla/pull/19252>).
    pub(crate) const MAX_BYTES: usize = 4096;

    /// The bytes that a kernel gets: a value, or an address.
    pub(crate) fn size(&self) -> usize {
        self.value().map_or(size_of::<u64>(), <[u8]>::len)
    }

    /// The bytes of arguments, each in whole words of eight.
    pub(crate) fn total(arguments: &[Self]) -> usize {
        let sizes = arguments.iter().map(|argument| argument.size().next_multiple_of(8));
        sizes.sum()
    }

    /// The bytes that are passed by value.
    pub(crate) fn value(&self) -> Option<&[u8]> {
        match self {
            Argument::Value(value) => Some(value.bytes()),
            Argument::Buffer { .. } => None,
        }
    }

    /// The argument in the form that contracts are evaluated on.
    pub(crate) fn of_contract(&self) -> graph_plan::Argument {
        match self {
            Argument::Buffer { bytes, .. } => graph_plan::Argument::Buffer(*bytes as u64),
            Argument::Value(value) => value.of_contract(),
        }
    }

    /// The bytes of a value of at most eight, with zeros after them.
    #[inline]
    pub(crate) fn word(&self) -> Option<u64> {
        match self {
            Argument::Value(value) => value.word(),
            Argument::Buffer { .. } => None,
        }
    }

    /// The resource that is passed, if it is memory.
    pub(crate) fn memory(&self) -> Option<usize> {
        match self {
            Argument::Buffer { resource, .. } => Some(*resource as usize),
            Argument::Value(_) => None,
        }
    }

    /// The difference to the argument of a later call for the same node, which is of the graph of these builders.
    #[inline]
    pub(crate) fn difference(&self, later: &CallArgument, builders: &Builders) -> Difference {
        match (self, &later.0) {
            (
                &Argument::Buffer {
                    resource,
                    mode,
                    start,
                    bytes,
                },
                ArgumentKind::Buffer(span, later_mode),
            ) => {
                let same_part = Part::of(*span) == Part { resource, start, bytes };
                match same_part && !span.outside && builders.has(span.graph) {
                    true if mode == *later_mode => Difference::None,
                    true => Difference::Access,
                    false => Difference::Memory,
                }
            }
            (Argument::Value(value), ArgumentKind::Value(later)) if value == later => Difference::None,
            (Argument::Value(value), ArgumentKind::Value(later)) if value.is_as_long_as(later) => Difference::Value,
            (Argument::Value(_), ArgumentKind::Misfit(_) | ArgumentKind::Param(_)) => Difference::Misfit,
            (Argument::Value(value), ArgumentKind::Buffer(span, _))
                if value.is_null() && !span.outside && builders.has(span.graph) =>
            {
                Difference::Presence
            }
            (Argument::Buffer { .. }, ArgumentKind::Value(value)) if value.is_null() => Difference::Presence,
            (Argument::Value(_), ArgumentKind::Value(_) | ArgumentKind::Buffer(..))
            | (Argument::Buffer { .. }, ArgumentKind::Value(_) | ArgumentKind::Misfit(_) | ArgumentKind::Param(_)) => {
                Difference::Memory
            }
        }
    }

    /// Whether a contract cannot tell the two apart: they are buffers of one length, or equal values.
    #[inline]
    pub(crate) fn is_like(&self, other: &CallArgument) -> bool {
        match (self, &other.0) {
            (Argument::Buffer { bytes, .. }, ArgumentKind::Buffer(span, _)) => *bytes == span.bytes,
            (Argument::Value(value), ArgumentKind::Value(other)) => value == other,
            (_, ArgumentKind::Misfit(_) | ArgumentKind::Param(_))
            | (Argument::Buffer { .. }, ArgumentKind::Value(_))
            | (Argument::Value(_), ArgumentKind::Buffer(..)) => false,
        }
    }
}

/// The value that an argument of a kernel node is to have, which has at most eight bytes and needs no check.
///
/// These are read soon after they were written. In words, the processor need not wait for the memory between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedValue {
    pub(crate) node: usize,
    /// The index in [`Program::arguments`].
    pub(crate) argument: usize,
    /// The value as in [`Value::word`].
    pub(crate) word: u64,
}

impl ChangedValue {
    /// Exchanges its value and the one among the program's arguments.
    #[inline]
    fn swap(&mut self, arguments: &mut [Argument]) {
        if let Argument::Value(value) = &mut arguments[self.argument]
            && let Some(word) = value.word()
        {
            value.set_word(self.word);
            self.word = word;
        }
    }
}

/// The difference between an argument of a node and that of a later call for the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    None,
    /// Another value of the same size.
    Value,
    /// An integer that does not fit, which the checks of the launch refuse, or a param, which gets its value before.
    Misfit,
    /// The same memory, which the kernel may now write, or not any more.
    Access,
    /// Memory in the place of a null pointer, or a null pointer in the place of memory.
    Presence,
    /// Other memory, or a value of another size.
    Memory,
}

impl Argument {
    /// Moves an argument of a call to the end of `arguments`. Each field is written once, to its final place: moving
    /// whole arguments would cost much of the time of adding a node.
    #[inline]
    pub(crate) fn put(argument: &mut CallArgument, arguments: &mut Vec<Self>) {
        match &mut argument.0 {
            ArgumentKind::Value(Value::Small(bytes, len)) => {
                arguments.push(Argument::Value(Value::Small(*bytes, *len)));
            }
            ArgumentKind::Value(Value::Large(bytes)) => {
                arguments.push(Argument::Value(Value::Large(std::mem::take(bytes))));
            }
            ArgumentKind::Buffer(span, mode) => arguments.push(Argument::Buffer {
                resource: span.resource as u32,
                mode: *mode,
                start: span.start,
                bytes: span.bytes,
            }),
            // A placeholder: the launch is refused.
            ArgumentKind::Misfit(_) | ArgumentKind::Param(_) => {
                arguments.push(Argument::Value(Value::Small([0; 16], 0)))
            }
        }
    }
}

/// A kernel that the graph launches, as one declaration has it. Another declaration of the same kernel, with other
/// contracts, is another function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) facts: &'static KernelFacts,
    pub(crate) code: Code,
    /// Whether all calls of it are of a kernel that is declared `safe fn`.
    pub(crate) safe: bool,
    /// A bit for each of the first 64 parameters: whether no contract in `facts` mentions it.
    free: u64,
    /// The resources of the module-scope variables that it touches.
    pub(crate) variables: Vec<(usize, Mode)>,
}

/// The owner of a kernel's code.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    /// A module that the graph loads: the index into [`Program::modules`].
    Module(usize),
    /// A module that the user has loaded.
    Loaded(CudaFunction),
}

/// A variable of a module that is memory of the graph.
#[derive(Clone, Debug)]
pub(crate) struct ModuleMemory {
    /// The index of the resource.
    pub(crate) resource: usize,
    /// The index into [`Program::modules`].
    pub(crate) module: usize,
    /// The name in the PTX.
    pub(crate) symbol: Cow<'static, str>,
    /// The line of its declaration in the PTX, from 1.
    pub(crate) line: u32,
}

impl Function {
    /// Whether no contract of it mentions this parameter, so that its value needs no check.
    #[inline]
    pub(crate) fn is_free(&self, param: usize) -> bool {
        param < 64 && self.free >> param & 1 == 1
    }

    /// The arguments of a call, a bit for each, that a node which runs already has otherwise, if these are values of at
    /// most eight bytes that need no check: all contracts were checked for the node, and none mentions them. `None` if
    /// something else in the call is, or may be, another than the node's. The node is of the graph with this id.
    #[inline]
    pub(crate) fn free_changes<const N: usize>(
        &self,
        builders: &Builders,
        before: &[Argument],
        call: &KernelCall<N>,
    ) -> Option<u64> {
        let before: &[Argument; N] = before.try_into().ok()?;
        if !matches!(call.callee, Callee::Declared(facts, _) if ptr::eq(facts, self.facts)) {
            return None;
        }
        let mut changed = 0;
        for (param, (before, after)) in before.iter().zip(&call.arguments).enumerate() {
            match before.difference(after, builders) {
                Difference::None => {}
                Difference::Value if self.is_free(param) && before.word().is_some() => changed |= 1 << param,
                Difference::Value
                | Difference::Misfit
                | Difference::Access
                | Difference::Presence
                | Difference::Memory => return None,
            }
        }
        Some(changed)
    }

    /// The index of its module in [`Program::modules`]; `None` if the user has loaded it.
    pub(crate) fn module(&self) -> Option<usize> {
        match self.code {
            Code::Module(module) => Some(module),
            Code::Loaded(_) => None,
        }
    }
}

/// All nodes of a graph, by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// The nodes whose work is no [`Work`]: see [`Program::others`].
    others: Vec<usize>,
    /// The arguments of all kernel nodes, one after the other.
    pub(crate) arguments: Vec<Argument>,
    pub(crate) functions: Vec<Function>,
    /// The code of the kernels, each module once.
    pub(crate) modules: Vec<ModuleCode>,
    pub(crate) enabled: Vec<bool>,
    /// The memory in which updates choose the parts that nodes touch, by node. Almost always empty.
    pub(crate) reaches: BTreeMap<usize, Reach>,
    /// The function of each `KernelFacts` seen so far, by the address of the facts.
    known: HashMap<usize, u32>,
    /// The last lookup in `known`, since neighbours often launch the same kernel.
    recent: Option<(usize, u32)>,
}

impl Program {
    /// The closure whose recorded work is all of the graph, if there is one.
    pub(crate) fn whole_capture(&self) -> Option<&Arc<CaptureCall>> {
        match &self.ops[..] {
            [Op::External(External::Capture(call))] if call.is_whole() => Some(call),
            _ => None,
        }
    }

    /// Adds the next node, and returns its index.
    #[inline]
    pub(crate) fn push(&mut self, op: Op) -> usize {
        let node = self.ops.len();
        if op.work().is_none() {
            self.others.push(node);
        }
        self.ops.push(op);
        node
    }

    /// The nodes of all other kinds than kernels, copies, memsets and joins. Of these four a graph may have very many.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, &Op)> {
        self.others.iter().map(|&node| (node, &self.ops[node]))
    }

    /// Exchanges the values of arguments and those in `values`, from the first to the last.
    #[inline]
    pub(crate) fn swap_values(&mut self, values: &mut [ChangedValue]) {
        for changed in values {
            changed.swap(&mut self.arguments);
        }
    }

    /// Undoes [`Program::swap_values`], also of an argument that is among the values twice.
    pub(crate) fn return_values(&mut self, values: &mut [ChangedValue]) {
        for changed in values.iter_mut().rev() {
            changed.swap(&mut self.arguments);
        }
    }

    /// The arguments of a kernel node.
    pub(crate) fn arguments(&self, kernel: &KernelOp) -> &[Argument] {
        &self.arguments[kernel.arguments.start as usize..kernel.arguments.end as usize]
    }

    /// The bytes that a node is given to read and to write, if they are known: of a kernel the memory of its arguments.
    pub(crate) fn bytes(&self, node: usize) -> Option<u64> {
        let sum = |rectangle: &ByteRectangle| rectangle.parts().map(|part| part.bytes as u64).sum::<u64>();
        match &self.ops[node] {
            Op::Work(Work::Kernel(kernel)) => {
                let buffers = self.arguments(kernel).iter().map(|argument| match argument {
                    Argument::Buffer { bytes, .. } => *bytes as u64,
                    Argument::Value(_) => 0,
                });
                Some(buffers.sum())
            }
            Op::Work(work @ (Work::Memcpy(_) | Work::Memset(_))) => {
                let sides = work.read().into_iter().chain(work.written());
                Some(sides.map(sum).sum())
            }
            Op::External(External::Call(call)) => Some(call.declared.iter().map(|(part, _)| part.bytes as u64).sum()),
            Op::External(External::Collective(call)) => Some(call.parts().map(|(part, _)| part.bytes as u64).sum()),
            Op::Work(Work::Join) | Op::Structure(_) => None,
            Op::External(External::Record(_) | External::Wait(_) | External::Capture(_) | External::Raw(_)) => None,
        }
    }

    /// The indices in [`Program::functions`] of the kernels that nodes launch, some of them several times.
    #[cfg(feature = "emulator")]
    pub(crate) fn launched(&self) -> impl Iterator<Item = usize> {
        let kernels = self.ops.iter().filter_map(Op::kernel);
        kernels.map(|kernel| kernel.function as usize)
    }

    /// The index of a loaded function in [`Program::functions`], if a node launches it.
    pub(crate) fn find_loaded(&self, function: &CudaFunction) -> Option<u32> {
        let same = |known: &Function| matches!(&known.code, Code::Loaded(known) if known.cu_function() == function.cu_function());
        self.functions.iter().position(same).map(|index| index as u32)
    }

    /// The index of a loaded function in [`Program::functions`]. Adds it if it is not there yet.
    pub(crate) fn loaded(&mut self, function: CudaFunction) -> u32 {
        self.find_loaded(&function).unwrap_or_else(|| {
            self.functions.push(Function {
                facts: &LOADED,
                code: Code::Loaded(function),
                safe: false,
                free: 0,
                variables: Vec::new(),
            });
            (self.functions.len() - 1) as u32
        })
    }

    /// Whether the code of a function is PTX.
    pub(crate) fn is_ptx(&self, function: u32) -> bool {
        let module = self.functions[function as usize].module();
        module.is_some_and(|module| self.modules[module].ptx().is_some())
    }

    /// The index of a kernel with a module in [`Program::functions`], if a node launches it.
    ///
    /// Facts are constants, which the compiler may place more than once. Equal addresses mean the same kernel;
    /// different addresses mean nothing. Then the facts are compared: see [`KernelFacts::is_same`].
    pub(crate) fn find_function(&self, facts: &'static KernelFacts) -> Option<u32> {
        let known = || self.known.get(&ptr::from_ref(facts).addr()).copied();
        self.recent(facts).or_else(known).or_else(|| {
            let mut functions = self.functions.iter();
            let found = functions.position(|function| function.facts.is_same(facts));
            found.map(|index| index as u32)
        })
    }

    /// The index of the kernel, if it was looked up last.
    #[inline]
    pub(crate) fn recent(&self, facts: &'static KernelFacts) -> Option<u32> {
        let (recent, function) = self.recent?;
        (recent == ptr::from_ref(facts).addr()).then_some(function)
    }

    /// The index of a kernel in [`Program::functions`], whose module is `code`. Adds it if it is not there yet. Then
    /// `variables` finds its variables, given all functions so far and its module.
    pub(crate) fn function(
        &mut self,
        facts: &'static KernelFacts,
        code: ModuleCode,
        variables: impl FnOnce(&[Function], usize) -> Vec<(usize, Mode)>,
    ) -> u32 {
        let address = ptr::from_ref(facts).addr();
        let function = self.find_function(facts).unwrap_or_else(|| {
            let known = self.modules.iter().position(|module| module.is(code));
            let module = known.unwrap_or_else(|| {
                self.modules.push(code);
                self.modules.len() - 1
            });
            let variables = variables(&self.functions, module);
            self.functions.push(Function {
                facts,
                code: Code::Module(module),
                safe: true,
                free: free(facts),
                variables,
            });
            (self.functions.len() - 1) as u32
        });
        if self.recent.is_none_or(|(recent, _)| recent != address) {
            self.known.insert(address, function);
            self.recent = Some((address, function));
        }
        function
    }
}

/// A bit for each of the first 64 parameters of a kernel: whether no contract mentions it.
fn free(facts: &KernelFacts) -> u64 {
    let mentioned = |param: &usize| facts.contracts.iter().any(|contract| contract.mentions(*param));
    let params = 0..facts.params.len().min(64);
    params
        .filter(|param| !mentioned(param))
        .fold(0, |free, param| free | 1 << param)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of adding nodes is mostly the time of writing their ops and arguments.
    #[test]
    fn ops_and_arguments_stay_small() {
        assert!(size_of::<Op>() <= 56, "{}", size_of::<Op>());
        assert!(size_of::<Argument>() <= 32, "{}", size_of::<Argument>());
    }
}
