//! Loads of memory that holds nothing when a launch begins: whether each follows a store to the bytes that it loads.
//!
//! # Why a load does
//!
//! A store covers a load if the bytes of the load are among those of the store, and if it is certainly made before.
//!
//! * **By the same thread.** The store's place and the load's are below a place that both share. Control that has come
//!   there, and that comes to the load, has passed the store: each block on the way either cannot be avoided, or is
//!   behind a branch whose condition the facts of the load imply. The walk has seen the store first, so it is made
//!   first. Symbols have the same values at both, as control has not come to the shared place again.
//! * **By another thread of the block**, which is the load's thread but for one coordinate. That one is solved for,
//!   such that the addresses are equal, and shown to be in the block. The store's address and the conditions on the way
//!   to it, from the beginning of the kernel on, are then taken with that coordinate, and depend on nothing else that
//!   is another number in another thread. A barrier of the block is on each way to the load, and on each way from the
//!   store on, and no way leads from the barrier to the store. As all threads of a block meet at one barrier, which
//!   CUDA demands, the other thread has made its store before.
//!
//! A load of which none of this is shown stays open.

use super::facts::{EVERYWHERE, Meaning, Place};
use super::machine::{Machine, Obligation, Taken, Touch, Touching, Way};
use super::opcode::is_barrier;
use super::poly::{Monomial, Poly, Symbol};
use super::value::{Condition, Memory};
use super::{Gap, Kernel};

/// The most pairs of a load and a store that are looked at.
const MAX_PAIRS: usize = 8192;
/// The most numbers within numbers in which a coordinate is solved for.
const MAX_DEPTH: usize = 4;

/// The value of a coordinate in another thread.
type Elsewhere = Option<(Symbol, Poly)>;

/// Leaves loads open that are not known to follow a store.
pub(super) fn check(machine: &mut Machine<'_>) {
    if machine.kernel.unwritten.is_empty() {
        return;
    }
    let touched = std::mem::take(&mut machine.touched);
    let mut pairs = MAX_PAIRS;
    for (index, load) in touched.iter().enumerate() {
        if !is_load(machine, load) {
            continue;
        }
        let stores: Vec<&Touch> = touched[..index]
            .iter()
            .filter(|store| store.memory == load.memory && is_store(machine, store))
            .collect();
        pairs = pairs.saturating_sub(stores.len());
        if pairs > 0 && is_covered(machine, load, &stores) {
            continue;
        }
        let stored = stores.last().map(|store| machine.instruction(store.instruction).line);
        machine.open.push(Obligation {
            instruction: load.instruction,
            gap: Gap::Unwritten {
                memory: machine.kernel.name_of(&load.memory),
                stored,
            },
            goals: Vec::new(),
            place: load.place,
            also: load.also,
        });
    }
    machine.touched = touched;
}

impl Kernel {
    /// Whether memory holds nothing when a launch begins.
    pub(super) fn is_unwritten(&self, memory: &Memory) -> bool {
        matches!(memory, Memory::Param(param) if self.unwritten.contains(param))
    }
}

/// Whether an access loads memory that holds nothing when a launch begins.
fn is_load(machine: &Machine<'_>, touch: &Touch) -> bool {
    let is_store = machine.instruction(touch.instruction).opcode == "st" || touch.how == Touching::Write;
    machine.kernel.is_unwritten(&touch.memory) && !is_store
}

/// Whether an access certainly stores all of its bytes.
fn is_store(machine: &Machine<'_>, touch: &Touch) -> bool {
    machine.instruction(touch.instruction).opcode == "st" && touch.also.is_none() && touch.bytes.is_some()
}

/// Whether stores that the walk has seen before a load cover it.
fn is_covered(machine: &mut Machine<'_>, load: &Touch, stores: &[&Touch]) -> bool {
    let Some(bytes) = load.bytes else { return false };
    // Ends of stores of the same thread, as bytes from the load's first one on.
    let mut parts: Vec<(i128, i128)> = Vec::new();
    // The nearest store first.
    for store in stores.iter().rev() {
        if !is_passed(machine, load, store) {
            continue;
        }
        if contains(machine, load, store, &store.from) {
            return true;
        }
        let distance = store.from.minus(&load.from).and_then(|distance| distance.value());
        parts.extend(distance.zip(store.bytes).map(|(from, bytes)| (from, from + bytes)));
    }
    parts.sort_unstable();
    let end = parts
        .into_iter()
        .fold(0, |end, (from, to)| if from <= end { end.max(to) } else { end });
    end >= bytes || stores.iter().rev().any(|store| is_from_other(machine, load, store))
}

/// Whether the bytes of a load are among those of a store whose address is `from`.
fn contains(machine: &mut Machine<'_>, load: &Touch, store: &Touch, from: &Poly) -> bool {
    let room = store.bytes.zip(load.bytes).map(|(store, load)| store - load);
    let (Some(room), Some(distance)) = (room, load.from.minus(from)) else {
        return false;
    };
    let rest = distance.negated().and_then(|rest| rest.plus_constant(room));
    rest.is_some_and(|rest| shows(machine, load, &distance) && shows(machine, load, &rest))
}

