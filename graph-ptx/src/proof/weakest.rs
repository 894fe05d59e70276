//! The conditions that a contract lacks: what is left of a bound when threads, blocks and iterations are replaced by
//! their own bounds. Each set of conditions is tried: a contract with it is proved, or it is not told.

use super::analysis::open;
use super::facts::{EVERYWHERE, Meaning};
use super::machine::{Machine, Obligation};
use super::poly::{Monomial, Poly, Symbol};
use super::term::{Binary, Term};
use super::{Effort, Gap, Kernel};
use crate::ast::Module;

/// The most rounds in which conditions are added.
const MAX_ROUNDS: usize = 4;
/// The greatest constant that an author would write as a length.
const MAX_CONSTANT: i128 = 1 << 20;

/// A condition to add to a contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition as an author writes it: `n <= data.len()`.
    pub text: String,
    /// The same.
    pub term: Term,
}

/// The conditions that a kernel's contract lacks to be proved: none if it is proved; `None` if there are no such
/// conditions that are simple.
pub fn weakest(module: &Module, kernel: &Kernel, effort: &Effort) -> Option<Vec<Condition>> {
    let mut kernel = kernel.clone();
    // No condition makes a kernel write what it reads.
    kernel.unwritten.clear();
    let own = kernel.requires.len();
    let mut found: Vec<Condition> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let new = {
            let mut machine = open(module, &kernel, effort).ok()?;
            if machine.open.is_empty() {
                break;
            }
            if machine.open.iter().any(|open| open.gap == Gap::TooLarge) {
                return None;
            }
            missing(&mut machine)?
        };
        for condition in new {
            if found.iter().any(|known| known.text == condition.text) {
                return None;
            }
            kernel.requires.push(condition.term.clone());
            found.push(condition);
        }
    }
    // A contract under which a kernel does nothing is none.
    let is_proved = |kernel: &Kernel| {
        open(module, kernel, effort).is_ok_and(|machine| machine.open.is_empty() && machine.proved > 0)
    };
    if !is_proved(&kernel) {
        return None;
    }
    // A contract that no launch keeps is none.
    if super::witness::samples(module, &kernel, 1, 4).is_empty() {
        return None;
    }
    // Conditions that others make needless are left out.
    let mut index = 0;
    while index < found.len() && found.len() > 1 {
        let mut without = kernel.clone();
        without.requires.remove(own + index);
        if is_proved(&without) {
            kernel = without;
            found.remove(index);
        } else {
            index += 1;
        }
    }
    Some(found)
}

