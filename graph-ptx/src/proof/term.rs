//! Contracts: the conditions of `#[requires(..)]` as trees, their values, and the facts that follow from them.

use super::facts::{EVERYWHERE, Facts};
use super::poly::Poly;
use super::value::Condition;
use std::rc::Rc;

/// An expression of a `#[requires(..)]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// An integer.
    Int(i128),
    /// `true` or `false`.
    Bool(bool),
    /// A value that is not known here: a constant of the author's, a floating-point number.
    Unknown,
    /// All threads of the launch.
    Threads,
    /// Blocks along an axis (0 to 2), or all of them (3).
    Grid(u8),
    /// Threads of a block along an axis (0 to 2), or all of them (3).
    Block(u8),
    /// Dynamic shared memory of a block in bytes.
    Shared,
    /// The value of a parameter, by index.
    Value(usize),
    /// The length of a parameter, by index.
    Len(usize),
    /// An operator with one operand.
    Unary(Unary, Box<Term>),
    /// An operator with two operands.
    Binary(Binary, Box<Term>, Box<Term>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-x`
    Neg,
    /// `!x`
    Not,
    /// `x.is_power_of_two()`
    IsPowerOfTwo,
    /// `x as T`: wraps to a number of bits.
    Cast {
        /// The bits of the type.
        bits: u8,
        /// Whether it is signed.
        signed: bool,
    },
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the operators are named as in `std::ops`")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Min,
    Max,
    DivCeil,
    IsMultipleOf,
}

/// The values that a contract is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared: u32,
    /// For each parameter, its value, or its length.
    pub arguments: Vec<i128>,
}

/// The value of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Int(i128),
    Bool(bool),
}

impl Launch {
    /// Whether a contract holds; `None` if it is not known.
    pub(super) fn admits(&self, term: &Term) -> Option<bool> {
        match self.evaluate(term)? {
            Outcome::Bool(holds) => Some(holds),
            Outcome::Int(_) => None,
        }
    }

    /// The value of a term that is a number; `None` if it is not known.
    pub(super) fn number(&self, term: &Term) -> Option<i128> {
        match self.evaluate(term)? {
            Outcome::Int(value) => Some(value),
            Outcome::Bool(_) => None,
        }
    }

    fn evaluate(&self, term: &Term) -> Option<Outcome> {
        let product = |sides: [u32; 3]| sides.iter().map(|&side| i128::from(side)).product::<i128>();
        let axis = |sides: [u32; 3], axis: u8| match sides.get(usize::from(axis)) {
            Some(&side) => i128::from(side),
            None => product(sides),
        };
        Some(match term {
            Term::Int(value) => Outcome::Int(*value),
            Term::Bool(value) => Outcome::Bool(*value),
            Term::Unknown => return None,
            Term::Threads => Outcome::Int(product(self.grid) * product(self.block)),
            Term::Grid(number) => Outcome::Int(axis(self.grid, *number)),
            Term::Block(number) => Outcome::Int(axis(self.block, *number)),
            Term::Shared => Outcome::Int(self.shared.into()),
            Term::Value(index) | Term::Len(index) => Outcome::Int(*self.arguments.get(*index)?),
            Term::Unary(op, operand) => match (op, self.evaluate(operand)?) {
                (Unary::Neg, Outcome::Int(value)) => Outcome::Int(value.checked_neg()?),
                (Unary::Not, Outcome::Bool(value)) => Outcome::Bool(!value),
                (Unary::IsPowerOfTwo, Outcome::Int(value)) => Outcome::Bool(value > 0 && value.count_ones() == 1),
                (Unary::Cast { bits, signed }, Outcome::Int(value)) if *bits < 128 => {
                    let unused = 128 - u32::from(*bits);
                    let shifted = value << unused;
                    Outcome::Int(if *signed {
                        shifted >> unused
                    } else {
                        i128::try_from(shifted as u128 >> unused).ok()?
                    })
                }
                _ => return None,
            },
            Term::Binary(op, left, right) => return self.binary(*op, left, right),
        })
    }

    fn binary(&self, op: Binary, left: &Term, right: &Term) -> Option<Outcome> {
        let (left, right) = (self.evaluate(left), self.evaluate(right));
        let decided = |value: bool| [left, right].contains(&Some(Outcome::Bool(value)));
        match op {
            Binary::And if decided(false) => return Some(Outcome::Bool(false)),
            Binary::Or if decided(true) => return Some(Outcome::Bool(true)),
            _ => {}
        }
        let (a, b) = match (left?, right?) {
            (Outcome::Int(a), Outcome::Int(b)) => (a, b),
            (Outcome::Bool(a), Outcome::Bool(b)) => {
                return Some(Outcome::Bool(match op {
                    Binary::And | Binary::BitAnd => a && b,
                    Binary::Or | Binary::BitOr => a || b,
                    Binary::Eq => a == b,
                    Binary::Ne | Binary::BitXor => a != b,
                    _ => return None,
                }));
            }
            _ => return None,
        };
        Some(match op {
            Binary::Add => Outcome::Int(a.checked_add(b)?),
            Binary::Sub => Outcome::Int(a.checked_sub(b)?),
            Binary::Mul => Outcome::Int(a.checked_mul(b)?),
            Binary::Div => Outcome::Int(a.checked_div(b)?),
            Binary::Rem => Outcome::Int(a.checked_rem(b)?),
            Binary::Shl if (0..64).contains(&b) => Outcome::Int(a.checked_mul(1 << b)?),
            Binary::Shr if (0..128).contains(&b) => Outcome::Int(a >> b),
            Binary::BitAnd => Outcome::Int(a & b),
            Binary::BitOr => Outcome::Int(a | b),
            Binary::BitXor => Outcome::Int(a ^ b),
            Binary::Min => Outcome::Int(a.min(b)),
            Binary::Max => Outcome::Int(a.max(b)),
            Binary::DivCeil if a >= 0 && b > 0 => Outcome::Int(a.checked_add(b - 1)? / b),
            Binary::IsMultipleOf => Outcome::Bool(a.checked_rem(b)? == 0),
            Binary::Eq => Outcome::Bool(a == b),
            Binary::Ne => Outcome::Bool(a != b),
            Binary::Lt => Outcome::Bool(a < b),
            Binary::Le => Outcome::Bool(a <= b),
            Binary::Gt => Outcome::Bool(a > b),
            Binary::Ge => Outcome::Bool(a >= b),
            Binary::Shl | Binary::Shr | Binary::DivCeil | Binary::And | Binary::Or => return None,
        })
    }
}

/// The polynomials of the values that contracts are about.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) grid: [Poly; 3],
    pub(super) block: [Poly; 3],
    pub(super) shared: Poly,
    /// For each parameter, its value or its length; `None` if that is not known.
    pub(super) arguments: Vec<Option<Poly>>,
}

impl Names {
    /// Adds the facts of a contract that holds.
    pub(super) fn assume(&self, facts: &mut Facts, term: &Term) {
        if let Some(condition) = self.condition(facts, term) {
            facts.assume(EVERYWHERE, &condition, true);
        }
        self.assume_multiples(facts, term);
    }

    /// `n.is_multiple_of(8)`
    fn assume_multiples(&self, facts: &mut Facts, term: &Term) {
        match term {
            Term::Binary(Binary::And, left, right) => {
                self.assume_multiples(facts, left);
                self.assume_multiples(facts, right);
            }
            Term::Binary(Binary::IsMultipleOf, value, divisor) => {
                let (value, divisor) = (self.number(facts, value), self.number(facts, divisor));
                if let Some(symbol) = value.and_then(|value| value.as_symbol())
                    && let Some(divisor) = divisor.and_then(|divisor| divisor.value())
                    && divisor > 1
                {
                    facts.info_mut(symbol).multiple = divisor;
                    if let Some(quotient) = facts.quotient(&Poly::symbol(symbol), &Poly::constant(divisor))
                        && let Some(difference) = quotient
                            .scaled(divisor)
                            .and_then(|product| product.minus(&Poly::symbol(symbol)))
                    {
                        facts.is_0(EVERYWHERE, &difference);
                    }
                }
            }
            _ => {}
        }
    }

    fn condition(&self, facts: &mut Facts, term: &Term) -> Option<Rc<Condition>> {
        Some(Rc::new(match term {
            Term::Bool(value) => Condition::Constant(*value),
            Term::Unary(Unary::Not, inner) => return Some(self.condition(facts, inner)?.not()),
            Term::Binary(Binary::And, left, right) => {
                let unknown = || Rc::new(Condition::Unknown);
                Condition::And(
                    self.condition(facts, left).unwrap_or_else(unknown),
                    self.condition(facts, right).unwrap_or_else(unknown),
                )
            }
            Term::Binary(Binary::Or, left, right) => {
                Condition::Or(self.condition(facts, left)?, self.condition(facts, right)?)
            }
            Term::Binary(op, left, right) => {
                let (a, b) = (self.number(facts, left)?, self.number(facts, right)?);
                match op {
                    Binary::Eq => Condition::IsZero(a.minus(&b)?, 126, a.minus(&b)?),
                    Binary::Ne => return Some(Rc::new(Condition::IsZero(a.minus(&b)?, 126, a.minus(&b)?)).not()),
                    Binary::Lt => Condition::AtLeast0(b.minus(&a)?.plus_constant(-1)?),
                    Binary::Le => Condition::AtLeast0(b.minus(&a)?),
                    Binary::Gt => Condition::AtLeast0(a.minus(&b)?.plus_constant(-1)?),
                    Binary::Ge => Condition::AtLeast0(a.minus(&b)?),
                    _ => Condition::Unknown,
                }
            }
            _ => Condition::Unknown,
        }))
    }

    fn number(&self, facts: &mut Facts, term: &Term) -> Option<Poly> {
        let product = |sides: &[Poly; 3]| sides[0].times(&sides[1])?.times(&sides[2]);
        let axis = |sides: &[Poly; 3], axis: u8| match sides.get(usize::from(axis)) {
            Some(side) => Some(side.clone()),
            None => product(sides),
        };
        match term {
            Term::Int(value) => Some(Poly::constant(*value)),
            Term::Threads => product(&self.grid)?.times(&product(&self.block)?),
            Term::Grid(number) => axis(&self.grid, *number),
            Term::Block(number) => axis(&self.block, *number),
            Term::Shared => Some(self.shared.clone()),
            Term::Value(index) | Term::Len(index) => self.arguments.get(*index)?.clone(),
            Term::Unary(Unary::Neg, operand) => self.number(facts, operand)?.negated(),
            Term::Unary(Unary::Cast { bits, signed }, operand) => {
                let value = self.number(facts, operand)?;
                facts.number(EVERYWHERE, &value, u32::from(*bits), *signed)
            }
            Term::Binary(op, left, right) => {
                let (a, b) = (self.number(facts, left)?, self.number(facts, right)?);
                match op {
                    Binary::Add => a.plus(&b),
                    Binary::Sub => a.minus(&b),
                    Binary::Mul => a.times(&b),
                    Binary::Shl => a.scaled(1 << b.value().filter(|by| (0..64).contains(by))?),
                    Binary::Shr => {
                        facts.quotient(&a, &Poly::constant(1 << b.value().filter(|by| (0..100).contains(by))?))
                    }
                    Binary::Div | Binary::Rem | Binary::DivCeil => {
                        let is_plain =
                            facts.proves(EVERYWHERE, &a) && facts.proves_sum(EVERYWHERE, Some(b.clone()), -1);
                        if !is_plain {
                            return None;
                        }
                        match op {
                            Binary::Div => facts.quotient(&a, &b),
                            Binary::Rem => a.minus(&facts.quotient(&a, &b)?.times(&b)?),
                            _ => facts.quotient(&a.plus(&b)?.plus_constant(-1)?, &b),
                        }
                    }
                    Binary::Min | Binary::Max => {
                        let (low, high) = (facts.range(&a), facts.range(&b));
                        let least = low
                            .0
                            .zip(high.0)
                            .map(|(a, b)| if *op == Binary::Min { a.min(b) } else { a.max(b) });
                        let symbol = facts.free(least, None)?;
                        let value = Poly::symbol(symbol);
                        for side in [a, b] {
                            let fact = match op {
                                Binary::Min => side.minus(&value),
                                _ => value.minus(&side),
                            };
                            facts.info_mut(symbol).facts.extend(fact);
                        }
                        Some(value)
                    }
                    _ => None,
                }
            }
            Term::Bool(_) | Term::Unknown | Term::Unary(..) => None,
        }
    }
}
