//! Polynomials with integer coefficients over symbols: the values that registers have, and the facts about them.

use std::hash::{Hash, Hasher};

/// The number of a symbol, from 1. A symbol that depends on another one has a higher number.
pub(super) type Symbol = u16;

/// The most symbols that a monomial is a product of.
const MAX_DEGREE: usize = 8;

/// The most terms of a polynomial.
const MAX_TERMS: usize = 48;

/// The bits of a symbol in a monomial.
const BITS: u32 = Symbol::BITS;
/// The place of the highest symbol in a monomial.
const TOP: u32 = u128::BITS - BITS;

/// A product of symbols: the highest first, then zeros, in the bits of one number. So the order of monomials is that of
/// their highest symbols, and a product with another monomial keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Monomial(u128);

/// The symbols of a monomial, the highest first.
pub(super) struct Symbols(u128);

impl Iterator for Symbols {
    type Item = Symbol;

    fn next(&mut self) -> Option<Symbol> {
        let symbol = (self.0 >> TOP) as Symbol;
        self.0 <<= BITS;
        (symbol != 0).then_some(symbol)
    }
}

/// Symbols from the highest on that become a monomial.
#[derive(Default)]
struct Growing {
    symbols: u128,
    degree: usize,
}

impl Growing {
    fn push(&mut self, symbol: u128) {
        self.symbols |= symbol << (TOP - self.degree as u32 * BITS);
        self.degree += 1;
    }
}

impl Monomial {
    /// The empty product.
    pub(super) const ONE: Self = Self(0);

    pub(super) fn of(symbol: Symbol) -> Self {
        Self(u128::from(symbol) << TOP)
    }

    /// Its symbols, the highest first; a square has its symbol twice.
    pub(super) fn symbols(&self) -> Symbols {
        Symbols(self.0)
    }

    /// Its highest symbol; 0 if it has none.
    pub(super) fn highest(&self) -> Symbol {
        (self.0 >> TOP) as Symbol
    }

    pub(super) fn has(&self, symbol: Symbol) -> bool {
        let mut rest = self.0;
        while rest != 0 {
            if (rest >> TOP) as Symbol == symbol {
                return true;
            }
            rest <<= BITS;
        }
        false
    }

    /// Its symbol, if it has only one.
    pub(super) fn single(&self) -> Option<Symbol> {
        (self.0 != 0 && self.0 << BITS == 0).then_some((self.0 >> TOP) as Symbol)
    }

    /// The product; `None` if it has too many symbols.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let (mut a, mut b) = (self.0, other.0);
        if a == 0 || b == 0 {
            return Some(Self(a | b));
        }
        let mut product = Growing::default();
        while a != 0 || b != 0 {
            if product.degree == MAX_DEGREE {
                return None;
            }
            let next = if a >> TOP >= b >> TOP { &mut a } else { &mut b };
            product.push(*next >> TOP);
            *next <<= BITS;
        }
        Some(Self(product.symbols))
    }

    /// The two parts that are left when both are divided by their greatest common divisor.
    pub(super) fn without_common(&self, other: &Self) -> (Self, Self) {
        let (mut a, mut b) = (self.0, other.0);
        let (mut own, mut others) = (Growing::default(), Growing::default());
        while a != 0 || b != 0 {
            let (first, second) = (a >> TOP, b >> TOP);
            if first >= second {
                a <<= BITS;
            }
            if second >= first {
                b <<= BITS;
            }
            match first.cmp(&second) {
                std::cmp::Ordering::Greater => own.push(first),
                std::cmp::Ordering::Less => others.push(second),
                std::cmp::Ordering::Equal => {}
            }
        }
        (Self(own.symbols), Self(others.symbols))
    }
}

/// A sum of monomials with coefficients that are not 0, the highest monomial first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Poly {
    terms: Vec<(Monomial, i128)>,
}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.fingerprint());
    }
}