/// A condition for each bound that is open.
fn missing(machine: &mut Machine<'_>) -> Option<Vec<Condition>> {
    let mut found: Vec<Condition> = Vec::new();
    // No bound helps where memory tells an index: only to keep away from it.
    let mut symbols = machine.open.iter().flat_map(|open| &open.goals).flat_map(Poly::symbols);
    let is_of_memory = symbols.any(|symbol| is_of_memory(machine, symbol));
    for obligation in machine.open.clone() {
        // Conditions that bound the access or, if there are none, one that keeps control from it. Without either, the
        // access may be bounded by the conditions of others.
        let conditions = match bounding(machine, &obligation) {
            None if is_of_memory => avoiding(machine, &obligation).map(|condition| vec![condition]),
            bounding => bounding,
        };
        for condition in conditions.into_iter().flatten() {
            if !found.iter().any(|known| known.text == condition.text) {
                found.push(condition);
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// A condition for each bound of an access.
fn bounding(machine: &mut Machine<'_>, obligation: &Obligation) -> Option<Vec<Condition>> {
    if !matches!(obligation.gap, Gap::Bounds { .. }) {
        return None;
    }
    let left = |machine: &mut Machine<'_>, goal: &Poly| {
        let Obligation { place, also, .. } = *obligation;
        machine.facts.residues(place, also, goal, machine.contract_end)
    };
    let conditions = obligation.goals.iter().map(|goal| {
        let mut residues = left(machine, goal);
        // A number that may be negative is not, if it does not wrap around.
        let wraps = if residues.is_empty() {
            goal.symbols()
        } else {
            Vec::new()
        };
        for symbol in wraps {
            if let Meaning::Wrapped { value, bits, .. } = machine.facts.info(symbol).meaning.clone() {
                let bound = value
                    .negated()
                    .and_then(|value| value.plus_constant((1 << (bits - 1).min(100)) - 1));
                let bound = bound.map(|bound| left(machine, &bound));
                residues.extend(bound.into_iter().flatten());
            }
        }
        let texts = residues.iter().filter_map(|residue| {
            let cost = (asks_for_one_thread(machine, residue), cost(residue)?);
            Some((cost, written(machine, residue)?))
        });
        texts.min_by_key(|(cost, _)| *cost).map(|(_, condition)| condition)
    });
    conditions.collect()
}

/// The opposite of a branch that leads to an access: `n == 0`, if the access is only made where `n` is not 0.
fn avoiding(machine: &Machine<'_>, obligation: &Obligation) -> Option<Condition> {
    let taken = machine.facts.since(obligation.place, Some(EVERYWHERE)).filter(|fact| {
        let symbols = fact.symbols();
        !symbols.is_empty() && symbols.iter().all(|&symbol| symbol < machine.contract_end)
    });
    let opposites = taken.filter_map(|fact| fact.negated()?.plus_constant(-1));
    let texts = opposites.filter_map(|opposite| Some((cost(&opposite)?, avoided(machine, &opposite)?)));
    texts.min_by_key(|(cost, _)| *cost).map(|(_, condition)| condition)
}

/// Whether a number depends on the contents of memory, which no contract bounds.
fn is_of_memory(machine: &Machine<'_>, symbol: Symbol) -> bool {
    let info = machine.facts.info(symbol);
    let any = |poly: &Poly| poly.symbols().iter().any(|&symbol| is_of_memory(machine, symbol));
    match &info.meaning {
        // Numbers of iterations have no greatest value.
        Meaning::Free => symbol >= machine.contract_end && info.name.is_empty() && info.high.is_some(),
        Meaning::Wrapped { value, .. } => any(value),
        Meaning::Quotient { value, divisor } => any(value) || any(divisor),
        Meaning::Chosen { .. } => false,
    }
}

/// The condition that a polynomial is at least 0, of a number that is at least 0 itself: that it is 0.
fn avoided(machine: &Machine<'_>, poly: &Poly) -> Option<Condition> {
    let symbol = poly.negated()?.as_symbol();
    let Some(symbol) = symbol.filter(|&symbol| machine.facts.info(symbol).low == Some(0)) else {
        return written(machine, poly);
    };
    let term = term_of(machine, symbol)?;
    Some(Condition {
        text: format!("{} == 0", machine.facts.info(symbol).name),
        term: Term::Binary(Binary::Eq, Box::new(term), Box::new(Term::Int(0))),
    })
}

/// The simpler one of two conditions has the lower cost; `None` if no author would write it.
fn cost(poly: &Poly) -> Option<(usize, u32, usize)> {
    let is_length = poly
        .terms()
        .iter()
        .any(|(monomial, coefficient)| *monomial != Monomial::ONE && *coefficient > 0);
    let (mut degree, mut digits) = (0, 0);
    for (monomial, coefficient) in poly.terms() {
        let limit = if is_length { MAX_CONSTANT } else { 1 << 33 };
        if coefficient.checked_abs()? > limit {
            return None;
        }
        digits += if is_length {
            coefficient.unsigned_abs().ilog2()
        } else {
            0
        };
        degree += monomial.symbols().count();
    }
    Some((poly.terms().len(), digits, degree))
}

/// Whether a polynomial is at least 0 only in blocks of a single thread: the last condition that an author would write.
fn asks_for_one_thread(machine: &Machine<'_>, poly: &Poly) -> bool {
    let ([(Monomial::ONE, 1), (monomial, -1)] | [(monomial, -1), (Monomial::ONE, 1)]) = *poly.terms() else {
        return false;
    };
    let mut symbols = monomial.symbols();
    symbols.any(|symbol| matches!(term_of(machine, symbol), Some(Term::Block(_))))
}

/// The condition that a polynomial is at least 0.
fn written(machine: &Machine<'_>, poly: &Poly) -> Option<Condition> {
    let (mut less, mut more): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for &(monomial, coefficient) in poly.terms() {
        let side = if coefficient < 0 { &mut less } else { &mut more };
        side.push(product(machine, &monomial, coefficient.checked_abs()?)?);
    }
    let (left, right) = (sum(less), sum(more));
    Some(Condition {
        text: format!("{} <= {}", left.0, right.0),
        term: Term::Binary(Binary::Le, Box::new(left.1), Box::new(right.1)),
    })
}

fn sum(parts: Vec<(String, Term)>) -> (String, Term) {
    let joined = parts.into_iter().rev().reduce(|(a, first), (b, second)| {
        (
            format!("{a} + {b}"),
            Term::Binary(Binary::Add, Box::new(first), Box::new(second)),
        )
    });
    joined.unwrap_or(("0".to_owned(), Term::Int(0)))
}

/// A product as an author writes it.
fn product(machine: &Machine<'_>, monomial: &Monomial, coefficient: i128) -> Option<(String, Term)> {
    let mut factors: Vec<(String, Term)> = Vec::new();
    let symbols: Vec<Symbol> = monomial.symbols().collect();
    if coefficient != 1 || symbols.is_empty() {
        factors.push((coefficient.to_string(), Term::Int(coefficient)));
    }
    let mut named: Vec<(String, Term)> = Vec::new();
    for symbol in symbols.into_iter().rev() {
        named.push((machine.facts.info(symbol).name.clone(), term_of(machine, symbol)?));
    }
    // All threads of a launch of one dimension.
    let position = |term: &Term, named: &[(String, Term)]| named.iter().position(|(_, known)| known == term);
    if let (Some(_), Some(_)) = (position(&Term::Grid(0), &named), position(&Term::Block(0), &named)) {
        for term in [Term::Grid(0), Term::Block(0)] {
            if let Some(index) = position(&term, &named) {
                named.remove(index);
            }
        }
        factors.push(("threads".to_owned(), Term::Threads));
    }
    factors.extend(named);
    factors.into_iter().reduce(|(a, first), (b, second)| {
        (
            format!("{a} * {b}"),
            Term::Binary(Binary::Mul, Box::new(first), Box::new(second)),
        )
    })
}

/// The term of a symbol of the launch or of an argument.
fn term_of(machine: &Machine<'_>, symbol: Symbol) -> Option<Term> {
    let is = |poly: &Poly| poly.as_symbol() == Some(symbol);
    for axis in 0..3 {
        if is(&machine.names.grid[axis]) {
            return Some(Term::Grid(axis as u8));
        }
        if is(&machine.names.block[axis]) {
            return Some(Term::Block(axis as u8));
        }
    }
    if is(&machine.names.shared) {
        return Some(Term::Shared);
    }
    let index = machine
        .names
        .arguments
        .iter()
        .position(|argument| argument.as_ref().is_some_and(is))?;
    Some(match machine.kernel.params[index].kind {
        super::Kind::Memory { .. } => Term::Len(index),
        _ => Term::Value(index),
    })
}
