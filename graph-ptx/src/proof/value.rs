//! The values of registers: numbers and addresses as polynomials, and predicates as conditions on polynomials.
//!
//! A register of n bits is known modulo two to the power of n: additions, subtractions and products are those of the
//! polynomials, whether they wrap around or not. Where the bits are read as a number (a comparison, a conversion to
//! more bits, a division), [`Facts::unsigned`] and [`Facts::signed`] make that number: the polynomial itself if the
//! facts show that it is in range, else a new symbol in the range of the type.

use super::facts::{EVERYWHERE, Facts, Meaning, Place};
use super::poly::{Monomial, Poly, Symbol};
use crate::ast::{Body, Module, Space, Variable};
use std::rc::Rc;

/// The memory that an address is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Memory {
    /// The memory of a parameter.
    Param(usize),
    /// A variable of the module or of the kernel, by its address in its own space.
    Variable(String),
    /// A variable, by its generic address.
    Generic(String),
}

impl Memory {
    /// The memory by the only name that two addresses in it share: a generic address of a variable is in the variable,
    /// and all arrays of dynamic shared memory begin at one address.
    pub(super) fn itself(&self, module: &Module, body: &Body) -> Self {
        let (Self::Variable(name) | Self::Generic(name)) = self else {
            return self.clone();
        };
        let is_dynamic = |variable: &&Variable| variable.space == Space::Shared && variable.size == 0;
        let dynamic = variable(module, body, name).filter(is_dynamic);
        let first = dynamic.and_then(|_| variables(module, body).find(is_dynamic));
        Self::Variable(first.map_or(name, |first| &first.name).clone())
    }
}

/// The variables of a kernel, then those of its module.
pub(super) fn variables<'m>(module: &'m Module, body: &'m Body) -> impl Iterator<Item = &'m Variable> {
    body.variables.iter().chain(&module.variables)
}

/// The variable that a kernel knows by this name.
pub(super) fn variable<'m>(module: &'m Module, body: &'m Body, name: &str) -> Option<&'m Variable> {
    variables(module, body).find(|variable| variable.name == name)
}

/// The value of a register.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// A number, modulo two to the power of the register's bits.
    Number(Rc<Poly>),
    /// An address: bytes after the beginning of memory.
    Address(Memory, Rc<Poly>),
    /// An address in one of several memories, each with the place whose facts hold if it is that one.
    OneOf(Rc<Vec<(Place, Memory, Rc<Poly>)>>),
    /// A predicate.
    Truth(Rc<Condition>),
    /// Any bits.
    Unknown,
}

/// The most memories that an address may be in.
const MAX_MEMORIES: usize = 4;

impl Value {
    /// The address that has one of these values; `None` if some are none, or if they are too many.
    pub(super) fn one_of(options: &[(Place, &Value)]) -> Option<Value> {
        let mut all = Vec::new();
        for (place, value) in options {
            match value {
                Self::Address(memory, poly) => all.push((*place, memory.clone(), Rc::clone(poly))),
                // The facts of the inner choice are lost: those of the outer one hold in any case.
                Self::OneOf(inner) => {
                    all.extend(
                        inner
                            .iter()
                            .map(|(_, memory, poly)| (*place, memory.clone(), Rc::clone(poly))),
                    );
                }
                _ => return None,
            }
        }
        (all.len() <= MAX_MEMORIES).then(|| Self::OneOf(Rc::new(all)))
    }

    /// The address with another offset in each of its memories; `None` if it is no address, or if one has none.
    pub(super) fn with_offset(&self, offset: impl Fn(&Poly) -> Option<Poly>) -> Option<Value> {
        match self {
            Self::Address(memory, poly) => Some(Self::Address(memory.clone(), Rc::new(offset(poly)?))),
            Self::OneOf(all) => {
                let all = all
                    .iter()
                    .map(|(place, memory, poly)| Some((*place, memory.clone(), Rc::new(offset(poly)?))));
                Some(Self::OneOf(Rc::new(all.collect::<Option<_>>()?)))
            }
            _ => None,
        }
    }
}