impl Poly {
    pub(super) fn constant(value: i128) -> Self {
        let terms = (value != 0).then_some((Monomial::ONE, value));
        Self {
            terms: terms.into_iter().collect(),
        }
    }

    pub(super) fn symbol(symbol: Symbol) -> Self {
        Self {
            terms: vec![(Monomial::of(symbol), 1)],
        }
    }

    /// A symbol times a number that is not 0, and a constant.
    pub(super) fn linear(symbol: Symbol, factor: i128, constant: i128) -> Self {
        let mut terms = Vec::with_capacity(2);
        terms.push((Monomial::of(symbol), factor));
        if constant != 0 {
            terms.push((Monomial::ONE, constant));
        }
        Self { terms }
    }

    /// Its value, if it has no symbols.
    pub(super) fn value(&self) -> Option<i128> {
        match self.terms[..] {
            [] => Some(0),
            [(Monomial::ONE, value)] => Some(value),
            _ => None,
        }
    }

    pub(super) fn terms(&self) -> &[(Monomial, i128)] {
        &self.terms
    }

    /// The highest monomial with symbols.
    pub(super) fn top(&self) -> Option<(Monomial, i128)> {
        match self.terms[..] {
            [top, ..] if top.0.0 != 0 => Some(top),
            _ => None,
        }
    }

