//! The symbols of a kernel, and the facts that hold at each of its places.
//!
//! Places form a tree: a place knows its own facts and those of all places above it. A block that one edge leads to is
//! below the end of the block where the edge begins; a block that several lead to is below the lowest place that is
//! above all of them.

use super::hash::Map;
use super::poly::{Monomial, Poly, Symbol};
use std::rc::Rc;

/// The number of a place.
pub(super) type Place = usize;

/// The place above all others: its facts hold everywhere.
pub(super) const EVERYWHERE: Place = 0;

/// The meaning of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Meaning {
    /// Any integer in its range.
    Free,
    /// The remainder of a value by two to the power of `bits`, from 0 on, or of two's complement if it is signed.
    Wrapped { value: Poly, bits: u32, signed: bool },
    /// The quotient, rounded down; the divisor is positive.
    Quotient { value: Poly, divisor: Poly },
    /// The value of this choice, by its number, and by the number of the value in it.
    Chosen { choice: usize, index: usize },
}

/// A symbol.
#[derive(Clone, Debug)]
pub(super) struct Info {
    pub(super) meaning: Meaning,
    /// The least and the greatest value, where known.
    pub(super) low: Option<i128>,
    pub(super) high: Option<i128>,
    /// A number that it is a multiple of.
    pub(super) multiple: i128,
    /// Polynomials that are at least 0 wherever the symbol has a value.
    pub(super) facts: Vec<Poly>,
    /// Its name in messages; empty if it has none.
    pub(super) name: String,
}

/// Values that depend on where control came from: in each option, all of them have the value of that option.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    pub(super) symbols: Vec<Symbol>,
    /// The place whose facts hold if the option is taken, and the values.
    pub(super) options: Vec<(Place, Vec<Poly>)>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    above: Place,
    depth: usize,
    /// Polynomials that are at least 0, by their numbers.
    facts: Vec<usize>,
    /// Polynomials that are not 0.
    nonzero: Vec<Poly>,
}

/// All symbols, places and choices.
#[derive(Debug)]
pub(super) struct Facts {
    symbols: Vec<Info>,
    places: Vec<Known>,
    /// The facts of all places, in the order in which they were found.
    facts: Vec<(Place, Rc<Poly>)>,
    /// For each symbol, the facts that have it, by number.
    with: Vec<Vec<usize>>,
    /// The view of the last place that was asked about.
    viewed: View,
    pub(super) choices: Vec<Rc<Choice>>,
    known: Map<Meaning, Symbol>,
    /// The steps that searches may still take.
    pub(super) steps: usize,
    /// The results of searches.
    pub(super) decided: Map<(Place, Poly), bool>,
}

/// The facts that a proof may use: those of some places, and of all places above them.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// The place that it was made for, and whether each place is one of those, up to the last.
    place: Place,
    places: Rc<Vec<bool>>,
    /// Facts with the values of choices.
    pub(super) more: Vec<Rc<Poly>>,
}

/// The facts of a view that have a symbol, by number.
pub(super) struct About<'a> {
    facts: &'a [(Place, Rc<Poly>)],
    places: &'a [bool],
    /// The facts that are left, the newest last.
    numbers: &'a [usize],
}

impl<'a> Iterator for About<'a> {
    type Item = (usize, &'a Poly);

    fn next(&mut self) -> Option<Self::Item> {
        while let [rest @ .., number] = self.numbers {
            self.numbers = rest;
            let (place, fact) = &self.facts[*number];
            if *place < self.places.len() && self.places[*place] {
                return Some((*number, fact));
            }
        }
        None
    }
}

impl Facts {
    pub(super) fn new(steps: usize) -> Self {
        let none = Info {
            meaning: Meaning::Free,
            low: None,
            high: None,
            multiple: 1,
            facts: Vec::new(),
            name: String::new(),
        };
        Self {
            symbols: vec![none],
            places: vec![Known::default()],
            facts: Vec::new(),
            with: Vec::new(),
            viewed: View::default(),
            choices: Vec::new(),
            known: Map::default(),
            steps,
            decided: Map::default(),
        }
    }