/// A condition on values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Constant(bool),
    /// The polynomial is at least 0.
    AtLeast0(Poly),
    /// The polynomial is 0 modulo two to the power of `bits`. The second one is 0 exactly if the condition holds.
    IsZero(Poly, u32, Poly),
    Not(Rc<Condition>),
    And(Rc<Condition>, Rc<Condition>),
    Or(Rc<Condition>, Rc<Condition>),
    Unknown,
}

impl Condition {
    pub(super) fn not(self: &Rc<Self>) -> Rc<Self> {
        match &**self {
            Self::Constant(value) => Rc::new(Self::Constant(!value)),
            Self::Not(inner) => Rc::clone(inner),
            _ => Rc::new(Self::Not(Rc::clone(self))),
        }
    }
}

/// A type of integers in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Int {
    pub(super) bits: u32,
    pub(super) signed: bool,
}

/// The type of integers or of bits that a modifier names.
pub(super) fn int(modifier: &str) -> Option<Int> {
    let (kind, bits) = modifier.split_at_checked(1)?;
    let bits = match bits {
        "8" => 8,
        "16" => 16,
        "32" => 32,
        "64" => 64,
        _ => return None,
    };
    match kind {
        "u" | "b" => Some(Int { bits, signed: false }),
        "s" => Some(Int { bits, signed: true }),
        _ => None,
    }
}

