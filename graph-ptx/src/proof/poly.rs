//! Polynomials with integer coefficients over symbols: the values that registers have, and the facts about them.

/// The number of a symbol, from 1. A symbol that depends on another one has a higher number.
pub(super) type Symbol = u16;

/// The most symbols that a monomial is a product of.
const MAX_DEGREE: usize = 8;

/// The most terms of a polynomial.
const MAX_TERMS: usize = 48;

/// A product of symbols: the highest first, then zeros. So the order of monomials is that of their highest symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Monomial([Symbol; MAX_DEGREE]);

impl Monomial {
    /// The empty product.
    pub(super) const ONE: Self = Self([0; MAX_DEGREE]);

    pub(super) fn of(symbol: Symbol) -> Self {
        let mut symbols = [0; MAX_DEGREE];
        symbols[0] = symbol;
        Self(symbols)
    }

    /// Its symbols, the highest first; a square has its symbol twice.
    pub(super) fn symbols(&self) -> impl DoubleEndedIterator<Item = Symbol> + '_ {
        self.0.iter().copied().filter(|&symbol| symbol != 0)
    }

    fn sorted(symbols: impl Iterator<Item = Symbol>) -> Option<Self> {
        let mut product = [0; MAX_DEGREE];
        for (degree, symbol) in symbols.enumerate() {
            *product.get_mut(degree)? = symbol;
        }
        product.sort_unstable_by(|a, b| b.cmp(a));
        Some(Self(product))
    }

    /// The product; `None` if it has too many symbols.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        Self::sorted(self.symbols().chain(other.symbols()))
    }

    /// The two parts that are left when both are divided by their greatest common divisor.
    pub(super) fn without_common(&self, other: &Self) -> (Self, Self) {
        let (mut own, mut others) = (self.0, other.0);
        for symbol in &mut own {
            if *symbol == 0 {
                continue;
            }
            if let Some(same) = others.iter_mut().find(|same| **same == *symbol) {
                (*same, *symbol) = (0, 0);
            }
        }
        own.sort_unstable_by(|a, b| b.cmp(a));
        others.sort_unstable_by(|a, b| b.cmp(a));
        (Self(own), Self(others))
    }
}

/// A sum of monomials with coefficients that are not 0, the highest monomial first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Poly {
    terms: Vec<(Monomial, i128)>,
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
        self.terms.first().copied().filter(|(top, _)| *top != Monomial::ONE)
    }

    /// All symbols, the highest first, each once.
    pub(super) fn symbols(&self) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = self.terms.iter().flat_map(|(monomial, _)| monomial.0).collect();
        symbols.sort_unstable_by(|a, b| b.cmp(a));
        symbols.dedup();
        symbols.retain(|&symbol| symbol != 0);
        symbols
    }

    /// Whether it is this symbol alone.
    pub(super) fn as_symbol(&self) -> Option<Symbol> {
        match self.terms[..] {
            [(monomial, 1)] if monomial.0[0] != 0 && monomial.0[1] == 0 => Some(monomial.0[0]),
            _ => None,
        }
    }

    /// The sum of `own * self` and `others * monomial * other`; `None` if a coefficient does not fit.
    pub(super) fn combine(&self, own: i128, other: &Self, monomial: &Monomial, others: i128) -> Option<Self> {
        let mut shifted = Vec::with_capacity(other.terms.len());
        for (term, coefficient) in &other.terms {
            shifted.push((term.times(monomial)?, coefficient.checked_mul(others)?));
        }
        if *monomial != Monomial::ONE {
            shifted.sort_unstable_by_key(|(monomial, _)| std::cmp::Reverse(*monomial));
        }
        let mut terms = Vec::with_capacity(self.terms.len() + shifted.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), shifted.into_iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Greater,
                (None, Some(_)) => std::cmp::Ordering::Less,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let mut term = (Monomial::ONE, 0_i128);
            if order.is_ge()
                && let Some((monomial, coefficient)) = left.next()
            {
                term = (*monomial, coefficient.checked_mul(own)?);
            }
            if order.is_le()
                && let Some((monomial, coefficient)) = right.next()
            {
                term = (monomial, term.1.checked_add(coefficient)?);
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
        let symbols = self.terms.iter().filter(|(monomial, _)| *monomial != Monomial::ONE);
        let divisor = symbols.fold(0, |divisor, (_, next)| gcd(divisor, *next));
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
            let rest = coefficient.rem_euclid(modulus);
            *coefficient = if rest > modulus / 2 { rest - modulus } else { rest };
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self
    }
}

/// The greatest common divisor, which is positive unless both are 0.
pub(super) fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    a.checked_abs().unwrap_or(1)
}
