//! The fixpoint: the values that every register may hold, in a kernel and all functions that it calls.
//!
//! A function is analysed once for each chain of calls that leads to it, so that a helper called with two pointers does
//! not mix them. Recursive calls go back to the analysis already on the chain; beyond a limit, all chains share one.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::program::{Prepared, Program};
use super::sets::Sets;
use super::source::Source;
use super::value::Value;
use crate::ast::Operand;

/// The length of the longest chain of calls with an analysis of its own. Longer chains share one analysis of the
/// function called.
const MAX_CHAIN: u32 = 8;
/// The number of analysed instructions after which all further chains share one analysis of each function.
const MAX_INSTRUCTIONS: usize = 200_000;

/// The most functions that a call through a register may reach; one that may reach more is a call of unknown code.
const MAX_TARGETS: usize = 64;

/// The analysis of a function for one chain of calls.
#[derive(Debug)]
pub(super) struct Context<'m> {
    pub(super) prepared: Rc<Prepared<'m>>,
    function: usize,
    /// The index of its first slot in the values.
    first: usize,
    /// The analysis of the caller; `None` for a shared analysis. `chain` is the length of the chain of calls.
    parent: Option<usize>,
    chain: u32,
    /// The call instructions that lead here.
    pub(super) callers: Vec<(usize, u32)>,
    queued: Vec<bool>,
}

/// A kind of memory that is not followed by address: all of it has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Shared,
    Local,
    /// Device memory.
    Device,
}

/// The state of the fixpoint.
#[derive(Debug)]
pub(super) struct Flow<'p, 'm> {
    pub(super) program: &'p mut Program<'m>,
    /// By parameter of the kernel: whether it is a pointer.
    pub(super) pointers: &'p [bool],
    pub(super) sets: Sets,
    pub(super) contexts: Vec<Context<'m>>,
    values: Vec<Value>,
    cells: [Value; 3],
    queue: VecDeque<(usize, u32)>,
    calls: HashMap<(usize, u32, usize), usize>,
    merged: HashMap<usize, usize>,
}

impl<'p, 'm> Flow<'p, 'm> {
    /// Runs the analysis of the kernel at `index` to its fixpoint.
    pub(super) fn run(program: &'p mut Program<'m>, index: usize, pointers: &'p [bool]) -> Option<Self> {
        let mut flow = Flow {
            program,
            pointers,
            sets: Sets::new(),
            contexts: Vec::new(),
            values: Vec::new(),
            cells: [Value::BOTTOM; 3],
            queue: VecDeque::new(),
            calls: HashMap::new(),
            merged: HashMap::new(),
        };
        flow.new_context(index, None)?;
        while let Some((context, instruction)) = flow.queue.pop_front() {
            flow.contexts[context].queued[instruction as usize] = false;
            flow.transfer(context, instruction);
        }
        Some(flow)
    }

    fn new_context(&mut self, function: usize, parent: Option<usize>) -> Option<usize> {
        let prepared = self.program.prepare(function)?;
        let context = self.contexts.len();
        let first = self.values.len();
        self.values.resize(first + prepared.slots as usize, Value::BOTTOM);
        for &register in &prepared.undefined {
            self.values[first + register as usize] = Value::OPAQUE;
        }
        let instructions = u32::try_from(prepared.body.instructions.len()).unwrap_or(u32::MAX);
        let chain = parent.map_or(0, |parent| self.contexts[parent].chain + 1);
        let queued = vec![true; instructions as usize];
        self.contexts.push(Context {
            prepared,
            function,
            first,
            parent,
            chain,
            callers: Vec::new(),
            queued,
        });
        self.queue
            .extend((0..instructions).map(|instruction| (context, instruction)));
        Some(context)
    }

    /// The analysis of `function` when called by an instruction, `None` if it has no code.
    pub(super) fn callee(&mut self, context: usize, instruction: u32, function: usize) -> Option<usize> {
        if let Some(&callee) = self.calls.get(&(context, instruction, function)) {
            return Some(callee);
        }
        let callee = match self.on_chain(context, function) {
            Some(callee) => callee,
            None if self.must_share(context) => match self.merged.get(&function) {
                Some(&callee) => callee,
                None => {
                    let callee = self.new_context(function, None)?;
                    self.contexts[callee].chain = MAX_CHAIN;
                    self.merged.insert(function, callee);
                    callee
                }
            },
            None => self.new_context(function, Some(context))?,
        };
        self.calls.insert((context, instruction, function), callee);
        self.contexts[callee].callers.push((context, instruction));
        Some(callee)
    }