    /// The number of the next symbol; `None` if there are too many.
    pub(super) fn next(&self) -> Option<Symbol> {
        Symbol::try_from(self.symbols.len()).ok()
    }

    pub(super) fn info(&self, symbol: Symbol) -> &Info {
        &self.symbols.as_slice()[usize::from(symbol)] // less work than an index of the vector, unoptimised
    }

    pub(super) fn info_mut(&mut self, symbol: Symbol) -> &mut Info {
        &mut self.symbols[usize::from(symbol)]
    }

    fn add(&mut self, meaning: Meaning, low: Option<i128>, high: Option<i128>) -> Option<Symbol> {
        let symbol = self.next()?;
        self.symbols.push(Info {
            meaning,
            low,
            high,
            multiple: 1,
            facts: Vec::new(),
            name: String::new(),
        });
        Some(symbol)
    }

    /// A new symbol for any integer in a range.
    pub(super) fn free(&mut self, low: Option<i128>, high: Option<i128>) -> Option<Symbol> {
        self.add(Meaning::Free, low, high)
    }

    /// A new symbol with a name.
    pub(super) fn named(&mut self, name: &str, low: i128, high: i128) -> Option<Symbol> {
        let symbol = self.free(Some(low), Some(high))?;
        name.clone_into(&mut self.info_mut(symbol).name);
        Some(symbol)
    }

    /// A new symbol for a value of a choice.
    pub(super) fn chosen(
        &mut self,
        choice: usize,
        index: usize,
        low: Option<i128>,
        high: Option<i128>,
    ) -> Option<Symbol> {
        self.add(Meaning::Chosen { choice, index }, low, high)
    }

    /// The symbol of this meaning, if there is one.
    pub(super) fn find(&self, meaning: &Meaning) -> Option<Symbol> {
        self.known.get(meaning).copied()
    }

    /// The symbol of this meaning, and whether it is new.
    pub(super) fn meaning(
        &mut self,
        meaning: Meaning,
        low: Option<i128>,
        high: Option<i128>,
    ) -> Option<(Symbol, bool)> {
        if let Some(symbol) = self.find(&meaning) {
            return Some((symbol, false));
        }
        let symbol = self.add(meaning.clone(), low, high)?;
        self.known.insert(meaning, symbol);
        Some((symbol, true))
    }

    /// A new place.
    pub(super) fn below(&mut self, above: Place) -> Place {
        let depth = self.places[above].depth + 1;
        self.places.push(Known {
            above,
            depth,
            ..Known::default()
        });
        self.places.len() - 1
    }

    /// The place above one that is not above all others.
    pub(super) fn above(&self, place: Place) -> Place {
        self.places[place].above
    }

    /// The lowest place that is above both or is one of them.
    pub(super) fn common(&self, mut a: Place, mut b: Place) -> Place {
        while a != b {
            let (deep_a, deep_b) = (self.places[a].depth, self.places[b].depth);
            if deep_a >= deep_b {
                a = self.places[a].above;
            }
            if deep_b >= deep_a {
                b = self.places[b].above;
            }
        }
        a
    }

    /// Adds the fact that the polynomial is at least 0.
    pub(super) fn at_least_0(&mut self, place: Place, poly: Option<Poly>) {
        let Some(poly) = poly.map(Poly::tightened) else { return };
        let own = &self.places[place].facts;
        if own.iter().any(|&fact| *self.facts[fact].1 == poly) {
            return;
        }
        let number = self.facts.len();
        for symbol in poly.symbols() {
            let symbol = usize::from(symbol);
            if self.with.len() <= symbol {
                self.with.resize_with(symbol + 1, Vec::new);
            }
            self.with[symbol].push(number);
        }
        self.places[place].facts.push(number);
        self.facts.push((place, Rc::new(poly)));
    }