/// The range of numbers of so many bits.
pub(super) fn range_of(bits: u32, signed: bool) -> (i128, i128) {
    let bits = bits.min(100);
    if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

impl Facts {
    /// The number that the low bits of a value are.
    pub(super) fn number(&mut self, place: Place, value: &Poly, bits: u32, signed: bool) -> Option<Poly> {
        let (least, most) = range_of(bits, signed);
        let given = value.clone().reduced(bits);
        if let Some(constant) = given.value() {
            let wrapped = constant.rem_euclid(1 << bits.min(100));
            return Some(Poly::constant(if wrapped > most {
                wrapped - (1 << bits.min(100))
            } else {
                wrapped
            }));
        }
        let is_most = self.shows(place, given.negated(), most);
        let is_least = self.shows(place, Some(given.clone()), -least);
        // The same value, as it was before it wrapped around for the last time.
        let value = self.unwrapped(&given, bits);
        if is_least && is_most {
            self.link(place, &given, &value, bits, signed);
            return Some(given);
        }
        if value != given && self.shows(place, value.negated(), most) && self.shows(place, Some(value.clone()), -least)
        {
            return Some(value);
        }
        let meaning = Meaning::Wrapped {
            value: value.clone(),
            bits,
            signed,
        };
        // Both readings are one number if the top bit is clear.
        let other = Meaning::Wrapped {
            value: value.clone(),
            bits,
            signed: !signed,
        };
        if let Some(other) = self.find(&other) {
            let other = Poly::symbol(other);
            let is_same = match signed {
                true => self.shows(place, other.negated(), most),
                false => self.shows(place, Some(other.clone()), 0),
            };
            if is_same {
                return Some(other);
            }
        }
        if self.find(&meaning).is_none()
            && let Some(number) = self.beside(place, &value, bits, signed)
        {
            return Some(number);
        }
        let (symbol, is_new) = self.meaning(meaning, Some(least), Some(most))?;
        let number = Poly::symbol(symbol);
        if is_new {
            let multiple = self.multiple(&value);
            // Wrapping around keeps what a power of two divides.
            let power = multiple & multiple.wrapping_neg();
            let power = power.clamp(1, 1 << bits.min(64));
            self.info_mut(symbol).multiple = power;
            self.info_mut(symbol).high = Some(most - most.rem_euclid(power));
        }
        if is_least {
            self.at_least_0(place, given.minus(&number));
        }
        if is_most {
            self.at_least_0(place, number.minus(&given));
        }
        if value != given && self.shows(place, Some(value.clone()), -least) {
            self.at_least_0(place, value.minus(&number));
        }
        Some(number)
    }

    /// The number as another one and a constant: `i + 1` of an `i` that is known to be less than the greatest.
    fn beside(&mut self, place: Place, value: &Poly, bits: u32, signed: bool) -> Option<Poly> {
        let (least, most) = range_of(bits, signed);
        let (last, constant) = *value.terms().last()?;
        if last != Monomial::ONE {
            return None;
        }
        let rest = value.plus_constant(-constant)?;
        [signed, !signed].into_iter().find_map(|signed| {
            let meaning = Meaning::Wrapped {
                value: rest.clone(),
                bits,
                signed,
            };
            let number = Poly::symbol(self.find(&meaning)?).plus_constant(constant)?;
            let fits = self.shows(place, number.negated(), most) && self.shows(place, Some(number.clone()), -least);
            fits.then_some(number)
        })
    }

    /// The value modulo two to the power of `bits`, without the symbols that are the remainder of another value by as
    /// many bits or more.
    pub(super) fn unwrapped(&self, value: &Poly, bits: u32) -> Poly {
        let is_wrapped = |symbol: Symbol| match &self.info(symbol).meaning {
            Meaning::Wrapped { value, bits: own, .. } if *own >= bits => Some(value.clone()),
            _ => None,
        };
        if value.symbols().iter().all(|&symbol| is_wrapped(symbol).is_none()) {
            return value.clone();
        }
        let replaced = value.replace(&is_wrapped).map(|replaced| replaced.reduced(bits));
        replaced.unwrap_or_else(|| value.clone())
    }

    /// Tells the symbol of a number, if there is one, that the number is this value.
    fn link(&mut self, place: Place, given: &Poly, value: &Poly, bits: u32, signed: bool) {
        let meaning = Meaning::Wrapped {
            value: value.clone(),
            bits,
            signed,
        };
        if let Some(symbol) = self.find(&meaning)
            && let Some(difference) = given.minus(&Poly::symbol(symbol))
            && given.as_symbol() != Some(symbol)
        {
            self.is_0(place, &difference);
        }
    }

    pub(super) fn unsigned(&mut self, place: Place, value: &Poly, bits: u32) -> Option<Poly> {
        self.number(place, value, bits, false)
    }

    pub(super) fn signed(&mut self, place: Place, value: &Poly, bits: u32) -> Option<Poly> {
        self.number(place, value, bits, true)
    }

    /// The quotient, rounded down, of a value by a divisor that is certainly positive.
    pub(super) fn quotient(&mut self, value: &Poly, divisor: &Poly) -> Option<Poly> {
        if let Some(number) = divisor.value() {
            if number <= 0 {
                return None;
            }
            if let Some(value) = value.value() {
                return Some(Poly::constant(value.div_euclid(number)));
            }
            // The terms that the divisor divides are taken out.
            let (mut whole, mut rest) = (Poly::default(), Poly::default());
            for (monomial, coefficient) in value.terms() {
                let part = Poly::constant(1);
                let inner = coefficient.div_euclid(number);
                let outer = coefficient.rem_euclid(number);
                if outer == 0 {
                    whole = whole.combine(1, &part, monomial, inner)?;
                } else {
                    rest = rest.combine(1, &part, monomial, *coefficient)?;
                }
            }
            if rest == Poly::default() {
                return Some(whole);
            }
            let (low, high) = self.range(&rest);
            if low.is_some_and(|low| low >= 0) && high.is_some_and(|high| high < number) {
                return Some(whole);
            }
            return self.plain_quotient(&rest, divisor)?.plus(&whole);
        }
        self.plain_quotient(value, divisor)
    }

    fn plain_quotient(&mut self, value: &Poly, divisor: &Poly) -> Option<Poly> {
        let number = divisor.value();
        if let Some(number) = number
            && let Some((value, divisor)) = self.by_reciprocal(value, number)
        {
            return self.quotient(&value, &Poly::constant(divisor));
        }
        let (low, high) = self.range(value);
        let at_least_1 = number.unwrap_or(1);
        let low = low.map(|low| {
            if low >= 0 && number.is_none() {
                0
            } else {
                low.div_euclid(at_least_1)
            }
        });
        let high = high.map(|high| if high < 0 { -1 } else { high.div_euclid(at_least_1) });
        let low = if number.is_none() && low.is_some_and(|low| low < 0) {
            None
        } else {
            low
        };
        let meaning = Meaning::Quotient {
            value: value.clone(),
            divisor: divisor.clone(),
        };
        let (symbol, is_new) = self.meaning(meaning, low, high)?;
        let quotient = Poly::symbol(symbol);
        if is_new {
            let product = quotient.times(divisor)?;
            let rest = value.minus(&product)?;
            let below = divisor.minus(&rest).and_then(|below| below.plus_constant(-1));
            let facts = [Some(rest), below].into_iter().flatten().map(Poly::tightened);
            self.info_mut(symbol).facts.extend(facts);
        }
        Some(quotient)
    }

    /// The division that a product with a reciprocal and a shift stands for: `n * m / 2^s` is `n / d` for all `n` in
    /// its range if `m = (2^s + e) / d`, `e >= 0` and `e * n < 2^s`.
    fn by_reciprocal(&self, value: &Poly, shifted: i128) -> Option<(Poly, i128)> {
        let factor = value.content();
        if factor < 3 || shifted.count_ones() != 1 || shifted < 1 << 16 {
            return None;
        }
        let value = value.divided(factor)?;
        let (low, high) = self.range(&value);
        let most = high.filter(|_| low.is_some_and(|low| low >= 0))?;
        let divisor = (shifted + factor - 1) / factor;
        let excess = factor.checked_mul(divisor)?.checked_sub(shifted)?;
        let fits = divisor > 1 && excess >= 0 && excess.checked_mul(most)? < shifted;
        fits.then_some((value, divisor))
    }

    /// A new symbol for any number of so many bits.
    pub(super) fn any(&mut self, bits: u32, signed: bool) -> Option<Poly> {
        let (low, high) = range_of(bits, signed);
        Some(Poly::symbol(self.free(Some(low), Some(high))?))
    }

    /// Adds the facts of a condition, or of its opposite, to a place. Returns whether the place can be reached.
    pub(super) fn assume(&mut self, place: Place, condition: &Condition, holds: bool) -> bool {
        match condition {
            Condition::Constant(value) => return *value == holds,
            Condition::AtLeast0(poly) => {
                let fact = if holds {
                    Some(poly.clone())
                } else {
                    poly.negated().and_then(|poly| poly.plus_constant(-1))
                };
                if let Some(value) = fact.as_ref().and_then(Poly::value) {
                    return value >= 0;
                }
                let opposite = fact.as_ref().and_then(Poly::negated);
                if self.shows(place, opposite, -1) {
                    return false;
                }
                self.at_least_0(place, fact);
            }
            Condition::IsZero(poly, bits, exact) => {
                let negated = exact.negated();
                let cannot = if holds {
                    self.shows(place, Some(exact.clone()), -1) || self.shows(place, negated, -1)
                } else {
                    self.shows(place, Some(exact.clone()), 0) && self.shows(place, negated, 0)
                };
                if cannot {
                    return false;
                }
                self.assume_zero(place, poly, *bits, exact, holds);
            }
            Condition::Not(inner) => return self.assume(place, inner, !holds),
            Condition::And(a, b) if holds => return self.assume(place, a, true) && self.assume(place, b, true),
            Condition::Or(a, b) if !holds => return self.assume(place, a, false) && self.assume(place, b, false),
            Condition::And(..) | Condition::Or(..) | Condition::Unknown => {}
        }
        true
    }

    fn assume_zero(&mut self, place: Place, poly: &Poly, bits: u32, exact: &Poly, holds: bool) {
        let most = range_of(bits, false).1;
        if holds {
            self.is_0(place, exact);
            if poly != exact
                && self.proves_sum(place, Some(poly.clone()), most)
                && self.proves_sum(place, poly.negated(), most)
            {
                self.is_0(place, poly);
            }
            return;
        }
        for poly in [exact, poly] {
            if self.proves(place, poly) {
                self.at_least_0(place, poly.plus_constant(-1));
            } else if poly.negated().is_some_and(|negated| self.proves(place, &negated)) {
                self.at_least_0(place, poly.negated().and_then(|negated| negated.plus_constant(-1)));
            }
            self.is_not_0(place, poly.clone());
        }
    }

    /// Adds a fact that holds everywhere.
    pub(super) fn always(&mut self, fact: Option<Poly>) {
        self.at_least_0(EVERYWHERE, fact);
    }
}