    /// The analysis of `function` as an instruction calls it, if the analysis has come to that call.
    pub(super) fn called(&self, context: usize, instruction: u32, function: usize) -> Option<usize> {
        self.calls.get(&(context, instruction, function)).copied()
    }

    fn must_share(&self, context: usize) -> bool {
        self.contexts[context].chain >= MAX_CHAIN || self.values.len() > MAX_INSTRUCTIONS
    }

    /// The analysis of `function` that the chain of calls has gone through.
    fn on_chain(&self, context: usize, function: usize) -> Option<usize> {
        let mut next = Some(context);
        while let Some(context) = next {
            if self.contexts[context].function == function {
                return Some(context);
            }
            next = self.contexts[context].parent;
        }
        None
    }

    fn enqueue(&mut self, context: usize, instruction: u32) {
        let queued = &mut self.contexts[context].queued[instruction as usize];
        if !std::mem::replace(queued, true) {
            self.queue.push_back((context, instruction));
        }
    }

    /// The slot of a context among all values.
    pub(super) fn place(&self, context: usize, slot: u32) -> u32 {
        u32::try_from(self.contexts[context].first)
            .unwrap_or(u32::MAX)
            .saturating_add(slot)
    }

    /// The value at a [`Self::place`].
    pub(super) fn value_at(&self, place: u32) -> Value {
        self.values.get(place as usize).copied().unwrap_or(Value::OPAQUE)
    }

    /// Joins `value` into a slot and wakes what depends on it.
    pub(super) fn join_slot(&mut self, context: usize, slot: u32, value: Value) {
        let place = self.contexts[context].first + slot as usize;
        let joined = self.sets.join(self.values[place], value);
        if joined == self.values[place] {
            return;
        }
        self.values[place] = joined;
        let prepared = Rc::clone(&self.contexts[context].prepared);
        for &user in prepared.users(slot) {
            self.enqueue(context, user);
        }
        if prepared.results.contains(&slot) {
            for index in 0..self.contexts[context].callers.len() {
                let (caller, call) = self.contexts[context].callers[index];
                self.enqueue(caller, call);
            }
        }
    }

    /// Joins `value` into a slot that is reached through an address, by its place.
    pub(super) fn join_place(&mut self, place: u32, value: Value) {
        let context = self.contexts.partition_point(|context| context.first <= place as usize) - 1;
        let slot = place - self.place(context, 0);
        let before = self.value_at(place);
        self.join_slot(context, slot, value);
        if self.value_at(place) != before {
            self.enqueue_memory();
        }
    }

    /// The value that memory of a kind may hold.
    pub(super) fn cell(&self, cell: Cell) -> Value {
        self.cells[cell as usize]
    }

    /// Joins `value` into a kind of memory and wakes all that reads memory.
    pub(super) fn join_cell(&mut self, cell: Cell, value: Value) {
        let joined = self.sets.join(self.cell(cell), value);
        if joined != self.cell(cell) {
            self.cells[cell as usize] = joined;
            self.enqueue_memory();
        }
    }

    fn enqueue_memory(&mut self) {
        for context in 0..self.contexts.len() {
            let prepared = Rc::clone(&self.contexts[context].prepared);
            for &instruction in &prepared.memory {
                self.enqueue(context, instruction);
            }
        }
    }

    /// Whether an address outside the known objects can reach local or shared memory: only if an address of that memory
    /// was stored.
    pub(super) fn escaped(&mut self, cell: Cell) -> bool {
        let source = match cell {
            Cell::Shared => Source::Shared,
            Cell::Local => Source::Local,
            Cell::Device => return true,
        };
        let bits = self.sets.bits(self.cell(Cell::Device));
        self.sets.contains(bits, source)
    }

    /// The functions that a call may reach; a `None` among them is unknown code.
    pub(super) fn targets(&mut self, target: &Operand, arguments: usize) -> Vec<Option<usize>> {
        if let Operand::Symbol(name, _) = target
            && let Some(function) = self.program.function(name)
        {
            return vec![Some(function)];
        }
        let taken = self.program.taken();
        let functions = &self.program.module.functions;
        let fits = |index: &&usize| functions[**index].params.len() == arguments && !functions[**index].entry;
        let targets: Vec<_> = taken.iter().filter(fits).map(|&index| Some(index)).collect();
        if (1..=MAX_TARGETS).contains(&targets.len()) {
            targets
        } else {
            vec![None]
        }
    }
}