/// Whether a polynomial is at least 0 where a load is made.
fn shows(machine: &mut Machine<'_>, load: &Touch, goal: &Poly) -> bool {
    machine.facts.proves_also(load.place, load.also, goal)
}

/// Whether the thread that comes to a load has certainly passed a store that the walk has seen before.
fn is_passed(machine: &mut Machine<'_>, load: &Touch, store: &Touch) -> bool {
    let above = machine.facts.common(load.place, store.place);
    let goal = machine.flow.block_of(load.instruction);
    let conditions = conditions(machine, store, above, &|block| block == goal);
    conditions.is_some_and(|all| all.iter().all(|taken| holds(machine, load, taken, &None)))
}

/// The conditions under which control that has come to the place `above` comes to a store before it comes to a block
/// that `is_goal` names; `None` if they are not known.
fn conditions(
    machine: &Machine<'_>,
    store: &Touch,
    above: Place,
    is_goal: &dyn Fn(usize) -> bool,
) -> Option<Vec<Taken>> {
    let is_sure = |from: usize, to: usize| !machine.flow.can_avoid(from, Some(to), is_goal);
    let mut found = Vec::new();
    // Control that comes to this block comes to the store.
    let mut block = machine.flow.block_of(store.instruction);
    // The edge on which control comes to the block from the one before.
    let mut edge: Option<Option<Taken>> = None;
    let mut place = store.place;
    loop {
        let is_above = place == above;
        match machine.ways.get(&place) {
            Some(Way::Block(before)) => {
                if *before != block && !is_sure(*before, block) {
                    found.extend(edge.take()?);
                }
                edge = None;
                block = *before;
            }
            Some(Way::Edge(target, taken)) => {
                if *target != block && !is_sure(*target, block) {
                    return None;
                }
                block = *target;
                edge = Some(taken.clone());
            }
            Some(Way::Guard(_)) if is_above => {}
            Some(Way::Guard(taken)) => found.push(taken.clone()),
            Some(Way::Loop) => {}
            None if place == EVERYWHERE => {}
            None => return None,
        }
        if is_above {
            return Some(found);
        }
        place = machine.facts.above(place);
    }
}

/// Whether a condition is shown where a load is made, for the thread of the store.
fn holds(machine: &mut Machine<'_>, load: &Touch, (condition, is_true): &Taken, elsewhere: &Elsewhere) -> bool {
    let is_true = *is_true;
    match &**condition {
        Condition::Constant(value) => *value == is_true,
        Condition::Unknown => false,
        Condition::Not(inner) => holds(machine, load, &(inner.clone(), !is_true), elsewhere),
        Condition::And(a, b) | Condition::Or(a, b) => {
            let (a, b) = ((a.clone(), is_true), (b.clone(), is_true));
            let is_both = matches!(**condition, Condition::And(..)) == is_true;
            let first = holds(machine, load, &a, elsewhere);
            if is_both {
                first && holds(machine, load, &b, elsewhere)
            } else {
                first || holds(machine, load, &b, elsewhere)
            }
        }
        Condition::AtLeast0(poly) => {
            let goal = moved(machine, load, poly, elsewhere);
            let goal = goal.and_then(|goal| {
                if is_true {
                    Some(goal)
                } else {
                    goal.negated()?.plus_constant(-1)
                }
            });
            goal.is_some_and(|goal| shows(machine, load, &goal))
        }
        Condition::IsZero(_, _, exact) => {
            let Some(exact) = moved(machine, load, exact, elsewhere) else {
                return false;
            };
            let Some(negated) = exact.negated() else { return false };
            if is_true {
                return shows(machine, load, &exact) && shows(machine, load, &negated);
            }
            let nonzero = machine.facts.nonzero_since(load.place, None);
            let mut sides = [&exact, &negated].into_iter();
            nonzero.contains(&exact)
                || nonzero.contains(&negated)
                || sides.any(|side| side.plus_constant(-1).is_some_and(|side| shows(machine, load, &side)))
        }
    }
}

/// Whether another thread of the block has certainly made a store to the bytes of a load before.
fn is_from_other(machine: &mut Machine<'_>, load: &Touch, store: &Touch) -> bool {
    if !is_before_barrier(machine, store.instruction, load.instruction) {
        return false;
    }
    let body = machine.body;
    let conditions = conditions(machine, store, EVERYWHERE, &|block| machine.flow.can_leave(block, body));
    let Some(conditions) = conditions else { return false };
    (0..3).any(|axis| {
        let (thread, _) = machine.place_of_thread(axis);
        let Some(thread) = thread.as_symbol() else { return false };
        let Some(other) = solved(machine, &store.from, &load.from, thread, MAX_DEPTH) else {
            return false;
        };
        let last = machine.names.block[axis]
            .minus(&other)
            .and_then(|rest| rest.plus_constant(-1));
        let is_in_block = last.is_some_and(|last| shows(machine, load, &other) && shows(machine, load, &last));
        let elsewhere = Some((thread, other));
        is_in_block
            && moved(machine, load, &store.from, &elsewhere).is_some_and(|from| contains(machine, load, store, &from))
            && conditions.iter().all(|taken| holds(machine, load, taken, &elsewhere))
    })
}