    /// Adds the fact that the polynomial is 0.
    pub(super) fn is_0(&mut self, place: Place, poly: &Poly) {
        self.at_least_0(place, Some(poly.clone()));
        self.at_least_0(place, poly.negated());
    }

    /// Adds the fact that the polynomial is not 0.
    pub(super) fn is_not_0(&mut self, place: Place, poly: Poly) {
        self.places[place].nonzero.push(poly);
    }

    /// The places from one up to another one above it, which is left out.
    fn path(&self, from: Place, to: Option<Place>) -> impl Iterator<Item = &Known> {
        let mut next = Some(from);
        std::iter::from_fn(move || {
            let place = next.filter(|&place| Some(place) != to)?;
            next = (place != EVERYWHERE).then(|| self.places[place].above);
            Some(&self.places[place])
        })
    }

    /// The facts that hold at a place and that are not known at one above it, the nearest first.
    pub(super) fn since(&self, place: Place, above: Option<Place>) -> impl Iterator<Item = &Rc<Poly>> {
        let places = self.path(place, above);
        places.flat_map(|known| known.facts.iter().rev().map(|&fact| &self.facts[fact].1))
    }

    /// The facts that hold at a place.
    pub(super) fn view(&mut self, place: Place) -> View {
        if self.viewed.places.is_empty() || self.viewed.place != place {
            let mut places = vec![false; place + 1];
            self.mark(place, &mut places);
            self.viewed = View {
                place,
                places: Rc::new(places),
                more: Vec::new(),
            };
        }
        self.viewed.clone()
    }

    /// The facts of a view, and those of another place.
    pub(super) fn with_place(&self, view: &View, place: Place) -> View {
        let mut places = (*view.places).clone();
        if places.len() <= place {
            places.resize(place + 1, false);
        }
        self.mark(place, &mut places);
        View {
            place,
            places: Rc::new(places),
            more: view.more.clone(),
        }
    }

    /// Marks a place and those above it, up to one that is marked.
    fn mark(&self, mut place: Place, places: &mut [bool]) {
        while !std::mem::replace(&mut places[place], true) && place != EVERYWHERE {
            place = self.places[place].above;
        }
    }

    /// The facts of a view that have a symbol, the newest first.
    pub(super) fn about<'a>(&'a self, view: &'a View, symbol: Symbol) -> About<'a> {
        About {
            facts: &self.facts,
            places: &view.places,
            numbers: self.with.get(usize::from(symbol)).map_or(&[], Vec::as_slice),
        }
    }

    /// The first facts of the place that a view was made for.
    pub(super) fn nearest(&self, view: &View, count: usize) -> Vec<Rc<Poly>> {
        self.since(view.place, None).take(count).cloned().collect()
    }

    /// The polynomials that are not 0 at a place, and of which that is not known at one above it.
    pub(super) fn nonzero_since(&self, place: Place, above: Option<Place>) -> Vec<Poly> {
        let places = self.path(place, above);
        places.flat_map(|known| known.nonzero.iter().cloned()).collect()
    }

    /// Whether the polynomial is at least 0, by the ranges of its symbols alone.
    pub(super) fn is_positive_by_range(&self, poly: &Poly) -> bool {
        self.least(poly, 1).is_some_and(|least| least >= 0)
    }

    /// Whether the polynomial is below 0, by the ranges of its symbols alone.
    pub(super) fn is_negative_by_range(&self, poly: &Poly) -> bool {
        self.least(poly, -1).is_some_and(|least| least > 0)
    }

