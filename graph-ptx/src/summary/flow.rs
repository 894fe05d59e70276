//! The fixpoint: the values that every register may hold, in a kernel and all functions that it calls.
//!
//! A function is analysed once for each chain of calls that leads to it, so that a helper called with two pointers does
//! not mix them. Recursive calls go back to the analysis already on the chain; beyond a limit, all chains share one.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::rc::Rc;

use super::program::{Prepared, Program, values_taken};
use super::sets::Sets;
use super::source::Source;
use super::value::{Spot, Value};
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
    /// Whether it may run while it runs already, so that each of its local variables may be several.
    recursive: bool,
    /// The call instructions that lead here.
    pub(super) callers: Vec<(usize, u32)>,
    queued: Vec<bool>,
}

/// A kind of memory, and the value of all of it together. Shared and device memory are not followed by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Shared,
    Local,
    /// Device memory.
    Device,
}

/// Eight bytes of a local variable, aligned, and the instructions that read them.
#[derive(Debug, Default)]
struct Granule {
    value: Value,
    readers: BTreeSet<(usize, u32)>,
}

/// Local memory. A value that is stored at a known place is in the granules there; one that is stored at an unknown
/// place may be in any.
#[derive(Debug, Default)]
struct Locals {
    /// The number of a variable, by context and index in the body.
    numbers: HashMap<(usize, u32), u32>,
    /// By number: the size in bytes, and the context.
    variables: Vec<(u64, usize)>,
    granules: HashMap<(u32, u64), Granule>,
    /// The values that were stored at unknown places.
    anywhere: Value,
}