/// Whether a barrier of the block is on each way to one instruction, and on each way from another one on, which no way
/// from the barrier leads to.
fn is_before_barrier(machine: &Machine<'_>, before: usize, after: usize) -> bool {
    let (flow, body) = (&machine.flow, machine.body);
    let (first, second) = (flow.block_of(before), flow.block_of(after));
    let barriers = body
        .instructions
        .iter()
        .enumerate()
        .filter(|(_, found)| is_barrier(found));
    let mut barriers = barriers.map(|(index, _)| (index, flow.block_of(index)));
    barriers.any(|(index, block)| {
        let entry = flow.order.first().copied().unwrap_or(0);
        let is_passed = match block == second {
            true => index < after,
            false => !flow.can_avoid(entry, Some(block), &|block| block == second),
        };
        let is_met = match block == first {
            true => before < index,
            false => !flow.can_avoid(first, Some(block), &|block| flow.can_leave(block, body)),
        };
        is_passed && is_met && !flow.leads_to(block, first) && (block != first || before < index)
    })
}

/// The value of a coordinate, which `symbol` is in `poly`, with which `poly` might be `target`. It has to be tried.
fn solved(machine: &Machine<'_>, poly: &Poly, target: &Poly, symbol: Symbol, depth: usize) -> Option<Poly> {
    let inner = match poly.has(symbol) {
        true => symbol,
        // The only number in the polynomial that depends on it.
        false => {
            let symbols = poly.symbols();
            let mut found = symbols.iter().filter(|&&known| depends(machine, known, symbol));
            found.next().copied().filter(|_| found.next().is_none())?
        }
    };
    let (mut factor, mut rest) = (0, Poly::default());
    for (monomial, coefficient) in poly.terms() {
        if *monomial == Monomial::of(inner) {
            factor = *coefficient;
        } else if monomial.has(inner) {
            return None;
        } else {
            rest = rest.combine(1, &Poly::constant(*coefficient), monomial, 1)?;
        }
    }
    let value = target.minus(&rest)?.divided(factor)?;
    match &machine.facts.info(inner).meaning {
        _ if inner == symbol => Some(value),
        Meaning::Wrapped { value: own, bits, .. } if depth > 0 => {
            let value = machine.facts.unwrapped(&value, *bits);
            solved(machine, own, &value, symbol, depth - 1)
        }
        _ => None,
    }
}

/// Whether a symbol depends on another one.
fn depends(machine: &Machine<'_>, symbol: Symbol, on: Symbol) -> bool {
    let any = |poly: &Poly| poly.symbols().iter().any(|&symbol| depends(machine, symbol, on));
    symbol == on
        || match &machine.facts.info(symbol).meaning {
            Meaning::Wrapped { value, .. } => any(value),
            Meaning::Quotient { value, divisor } => any(value) || any(divisor),
            Meaning::Free | Meaning::Chosen { .. } => false,
        }
}

/// A polynomial of the store's thread where a load is made; `None` if it may be any number there.
fn moved(machine: &mut Machine<'_>, load: &Touch, poly: &Poly, elsewhere: &Elsewhere) -> Option<Poly> {
    let Some((thread, other)) = elsewhere else {
        return Some(poly.clone());
    };
    let mut values: Vec<(Symbol, Poly)> = Vec::new();
    for symbol in poly.symbols() {
        if symbol == *thread {
            values.push((symbol, other.clone()));
            continue;
        }
        let is_place = (0..3).any(|axis| {
            let (thread, block) = machine.place_of_thread(axis);
            thread.as_symbol() == Some(symbol) || block.as_symbol() == Some(symbol)
        });
        if is_place || machine.is_common(symbol) {
            continue;
        }
        let value = match machine.facts.info(symbol).meaning.clone() {
            Meaning::Wrapped { value, bits, signed } => {
                let value = moved(machine, load, &value, elsewhere)?;
                machine.facts.number(load.place, &value, bits, signed)?
            }
            Meaning::Quotient { value, divisor } => {
                let value = moved(machine, load, &value, elsewhere)?;
                // It is positive in each thread if it is the same in all.
                let is_same = divisor.symbols().iter().all(|&symbol| machine.is_common(symbol));
                machine.facts.quotient(&value, &divisor).filter(|_| is_same)?
            }
            Meaning::Free | Meaning::Chosen { .. } => return None,
        };
        values.push((symbol, value));
    }
    let with = |symbol: Symbol| {
        values
            .iter()
            .find(|(known, _)| *known == symbol)
            .map(|(_, value)| value.clone())
    };
    poly.replace(&with)
}