    /// The least value of a polynomial times a sign, by the ranges of its symbols alone.
    fn least(&self, poly: &Poly, sign: i128) -> Option<i128> {
        // A plain loop: this is asked in each step of a proof, and runs without optimisation.
        let mut sum = 0_i128;
        for &(monomial, coefficient) in poly.terms() {
            let coefficient = if sign < 0 {
                coefficient.checked_neg()?
            } else {
                coefficient
            };
            let end = if let Some(symbol) = monomial.single() {
                let info = self.info(symbol);
                if coefficient < 0 { info.high } else { info.low }
            } else {
                self.end_of_product(monomial, coefficient < 0)
            };
            let end = end?;
            sum = sum.checked_add(super::poly::product(coefficient, end)?)?;
        }
        Some(sum)
    }

    /// The least or the greatest value of a product of symbols that are at least 0.
    fn end_of_product(&self, monomial: Monomial, is_greatest: bool) -> Option<i128> {
        let mut product = 1_i128;
        for symbol in monomial.symbols() {
            let info = self.info(symbol);
            let Some(low @ 0..) = info.low else { return None };
            let end = if is_greatest { info.high? } else { low };
            product = super::poly::product(product, end)?;
        }
        Some(product)
    }

    /// The range of a polynomial, by the ranges of its symbols alone.
    pub(super) fn range(&self, poly: &Poly) -> (Option<i128>, Option<i128>) {
        let (mut low, mut high) = (Some(0_i128), Some(0_i128));
        for (monomial, coefficient) in poly.terms() {
            let (mut least, mut most) = match monomial.single() {
                Some(symbol) => (self.info(symbol).low, self.info(symbol).high),
                None => {
                    let least = self.end_of_product(*monomial, false);
                    (least, least.and_then(|_| self.end_of_product(*monomial, true)))
                }
            };
            if *coefficient < 0 {
                (least, most) = (most, least);
            }
            let end = |end: Option<i128>, sum: Option<i128>| {
                end.and_then(|end| end.checked_mul(*coefficient))
                    .zip(sum)
                    .and_then(|(end, sum)| sum.checked_add(end))
            };
            (low, high) = (end(least, low), end(most, high));
        }
        (low, high)
    }

    /// A number that the polynomial is a multiple of; 0 for the polynomial 0.
    pub(super) fn multiple(&self, poly: &Poly) -> i128 {
        let terms = poly.terms().iter().map(|(monomial, coefficient)| {
            monomial.symbols().fold(*coefficient, |product, symbol| {
                product.checked_mul(self.info(symbol).multiple).unwrap_or(product)
            })
        });
        terms.fold(0, super::poly::gcd)
    }
}

impl Facts {
    /// The polynomial as text, with the names of symbols.
    pub(super) fn text(&self, poly: &Poly) -> String {
        let mut text = String::new();
        for (monomial, coefficient) in poly.terms() {
            text += match (text.is_empty(), *coefficient < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            let mut factors: Vec<String> = monomial.symbols().map(|symbol| self.name(symbol)).collect();
            let number = coefficient.unsigned_abs();
            if number != 1 || factors.is_empty() {
                factors.insert(0, number.to_string());
            }
            text += &factors.join(" * ");
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }

    fn name(&self, symbol: Symbol) -> String {
        let info = self.info(symbol);
        if !info.name.is_empty() {
            return info.name.clone();
        }
        match &info.meaning {
            Meaning::Wrapped { value, bits, .. } => format!("({} in {bits} bits)", self.text(value)),
            Meaning::Quotient { value, divisor } => format!("(({}) / ({}))", self.text(value), self.text(divisor)),
            Meaning::Chosen { choice, index } => {
                let options = self.choices.get(*choice).map(|choice| &choice.options);
                let options = options
                    .into_iter()
                    .flatten()
                    .filter_map(|(_, values)| values.get(*index));
                let texts: Vec<String> = options.take(3).map(|value| self.text(value)).collect();
                format!("(one of {})", texts.join(", "))
            }
            Meaning::Free if info.high.is_none() => "an iteration".to_owned(),
            Meaning::Free => "a number".to_owned(),
        }
    }
}