    /// A number that two polynomials most often share only if they are equal.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = 0_u64;
        for &(monomial, coefficient) in &self.terms {
            let word = monomial.0 ^ (coefficient as u128).rotate_left(64);
            hash = mixed(hash, (word >> 64) as u64);
            hash = mixed(hash, word as u64);
        }
        hash ^ (hash >> 32)
    }

    /// All symbols, the highest first, each once.
    pub(super) fn symbols(&self) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = Vec::new();
        for (monomial, _) in &self.terms {
            for symbol in monomial.symbols() {
                if let Err(at) = symbols.binary_search_by(|known| symbol.cmp(known)) {
                    symbols.insert(at, symbol);
                }
            }
        }
        symbols
    }

    /// Whether it is this symbol alone.
    pub(super) fn as_symbol(&self) -> Option<Symbol> {
        match self.terms[..] {
            [(monomial, 1)] => monomial.single(),
            _ => None,
        }
    }

    /// The sum of `own * self` and `others * monomial * other`; `None` if a coefficient does not fit.
    pub(super) fn combine(&self, own: i128, other: &Self, monomial: &Monomial, others: i128) -> Option<Self> {
        // Plain loops: this is most of the work of a proof, and runs without optimisation.
        let (left, right) = (&self.terms[..], &other.terms[..]);
        let mut terms = Vec::with_capacity(left.len() + right.len());
        let (mut at, mut from) = (0, 0);
        // The next term of the other side, once it is known.
        let mut next = (Monomial::ONE, 0_i128);
        let mut is_known = false;
        while at < left.len() || from < right.len() {
            if !is_known && from < right.len() {
                let (known, coefficient) = right[from];
                next = (known.times(monomial)?, product(coefficient, others)?);
                is_known = true;
            }
            // The order of terms is that of monomials, also after a product with another one.
            let takes_left = at < left.len() && (from == right.len() || left[at].0.0 >= next.0.0);
            let takes_right = from < right.len() && (at == left.len() || left[at].0.0 <= next.0.0);
            let mut term = next;
            if takes_left {
                let (known, coefficient) = left[at];
                let coefficient = product(coefficient, own)?;
                term = (
                    known,
                    if takes_right {
                        coefficient.checked_add(next.1)?
                    } else {
                        coefficient
                    },
                );
                at += 1;
            }
            if takes_right {
                from += 1;
                is_known = false;
            }
            if term.1 != 0 {
                terms.push(term);
            }
        }
        (terms.len() <= MAX_TERMS).then_some(Self { terms })
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        self.combine(1, other, &Monomial::ONE, 1)
    }

    pub(super) fn minus(&self, other: &Self) -> Option<Self> {
        self.combine(1, other, &Monomial::ONE, -1)
    }

    pub(super) fn plus_constant(&self, value: i128) -> Option<Self> {
        self.plus(&Self::constant(value))
    }

    pub(super) fn scaled(&self, factor: i128) -> Option<Self> {
        Self::default().combine(1, self, &Monomial::ONE, factor)
    }

    pub(super) fn negated(&self) -> Option<Self> {
        self.scaled(-1)
    }

    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (monomial, coefficient) in &other.terms {
            product = product.combine(1, self, monomial, *coefficient)?;
        }
        Some(product)
    }

    /// The polynomial with other polynomials in the places of some symbols.
    pub(super) fn replace(&self, with: &dyn Fn(Symbol) -> Option<Poly>) -> Option<Self> {
        let mut sum = Self::default();
        for (monomial, coefficient) in &self.terms {
            let mut term = Self::constant(*coefficient);
            let mut kept = Monomial::ONE;
            for symbol in monomial.symbols() {
                match with(symbol) {
                    Some(value) => term = term.times(&value)?,
                    None => kept = kept.times(&Monomial::of(symbol))?,
                }
            }
            sum = sum.combine(1, &term, &kept, 1)?;
        }
        Some(sum)
    }

    /// Whether it has this symbol.
    pub(super) fn has(&self, symbol: Symbol) -> bool {
        self.terms.iter().any(|(monomial, _)| monomial.has(symbol))
    }

    /// The greatest common divisor of all coefficients; 0 for the polynomial 0.
    pub(super) fn content(&self) -> i128 {
        self.terms.iter().fold(0, |divisor, (_, next)| gcd(divisor, *next))
    }

    /// The quotient, if `divisor` divides every coefficient.
    pub(super) fn divided(&self, divisor: i128) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (_, coefficient) in &mut terms {
            if divisor == 0 || *coefficient % divisor != 0 {
                return None;
            }
            *coefficient /= divisor;
        }
        Some(Self { terms })
    }

    /// The strongest polynomial that is at least 0 exactly where this one is: without a common factor of the
    /// coefficients of symbols, and with the constant rounded down.
    pub(super) fn tightened(mut self) -> Self {
        let mut divisor = 0;
        for &(monomial, next) in &self.terms {
            if monomial.0 == 0 {
                continue;
            }
            if next == 1 || next == -1 {
                return self;
            }
            divisor = gcd(divisor, next);
            if divisor == 1 {
                return self;
            }
        }
        if divisor > 1 {
            for (_, coefficient) in &mut self.terms {
                *coefficient = coefficient.div_euclid(divisor);
            }
            self.terms.retain(|(_, coefficient)| *coefficient != 0);
        }
        self
    }

    /// The polynomial of the same value modulo two to the power of `bits`, with the least coefficients.
    pub(super) fn reduced(mut self, bits: u32) -> Self {
        if bits >= 120 {
            return self;
        }
        let modulus = 1_i128 << bits;
        for (_, coefficient) in &mut self.terms {
            if -modulus / 2 < *coefficient && *coefficient <= modulus / 2 {
                continue;
            }
            let rest = coefficient.rem_euclid(modulus);
            *coefficient = if rest > modulus / 2 { rest - modulus } else { rest };
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self
    }
}

fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The product, which most often is one with 1.
pub(super) fn product(coefficient: i128, factor: i128) -> Option<i128> {
    if factor == 1 {
        return Some(coefficient);
    }
    if coefficient == 1 {
        return Some(factor);
    }
    coefficient.checked_mul(factor)
}

/// The greatest common divisor, which is positive unless both are 0.
pub(super) fn gcd(mut a: i128, mut b: i128) -> i128 {
    if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a.unsigned_abs()), u64::try_from(b.unsigned_abs())) {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        return a.into();
    }
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a.checked_abs().unwrap_or(1)
}
