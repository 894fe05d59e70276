//! The conditions that a contract lacks: what is left of a bound when threads, blocks and iterations are replaced by
//! their own bounds. Each set of conditions is tried: a contract with it is proved, or it is not told.

use super::analysis::open;
use super::facts::Meaning;
use super::machine::Machine;
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
    let own = kernel.requires.len();
    let mut found: Vec<Condition> = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let new = {
            let (mut machine, _) = open(module, &kernel, effort).ok()?;
            if machine.open.is_empty() {
                break;
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
    let is_proved = |kernel: &Kernel| open(module, kernel, effort).is_ok_and(|(machine, _)| machine.open.is_empty());
    if !is_proved(&kernel) {
        return None;
    }
    // A contract that no launch keeps is none.
    if super::witness::samples(module, &kernel, 1, 4).is_empty() {
        return None;
    }
    // Those that others make needless are left out.
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
    for obligation in machine.open.clone() {
        if !matches!(obligation.gap, Gap::Bounds { .. }) {
            return None;
        }
        for goal in &obligation.goals {
            let mut residues = machine.facts.residues(obligation.place, goal, machine.contract_end);
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
                    let bound =
                        bound.map(|bound| machine.facts.residues(obligation.place, &bound, machine.contract_end));
                    residues.extend(bound.into_iter().flatten());
                }
            }
            let texts = residues
                .iter()
                .filter_map(|residue| Some((cost(residue)?, written(machine, residue)?)));
            let best = texts.min_by_key(|(cost, _)| *cost);
            let (_, condition) = best?;
            if !found.iter().any(|known| known.text == condition.text) {
                found.push(condition);
            }
        }
    }
    Some(found)
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
