//! The dimensions of launches that have only one value.

use super::Kernel;
use super::term::{Binary, Term};
use crate::ast::Function;

/// The sides of grid and block that the kernel, or its contract, sets to one number.
pub(super) fn sides(kernel: &Kernel, function: &Function) -> [[Option<u32>; 3]; 2] {
    let mut sides = [[None; 3]; 2];
    if let Some(required) = function.required_block {
        sides[1] = required.map(Some);
    }
    // The sides that are known decide others: `block == 256 && block.x == 256`.
    for _ in 0..2 {
        kernel.requires.iter().for_each(|term| decide(term, &mut sides));
    }
    sides
}

fn decide(term: &Term, sides: &mut [[Option<u32>; 3]; 2]) {
    let Term::Binary(op, left, right) = term else { return };
    match (op, &**left, &**right) {
        (Binary::And, left, right) => {
            decide(left, sides);
            decide(right, sides);
        }
        (Binary::Eq, named, Term::Int(value)) | (Binary::Eq, Term::Int(value), named) => {
            if let Ok(value) = u32::try_from(*value) {
                is_number(named, value, sides);
            }
        }
        // Of a product that is one of its factors, the others are 1.
        (Binary::Eq, Term::Grid(3), Term::Grid(axis)) | (Binary::Eq, Term::Grid(axis), Term::Grid(3)) => {
            others(&mut sides[0], *axis);
        }
        (Binary::Eq, Term::Block(3), Term::Block(axis)) | (Binary::Eq, Term::Block(axis), Term::Block(3)) => {
            others(&mut sides[1], *axis);
        }
        _ => {}
    }
}

fn others(sides: &mut [Option<u32>; 3], axis: u8) {
    for (other, side) in sides.iter_mut().enumerate() {
        if other != usize::from(axis) && axis < 3 {
            *side = Some(1);
        }
    }
}

fn is_number(named: &Term, value: u32, sides: &mut [[Option<u32>; 3]; 2]) {
    let group = match named {
        Term::Grid(axis) if *axis < 3 => {
            sides[0][usize::from(*axis)] = Some(value);
            return;
        }
        Term::Block(axis) if *axis < 3 => {
            sides[1][usize::from(*axis)] = Some(value);
            return;
        }
        Term::Grid(_) => 0..1,
        Term::Block(_) => 1..2,
        Term::Threads => 0..2,
        _ => return,
    };
    // The product of the sides that are known; the others are at least 1.
    let group = &mut sides[group];
    let sides = group.iter().flatten().flatten();
    let known = sides.fold(1, |product: u64, &side| product.saturating_mul(side.into()));
    if known == u64::from(value) {
        for side in group.iter_mut().flatten() {
            *side = Some(side.unwrap_or(1));
        }
    }
}