/// The memory that an address may lie in, besides parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    Cell(Cell),
    /// Local memory, at this place alone.
    Spot(Spot),
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
    locals: Locals,
    /// The instruction whose effect is being computed.
    current: (usize, u32),
    /// Whether an address without a value will never have one: the program does not say what it is.
    pub(super) settled: bool,
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
            locals: Locals::default(),
            current: (0, 0),
            settled: false,
            queue: VecDeque::new(),
            calls: HashMap::new(),
            merged: HashMap::new(),
        };
        flow.new_context(index, None)?;
        flow.drain();
        flow.settled = true;
        flow.enqueue_memory();
        flow.drain();
        Some(flow)
    }

    fn drain(&mut self) {
        while let Some((context, instruction)) = self.queue.pop_front() {
            self.contexts[context].queued[instruction as usize] = false;
            self.current = (context, instruction);
            self.transfer(context, instruction);
        }
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
            recursive: false,
            callers: Vec::new(),
            queued,
        });
        let all = (0..instructions).map(|instruction| (context, instruction));
        self.queue.extend(all);
        Some(context)
    }

    /// The analysis of `function` when called by an instruction, `None` if it has no code.
    pub(super) fn callee(&mut self, context: usize, instruction: u32, function: usize) -> Option<usize> {
        if let Some(&callee) = self.calls.get(&(context, instruction, function)) {
            return Some(callee);
        }
        let callee = match self.on_chain(context, function) {
            Some(callee) => {
                self.note_recursion(context, callee);
                callee
            }
            None if self.must_share(context) => match self.merged.get(&function) {
                Some(&callee) => callee,
                None => {
                    let callee = self.new_context(function, None)?;
                    self.contexts[callee].chain = MAX_CHAIN;
                    self.contexts[callee].recursive = true; // it may be
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

    /// Notes that a function calls one that the chain of calls has gone through.
    fn note_recursion(&mut self, from: usize, to: usize) {
        let mut next = Some(from);
        while let Some(context) = next {
            let known = std::mem::replace(&mut self.contexts[context].recursive, true);
            if !known {
                self.enqueue_memory(); // loads may find more
            }
            next = self.contexts[context].parent.filter(|_| context != to);
        }
    }

    /// Whether a place is that of one variable, and not of several that a recursive function has at the same time.
    pub(super) fn is_alone(&self, spot: Spot) -> bool {
        let owner = self.locals.variables.get(spot.variable as usize);
        owner.is_some_and(|&(_, context)| !self.contexts[context].recursive)
    }

    fn must_share(&self, context: usize) -> bool {
        self.contexts[context].chain >= MAX_CHAIN || self.values.len() > MAX_INSTRUCTIONS
    }

    /// The analysis of `function` that the chain of calls has gone through.
    fn on_chain(&self, context: usize, function: usize) -> Option<usize> {
        let mut chain = std::iter::successors(Some(context), |&context| self.contexts[context].parent);
        chain.find(|&context| self.contexts[context].function == function)
    }

    pub(super) fn enqueue(&mut self, context: usize, instruction: u32) {
        let queued = &mut self.contexts[context].queued[instruction as usize];
        if !std::mem::replace(queued, true) {
            self.queue.push_back((context, instruction));
        }
    }

    /// The slot of a context among all values.
    pub(super) fn place(&self, context: usize, slot: u32) -> u32 {
        let first = u32::try_from(self.contexts[context].first).unwrap_or(u32::MAX);
        first.saturating_add(slot)
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

    /// Joins `value` into all memory of a kind, and wakes all that reads memory.
    pub(super) fn join_cell(&mut self, cell: Cell, value: Value) {
        if cell == Cell::Local {
            let joined = self.sets.join(self.locals.anywhere, value);
            if joined != self.locals.anywhere {
                self.locals.anywhere = joined;
                self.enqueue_memory();
            }
        }
        self.join_whole(cell, value);
    }

    /// The place where a local variable of a context begins.
    pub(super) fn local(&mut self, context: usize, index: u32) -> Spot {
        let fresh = u32::try_from(self.locals.variables.len()).unwrap_or(u32::MAX);
        let variable = *self.locals.numbers.entry((context, index)).or_insert(fresh);
        if variable == fresh {
            let variables = self.contexts[context].prepared.function.code();
            let variables = variables.as_ref().map_or(&[][..], |body| &body.variables);
            let size = variables.get(index as usize).map_or(0, |variable| variable.size);
            self.locals.variables.push((size, context));
        }
        Spot { variable, offset: 0 }
    }

    /// The granules of an access, and whether it is of whole granules; `None` if it reaches beyond the variable.
    fn granules(&self, spot: Spot, bytes: u64) -> Option<(RangeInclusive<u64>, bool)> {
        let start = u64::try_from(spot.offset).ok()?;
        let end = start.checked_add(bytes)?;
        let inside = bytes > 0 && end <= self.locals.variables.get(spot.variable as usize)?.0;
        let whole = start.is_multiple_of(8) && bytes.is_multiple_of(8);
        inside.then(|| (start / 8..=(end - 1) / 8, whole))
    }

    /// The value that local memory may hold at a place.
    pub(super) fn read_spot(&mut self, spot: Spot, bytes: Option<u64>) -> Value {
        let Some((granules, whole)) = bytes.and_then(|bytes| self.granules(spot, bytes)) else {
            return self.cell(Cell::Local);
        };
        let mut value = self.locals.anywhere;
        for index in granules {
            let granule = self.locals.granules.entry((spot.variable, index)).or_default();
            granule.readers.insert(self.current);
            let held = granule.value;
            value = self.sets.join(value, held);
        }
        if whole { value } else { self.sets.mix(&[value]) }
    }

    /// Joins `value` into local memory at a place, and wakes what reads it.
    pub(super) fn write_spot(&mut self, spot: Spot, bytes: Option<u64>, value: Value) {
        let Some((granules, whole)) = bytes.and_then(|bytes| self.granules(spot, bytes)) else {
            return self.join_cell(Cell::Local, value);
        };
        let value = if whole { value } else { self.sets.mix(&[value]) };
        for index in granules {
            let granule = self.locals.granules.entry((spot.variable, index)).or_default();
            let joined = self.sets.join(granule.value, value);
            if joined != granule.value {
                granule.value = joined;
                for (context, instruction) in granule.readers.clone() {
                    self.enqueue(context, instruction);
                }
            }
        }
        self.join_whole(Cell::Local, value);
    }

    /// Joins `value` into the value of a kind of memory as a whole.
    fn join_whole(&mut self, cell: Cell, value: Value) {
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
        let fits = |index: &&usize| values_taken(&functions[**index]) == arguments && !functions[**index].entry;
        let targets: Vec<_> = taken.iter().filter(fits).map(|&index| Some(index)).collect();
        let is_known = (1..=MAX_TARGETS).contains(&targets.len());
        if is_known { targets } else { vec![None] }
    }
}
